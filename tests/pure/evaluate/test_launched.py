"""A verdict counts the kernels that its workloads launched, and names the others."""

from pathlib import Path

import pytest

from porter.contract.analysis.usage import Usage
from porter.contract.infer.draft import draft
from porter.evaluate.judge.launched import with_kernels
from porter.evaluate.judge.prove import Proof
from porter.evaluate.model.migration import EntryOutcome
from porter.evaluate.model.outcome import NotVerified, Outcome, Verified
from porter.execution.job import LaunchRecord
from porter.source.parse import parse
from porter.source_text import Source

TEXT = """
__global__ void by_name(float* y) { y[0] = 1; }
__global__ void other(float* y) { y[0] = 2; }
__global__ void held(float* y) { y[0] = 3; }
void f(float* y, int n) {
    auto kernel = held;
    if (n > 1000) other<<<1, 1>>>(y);
    else if (n > 500) kernel<<<1, 1>>>(y);
    else by_name<<<1, 1>>>(y);
}
"""


def entry(outcome: Outcome, *launched: str) -> EntryOutcome:
    program = parse(Source(Path("k.cu"), TEXT))
    (contract,) = draft(program)
    (proof,) = with_kernels(Proof(EntryOutcome(contract, outcome, launched=launched), ()), Usage(program))
    return proof.entry


def test_kernels_that_nothing_launched_are_a_caveat_of_the_verdict():
    found = entry(Verified(()), "by_name")
    assert found.kernels == ("by_name", "other", "held")
    assert found.launched == ("by_name",)
    assert isinstance(found.outcome, Verified)
    assert found.outcome.caveat == "no workload launches other, held"


def test_what_a_variable_launched_is_a_kernel_that_no_launch_names():
    assert entry(Verified(()), "by_name", "kernel").launched == ("by_name", "held")


def test_a_verdict_on_all_kernels_has_no_caveat():
    assert entry(Verified(()), "by_name", "other", "kernel").outcome == Verified(())


def test_where_nothing_was_compared_nothing_is_left_out():
    assert entry(NotVerified("the contract is open")).outcome == NotVerified("the contract is open")


@pytest.mark.parametrize("callee", ["k", "k<float, 4>", "ns::k<Vec<float>, (4 + 1)>", "ns::Of<T>::k", "*k", "::k"])
def test_a_launch_has_the_plain_name_of_its_kernel(callee):
    assert LaunchRecord(callee, (1, 1, 1), (1, 1, 1), 0, 0).plain_name == "k"

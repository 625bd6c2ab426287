"""The prover holds to its original whatever runs jobs: here a port in Python."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from porter.contract.infer.draft import draft
from porter.contract.model.contract import TensorArg, Workload
from porter.evaluate.judge.judge import Candidate
from porter.evaluate.judge.ported import Candidates, emulated
from porter.evaluate.judge.prove import Prover
from porter.evaluate.model.outcome import Fidelity, NotBuilt, NotVerified, Verified, Wrong
from porter.evaluate.problem.bench import bench
from porter.execution.job import Job, LaunchRecord, Run, ScalarValue, TensorValue
from porter.simt.compiler import missing_compiler
from porter.source.parse import parse
from porter.source_text import Source
from porter.translation_unit import original_unit
from porter_maca import MacaBackend

TEXT = """
__global__ void scaled(const float* x, float* y, float factor, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = factor * x[i];
}
void scale(const float* x, float* y, float factor, int n) { scaled<<<(n + 63) / 64, 64>>>(x, y, factor, n); }
void unbuilt(const float* x, float* y, float factor, int n) { scaled<<<(n + 63) / 64, 64>>>(x, y, factor, n); }
__global__ void last(const float* x, float* y, float factor, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[0] = factor * x[i];
}
void raced(const float* x, float* y, float factor, int n) { last<<<(n + 63) / 64, 64>>>(x, y, factor, n); }
"""
OPS = """
#ifdef __CUDACC__
namespace ops {
template <typename T>
__global__ void twice(const T* x, T* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}
__global__ void lost(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 3 * x[i];
}
}
#endif
"""


@pytest.fixture(autouse=True)
def _needs_a_compiler():
    if missing_compiler():
        pytest.skip(missing_compiler())


def scaled(job: Job) -> Run:
    """The kernel in Python."""
    x, y, factor, _ = job.arguments
    assert isinstance(x, TensorValue)
    assert isinstance(y, TensorValue)
    assert isinstance(factor, ScalarValue)
    outputs = (x, replace(y, storage=(x.storage * factor.value).astype(y.storage.dtype)))
    launch = LaunchRecord("scaled", (1, 1, 1), (64, 1, 1), 0, 0)
    return Run(True, 0, outputs, (), (), (), (launch,), (), "", "", 0.0)


def wrong(job: Job) -> Run:
    """The kernel without its factor."""
    x = job.arguments[0]
    run = scaled(job)
    assert isinstance(x, TensorValue)
    return replace(run, outputs=(x, replace(run.outputs[1], storage=x.storage)))


@dataclass(frozen=True)
class InPython:
    """A port of `scale` and `raced`; the one of `unbuilt` does not come to be."""

    fidelity = Fidelity.EMULATED
    run: object
    failure: NotBuilt | None = None

    def candidates(self, contracts) -> tuple[Candidates, ...]:
        ready = (Candidate(1, self.run, failure=self.failure),)
        return tuple(NotBuilt("no such intrinsic", "log") if c.name == "unbuilt" else ready for c in contracts)


@pytest.fixture
def outcomes(build_cache):
    def prove(run, failure=None) -> dict[str, object]:
        program = parse(Source(Path("scale.cu"), TEXT))
        contracts = draft(program)
        with bench(build_cache, time_limit_s=20.0) as place:
            prover = Prover(original_unit(program, (), ()), InPython(run, failure), {}, place)
            proofs = prover.prove(contracts, lambda _: None)
        return {proof.entry.contract.name: proof.entry.outcome for proof in proofs}

    return prove


def test_every_entry_has_an_outcome_of_its_own(outcomes):
    proven = outcomes(scaled)
    assert isinstance(proven["scale"], Verified)
    assert proven["unbuilt"] == NotBuilt("no such intrinsic", "log")
    assert isinstance(proven["raced"], NotVerified)
    assert "race" in proven["raced"].because


def test_a_port_that_answers_otherwise_is_wrong(outcomes):
    proven = outcomes(wrong)
    assert isinstance(proven["scale"], Wrong)
    assert "at 1 lanes" in proven["scale"].because


def test_a_port_that_lost_its_host_functions_is_none_where_the_original_has_them(outcomes):
    failure = NotBuilt("no such header", "log")
    assert outcomes(scaled, failure)["scale"] == failure


def test_a_contract_of_the_users_is_held_to_as_it_stands(build_cache):
    program = parse(Source(Path("scale.cu"), TEXT))
    (scale, *_) = draft(program)
    shaped = tuple(replace(a, shape=("n",)) if isinstance(a, TensorArg) else a for a in scale.arguments)
    large = Workload("large", {"n": 1 << 40}, 1, device_only=True)
    stated = replace(scale, arguments=shaped, workloads=(Workload("mine", {"n": 100}, 1), large), questions=())
    with bench(build_cache, time_limit_s=20.0) as place:
        prover = Prover(original_unit(program, (), ()), InPython(scaled), {}, place, stated=True)
        (proof,) = prover.prove((stated,), lambda _: None)
    assert isinstance(proof.entry.outcome, Verified)
    assert {check.name for check in proof.entry.outcome.checked} == {"mine"}
    assert proof.entry.outcome.caveat == "not run without a device: large"


def test_an_entry_that_its_port_does_not_define_loses_no_other(build_cache):
    header = Source(Path("ops.cuh"), OPS)
    program = parse(Source(Path("op.cu"), '#include "ops.cuh"\n'), headers=lambda *_: header)
    original, backend = original_unit(program, (), ()), MacaBackend()
    (target, *_), contracts = backend.targets(), draft(program, headers=(header,))
    port = backend.port(program, (header,), target)
    without = tuple(replace(file, text=file.text.replace("lost", "renamed")) for file in port.files)
    with bench(build_cache, time_limit_s=20.0) as place:
        ported = emulated(replace(port, files=without), original, target, place, backend.dialect)
        proofs = Prover(original, ported, {}, place).prove(contracts, lambda _: None)
    proven = {proof.entry.contract.name: proof.entry.outcome for proof in proofs}
    assert isinstance(proven["twice"], Verified)
    assert isinstance(proven["lost"], NotVerified)
    assert "no kernel 'ops::lost' is found in op.maca.cpp or the headers of the port" in proven["lost"].because

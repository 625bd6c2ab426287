"""A grid of `n / 16` blocks implies whole blocks, and work that is multiplied is tried at smaller sizes."""

from dataclasses import replace
from math import prod
from pathlib import Path

import pytest

from porter.contract.infer.draft import draft
from porter.contract.model.contract import ScalarArg
from porter.contract.model.questions import extent_question
from porter.contract.probe.trials import MOST_ELEMENTS, SOME_ELEMENTS, Trials
from porter.contract.workload.probing import PROBE_ELEMENTS, probe_sizes
from porter.execution.job import Fault, FaultKind, Run, TensorValue, Touched
from porter.source.parse import parse
from porter.source_text import Source

KERNEL = """
__global__ void k(const float* x, float* y, int n, int m) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < n && j < m) y[j * n + i] = x[i];
}
"""


def shares(launch):
    text = KERNEL + f"void f(const float* x, float* y, int n, int m) {{ {launch} }}"
    (contract,) = draft(parse(Source(Path("k.cu"), text)))
    return contract.shares


@pytest.mark.parametrize(
    ("launch", "found"),
    [
        ("dim3 b(16, 8); dim3 g(n / b.x, m / b.y); k<<<g, b>>>(x, y, n, m);", ("n % 16 == 0", "m % 8 == 0")),
        ("k<<<n / 64, 64>>>(x, y, n, m);", ("n % 64 == 0",)),
        ("k<<<(m * n) / 64, 64>>>(x, y, n, m);", ("n % 64 == 0",)),
        ("k<<<(n + 63) / 64, 64>>>(x, y, n, m);", ()),
        ("k<<<n / 64 + 1, 64>>>(x, y, n, m);", ()),
        ("k<<<n, 64>>>(x, y, n, m);", ()),
    ],
)
def test_a_size_that_is_divided_into_blocks_fills_them(launch, found):
    assert shares(launch) == found


def test_of_three_sizes_in_whole_blocks_none_is_many_blocks_and_their_product_changes(contract, tensor):
    conditions = tuple(f"{size} % 16 == 0" for size in "abc")
    drafted = contract(tensor("x", "a", "b", "c"), symbols=("a", "b", "c"), conditions=conditions)
    probes = [probe_sizes(drafted, frozenset(), {}, attempt, 0) for attempt in range(3)]
    products = {prod(sizes.values()) for sizes in probes}
    assert len(products) == len(probes)
    assert max(products) <= 105 * 16**3


def needing(elements, made):
    """Returns an original that touches so many elements, and notes in `made` how many it was given."""

    def execute(job) -> Run:
        (given,) = (prod(a.shape) for a in job.arguments if isinstance(a, TensorValue))
        made.append(given)
        short = max(0, elements - given)
        faults = (Fault(FaultKind.OUT_OF_BOUNDS, "k.cu", 3, "k", "past the end"),) if short else ()
        touched = (Touched(4 * min(given, elements), 0, short),)
        return Run(True, 0, (), (), (), touched, (), faults, "", "", 0.001)

    return execute


@pytest.mark.parametrize(("most", "largest"), [(SOME_ELEMENTS, SOME_ELEMENTS), (MOST_ELEMENTS, MOST_ELEMENTS)])
def test_a_probe_gets_no_more_elements_than_it_is_allowed(contract, tensor, most, largest):
    drafted = contract(tensor("x", "n"), ScalarArg("n", "int", "n"), symbols=("n",))
    drafted, made = replace(drafted, questions=(extent_question("x"),)), []
    trials = Trials(needing(SOME_ELEMENTS + 1, made))
    trials.roomy(drafted, {"n": 5}, most=most)
    assert (min(made), max(made)) == (PROBE_ELEMENTS, largest)
    assert trials.grown == ({"x": MOST_ELEMENTS} if most == MOST_ELEMENTS else {})

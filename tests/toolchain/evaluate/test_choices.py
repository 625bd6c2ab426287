"""A launcher that chooses among kernels is proven at every choice; one that is wrong says nothing of the others."""

from __future__ import annotations

from pathlib import Path

import pytest

from porter.contract.analysis.usage import Usage
from porter.contract.infer.draft import draft
from porter.evaluate.judge.judge import Candidate
from porter.evaluate.judge.launched import with_kernels
from porter.evaluate.judge.prove import Prover
from porter.evaluate.model.outcome import Fidelity, NotVerified, Verified
from porter.evaluate.problem.bench import bench
from porter.simt.compiler import missing_compiler
from porter.source.parse import parse
from porter.source_text import Source
from porter.translation_unit import original_unit

TEXT = """
#include <cstdlib>
#define INDEX int i = blockIdx.x * blockDim.x + threadIdx.x
__global__ void copied(const float* x, float* y, int n) { INDEX; if (i < n) y[i] = x[i]; }
__global__ void raced(const float* x, float* y, int n) { INDEX; if (i < n) y[0] = x[i]; }
__global__ void spread(const float* x, float* y, int n) { INDEX; if (i < n) y[2 * i + 1] = x[i]; }
__global__ void in_fours(const float* x, float* y, int n) {
    INDEX;
    if (4 * i < n) reinterpret_cast<float4*>(y)[i] = reinterpret_cast<const float4*>(x)[i];
}
void copy(int kernel, const float* x, float* y, int n) {
    int grid = (n + 63) / 64;
    switch (kernel) {
        case 1: copied<<<grid, 64>>>(x, y, n); break;
        case 2: raced<<<grid, 64>>>(x, y, n); break;
        case 5: spread<<<grid, 64>>>(x, y, n); break;
        case 6: in_fours<<<grid, 64>>>(x, y, n); break;
        default: exit(1);
    }
}
"""


class Itself:
    """The original as its own port."""

    fidelity = Fidelity.EMULATED

    def __init__(self, original, place):
        self.original, self.place = original, place

    def candidates(self, contracts):
        built = self.place.begin(self.original.request(contracts, 32)).result()
        return tuple((Candidate(32, self.place.execute(b)),) for b in built)


def proven(text, cache):
    if missing_compiler():
        pytest.skip(missing_compiler())
    program = parse(Source(Path("copy.cu"), text))
    original = original_unit(program, (), ())
    with bench(cache, time_limit_s=20.0) as place:
        prover = Prover(original, Itself(original, place), {}, place)
        proofs = prover.prove(draft(program), lambda _: None)
    return [p.entry for proof in proofs for p in with_kernels(proof, Usage(program))]


@pytest.fixture(scope="module")
def entries(build_cache):
    return proven(TEXT, build_cache)


def test_every_choice_is_compared_and_counts_the_kernel_it_launches(entries):
    whole = entries[0]
    assert isinstance(whole.outcome, Verified)
    assert whole.outcome.caveat == ""
    assert whole.kernels == whole.launched == ("copied", "spread", "in_fours")
    assert {"kernel = 5", "kernel = 6"} <= {check.name for check in whole.outcome.checked}


def test_a_tensor_spans_what_it_is_used_for_at_any_choice(entries):
    (y,) = (t for t in entries[0].contract.tensors if t.name == "y")
    assert y.shape == ("2 * n",)


def test_a_choice_runs_at_sizes_it_takes(entries):
    sizes = {w.name: w.sizes["n"] for w in entries[0].contract.workloads}
    assert sizes["odd"] % 4 != 0
    assert sizes["kernel = 6"] % 4 == 0


def test_a_choice_at_which_the_original_is_wrong_has_a_verdict_of_its_own(entries):
    _, wrong = entries
    assert wrong.name == "copy at kernel = 2"
    assert wrong.kernels == wrong.launched == ("raced",)
    assert isinstance(wrong.outcome, NotVerified)
    assert wrong.outcome.because.startswith("the original's own result is unreliable: race")


def test_a_side_of_a_branch_at_which_the_original_is_wrong_says_nothing_of_the_other(build_cache):
    kernels = TEXT[: TEXT.index("__global__ void spread")]
    launcher = """void copy(const float* x, float* y, int n) {
    if (n % 4 == 0) raced<<<(n + 63) / 64, 64>>>(x, y, n);
    else copied<<<(n + 63) / 64, 64>>>(x, y, n);
}"""
    whole, multiples = proven(kernels + launcher, build_cache)
    assert isinstance(whole.outcome, Verified)
    assert multiples.contract.name == "copy at n % 4 == 0"
    assert isinstance(multiples.outcome, NotVerified)
    assert "race" in multiples.outcome.because

"""Entries that take too long at the sizes that were drafted: asked at smaller ones, which the verdict says."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from porter.branch_coverage import ABOVE_ZERO, BranchCoverage, Side
from porter.contract.infer.draft import draft
from porter.contract.probe.known_probes import KnownProbes
from porter.evaluate.judge.judge import Candidate
from porter.evaluate.judge.ported import Candidates
from porter.evaluate.judge.prove import Prover
from porter.evaluate.model.outcome import Fidelity, NotVerified, Verified
from porter.evaluate.problem.bench import CUDA_WARP_SIZE, bench
from porter.evaluate.reference.smaller import smaller
from porter.evaluate.reference.study import Originals, Settled
from porter.execution.job import Fault, FaultKind, Job, LaunchRecord, Run, ScalarValue, TensorValue
from porter.measure.deadline import Deadline
from porter.oracle.jobs import job
from porter.simt.compiler import missing_compiler
from porter.source.parse import parse
from porter.source_text import Source
from porter.translation_unit import original_unit

SCALE = """
__global__ void scaled(const float* x, float* y, float factor, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = factor * x[i];
}
void first(const float* x, float* y, float factor, int n) { scaled<<<(n + 63) / 64, 64>>>(x, y, factor, n); }
void second(const float* x, float* y, float factor, int n) { scaled<<<(n + 63) / 64, 64>>>(x, y, factor, n); }
"""
ROWS = """
__global__ void sums(const float* x, float* y, int rows, int cols) {
    float sum = 0;
    for (int i = threadIdx.x; i < cols; i += blockDim.x) sum += x[blockIdx.x * cols + i];
    atomicAdd(&y[blockIdx.x], sum);
}
__global__ void whole(const float* x, float* y, int rows, int cols) {
    for (int i = threadIdx.x; i < cols; i += blockDim.x) y[blockIdx.x * cols + i] = x[blockIdx.x * cols + i];
}
void copy(const float* x, float* y, int rows, int cols) {
    if (cols > 500) whole<<<rows, 128>>>(x, y, rows, cols);
    else whole<<<rows, 32>>>(x, y, rows, cols);
}
"""
CUBED = """
__global__ void pairs_kernel(const float* x, float* y, int rows, int cols) {
    for (int i = threadIdx.x; i < cols; i += blockDim.x) {
        float best = 0.0f;
        for (int j = 0; j < cols; j++)
            for (int k = 0; k < cols; k++) best = fmaxf(best, x[blockIdx.x * cols + j] * x[blockIdx.x * cols + k]);
        y[blockIdx.x * cols + i] = best - x[blockIdx.x * cols + i];
    }
}
void pairs(const float* x, float* y, int rows, int cols) { pairs_kernel<<<rows, 64>>>(x, y, rows, cols); }
"""
ONE_BLOCK = """
__global__ void most_kernel(const float* x, float* y, int rows, int cols) {
    for (int i = threadIdx.x; i < rows; i += blockDim.x) {
        float best = 0.0f;
        for (int j = 0; j < cols; j++)
            for (int k = 0; k < cols; k++) best = fmaxf(best, x[i * cols + j] * x[i * cols + k]);
        y[i] = best;
    }
}
void most(const float* x, float* y, int rows, int cols) { most_kernel<<<1, 64>>>(x, y, rows, cols); }
"""
SLOW = Fault(FaultKind.TIMEOUT, "", 0, "", "the time limit is reached", fatal=True)
LATE = Run(False, 1, (), (), (), (), (), (SLOW,), "", "", 0.0)


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
    return Run(True, 0, outputs, (), (), (), (LaunchRecord("scaled", (1, 1, 1), (64, 1, 1), 0, 0),), (), "", "", 0.0)


@dataclass(frozen=True)
class InPython:
    """Ports, by the names of their entries, as something interprets them."""

    runs: dict[str, object]
    fidelity = Fidelity.EMULATED

    def candidates(self, contracts) -> tuple[Candidates, ...]:
        return tuple((Candidate(None, self.runs[c.name]),) for c in contracts)


@pytest.fixture
def proven(build_cache):
    def prove(runs, limit_s, sizes=None, text=SCALE, time_limit_s=2.0):
        program = parse(Source(Path("scale.cu"), text))
        contracts = [c for c in draft(program, sizes=sizes or {}) if c.name in runs]
        original = original_unit(program, (), ())
        with bench(build_cache, time_limit_s=time_limit_s) as place:
            place.begin(
                original.request(contracts, CUDA_WARP_SIZE)
            ).result()  # so that none of the limit is for a build
            deadline = Deadline(limit_s)
            with deadline.running():
                prover = Prover(original, InPython(runs), sizes or {}, place, deadline=deadline)
                return {p.entry.contract.name: p.entry for p in prover.prove(contracts, lambda _: None)}

    return prove


def size_of(job):
    return job.arguments[0].count


def too_slow_beyond(size):
    return lambda job: LATE if size_of(job) > size else scaled(job)


def asleep_beyond(size):
    def run(job):
        if size_of(job) > size:
            time.sleep(100)
        return scaled(job)

    return run


@pytest.mark.parametrize(("port", "limit_s"), [(too_slow_beyond(200), 100.0), (asleep_beyond(200), 8.0)])
def test_a_port_that_is_too_slow_is_asked_at_smaller_sizes(proven, port, limit_s):
    entry = proven({"first": port}, limit_s)["first"]
    assert isinstance(entry.outcome, Verified)
    assert "not at the drafted sizes, which take too long here: n = 4099 (but at n = 67)" in entry.outcome.caveat
    assert max(w.sizes["n"] for w in entry.contract.workloads) == 67


def test_what_the_user_chose_stays(proven):
    entry = proven({"first": too_slow_beyond(200)}, 100.0, {"n": 4099})["first"]
    assert isinstance(entry.outcome, NotVerified)
    assert entry.outcome.too_slow


def test_one_entry_that_takes_for_ever_leaves_time_for_another(proven):
    entries = proven({"first": asleep_beyond(0), "second": scaled}, 8.0)
    assert isinstance(entries["second"].outcome, Verified)
    because = entries["first"].outcome.because
    assert because.startswith("its share of the limit of 8 s, which 3 have, was over while running the port of first")


def test_what_the_others_leave_is_for_one_whose_turn_was_over(proven):
    """The first sleeps through its turn, a third of the limit; nothing is left to wait for once the second is done."""
    others: list[Job] = []

    def first(job):
        if not others:
            time.sleep(100)
        return scaled(job)

    def second(job):
        others.append(job)
        return scaled(job)

    entries = proven({"first": first, "second": second}, 12.0)
    assert isinstance(entries["second"].outcome, Verified)
    assert isinstance(entries["first"].outcome, Verified)


def test_what_is_asked_at_smaller_sizes_is_wrong_where_it_is(proven):
    def port(job):
        return LATE if size_of(job) > 200 else replace(scaled(job), outputs=job.arguments[:2])

    assert proven({"first": port}, 100.0)["first"].outcome.label == "wrong"


def most(job):
    """The pairs in Python, of which two elements that are the largest or the smallest have the largest product."""
    x, y, rows, cols = job.arguments
    given = x.storage.reshape(rows.value, cols.value)
    best = np.maximum(given.max(axis=1) ** 2, given.min(axis=1) ** 2)
    outputs = (x, replace(y, storage=(best[:, None] - given).reshape(y.shape)))
    return Run(True, 0, outputs, (), (), (), (LaunchRecord("pairs", (2, 1, 1), (64, 1, 1), 0, 0),), (), "", "", 0.0)


def test_an_original_that_is_too_slow_is_asked_at_smaller_sizes(proven):
    entry = proven({"pairs": most}, None, text=CUBED, time_limit_s=0.4)["pairs"]
    assert isinstance(entry.outcome, Verified)
    assert "rows = 13, cols = 1031 (but at rows = 3, cols = 71)" in entry.outcome.caveat


@pytest.mark.parametrize(("once_s", "takes_long"), [(1.0, False), (2.0, True)])
def test_what_one_run_says_of_the_time_is_known_beforehand(once_s, takes_long):
    """Four runs and more of each workload do not fit into half of ten seconds where one of each takes two."""
    deadline, known = Deadline(10.0), SimpleNamespace(in_brief=False, once_s=once_s)
    prover = Prover(None, None, {}, None, deadline=deadline)
    with deadline.running():
        assert prover._takes_long(known) == takes_long
    assert not Prover(None, None, {}, None)._takes_long(known)


@pytest.fixture
def settled(build_cache):
    with bench(build_cache, time_limit_s=20.0) as place:

        def study(text, name, *, in_brief=False):
            program = parse(Source(Path("rows.cu"), text))
            (contract,) = [c for c in draft(program) if c.name == name]
            originals = Originals(original_unit(program, (), ()), {}, place)
            found = originals.settled(
                contract, *originals.begin([contract]).result(), lambda _: None, in_brief=in_brief
            )
            assert isinstance(found, Settled)
            return found

        yield study


def test_smaller_sizes_do_what_the_larger_ones_did(settled):
    """A row stays above 500 elements where it was, so above a block of 128, and there is more than one of them."""
    found = settled(ROWS, "copy")
    less = smaller(found.contract, found.execute, {})
    pairs = [(w.sizes, s.sizes) for w, s in zip(found.contract.workloads, less.contract.workloads, strict=True)]
    assert any(large != small for large, small in pairs)
    for large, small in pairs:
        assert (small["cols"] > 500) == (large["cols"] > 500)
        assert all((n > 1) == (large[symbol] > 1) and n <= large[symbol] for symbol, n in small.items())
        assert (small["cols"] % 32 == 0) == (large["cols"] % 32 == 0)


def test_brief_runs_settle_what_takes_long(settled):
    found = settled(CUBED, "pairs", in_brief=True)
    less = smaller(found.contract, found.briefly, {})
    assert {"rows": 3, "cols": 71} in [w.sizes for w in less.contract.workloads]


def test_runs_that_leave_no_time_for_a_proof_are_broken_off(build_cache):
    with bench(build_cache, time_limit_s=20.0) as place:
        program = parse(Source(Path("rows.cu"), CUBED))
        (contract,) = [c for c in draft(program) if c.name == "pairs"]
        originals = Originals(original_unit(program, (), ()), {}, place)
        (built,) = originals.begin([contract]).result()
        found = originals.settled(contract, built, lambda _: None, known=KnownProbes(longest_s=0.0))
    assert isinstance(found, Settled)
    assert found.in_brief


def test_what_asks_for_a_block_for_each_row_keeps_several(settled):
    found = settled(ROWS, "copy")
    less = smaller(found.contract, found.execute, {"cols": 1031})
    assert all(w.sizes["rows"] > 1 for w in less.contract.workloads)


def test_one_block_is_as_many_where_an_original_that_comes_to_no_end_had_no_more(settled):
    found = settled(ONE_BLOCK, "most")
    large = max(found.contract.workloads, key=lambda w: w.sizes["cols"])
    assert not found.briefly(job(found.contract, large)).finished
    less = smaller(found.contract, found.briefly, {})
    assert max(w.sizes["cols"] for w in less.contract.workloads) < large.sizes["cols"]


def test_an_axis_of_several_blocks_may_go_where_an_original_comes_to_no_end(settled):
    """How many blocks there are is known by its launches; that one behind the first asked which it is adds nothing."""
    found = settled(ROWS, "copy")
    behind = {axis: Side("rows.cu", 3, 9, ABOVE_ZERO, f"blockIdx.{axis}") for axis in "xy"}

    def execute(given: Job) -> Run:
        rows, cols = (int(a.value) for a in given.arguments if isinstance(a, ScalarValue))
        grid, is_large = (rows, 1 + cols // 1024, 1), cols > 1024
        taken = frozenset(behind[axis] for axis, extent in zip("xy", grid, strict=False) if extent > 1)
        launched = (LaunchRecord("whole", grid, (128, 1, 1), 0, 3),)
        coverage = BranchCoverage(frozenset(behind.values()), taken)
        return Run(not is_large, 0, (), (), (), (), launched, (SLOW,) if is_large else (), "", "", 0.0, coverage)

    large = max(w.sizes["cols"] for w in found.contract.workloads)
    less = smaller(found.contract, execute, {})
    assert large > 1024
    assert max(w.sizes["cols"] for w in less.contract.workloads) < 1024

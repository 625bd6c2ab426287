"""Values decide how far an original goes: with larger ones than usual it leaves its memory, and the verdict says so."""

import pytest

from porter.evaluate.migrate import migrate
from porter.evaluate.model.migration import MigrateOptions
from porter.evaluate.model.outcome import NotVerified, Verified, Wrong
from porter.evaluate.verify import verify
from porter.simt.compiler import missing_compiler
from tests.toolchain.evaluate.maca_ports import maca_port

# Usual values are less than 6, so that `moved` is 0 for them and hundreds for those a thousand times as large.
SPREAD = """
__global__ void spread(const float* at, float* cells, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int moved = (int)(at[i] * 0.15f);
    int cell = (i + 64 * moved);
    atomicAdd(&cells[cell], at[i]);
}
void run(const float* at, float* cells, int n) {
    spread<<<(n + 255) / 256, 256>>>(at, cells, n);
}
"""
CLAMPED = SPREAD.replace("(i + 64 * moved)", "min(max(i + 64 * moved, 0), n - 1)")
BINS = """
__global__ void counted(const float* x, int* bins, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&bins[(int)(fabsf(x[i]) * 0.15f)], 1);
}
void run(const float* x, int* bins, int n) { counted<<<(n + 255) / 256, 256>>>(x, bins, n); }
"""


@pytest.fixture(autouse=True)
def _needs_a_compiler():
    if missing_compiler():
        pytest.skip(missing_compiler())


@pytest.fixture
def outcome(tmp_path, build_cache):
    """`outcome(text, old, new)`: that of the MACA port in which `old` became `new`."""

    def run(text, old="", new=""):
        source, candidate = tmp_path / "op.cu", tmp_path / "candidate.maca.cu"
        source.write_text(text)
        if not old:
            (migration,) = migrate(source, MigrateOptions("maca", build_cache), lambda _: None)
            return migration.entries[0].outcome
        port = maca_port(text)
        assert old in port
        candidate.write_text(port.replace(old, new))
        return verify(candidate, source, MigrateOptions("maca", build_cache, seed=7), lambda _: None).entries[0].outcome

    return run


def test_an_original_that_leaves_its_memory_with_large_values_alone_is_compared_without_them(outcome):
    found = outcome(SPREAD)
    assert isinstance(found, Verified)
    assert "not compared at large values, with which the original leaves its memory" in found.caveat
    assert isinstance(outcome(SPREAD, "atomicAdd(&cells[cell], at[i])", "atomicAdd(&cells[cell], 2 * at[i])"), Wrong)


def test_one_that_leaves_it_with_usual_values_is_not_verified(outcome):
    assert isinstance(outcome(SPREAD.replace("at[i] * 0.15f", "at[i] * 15.f")), NotVerified)


def test_one_that_stays_within_it_is_compared_at_large_values(outcome):
    found = outcome(CLAMPED)
    assert isinstance(found, Verified)
    assert "large values" not in found.caveat
    assert isinstance(outcome(CLAMPED, "0.15f", "0.1f"), Wrong)


def test_one_whose_threads_meet_at_large_values_stays_wrong(outcome):
    raced = CLAMPED.replace("atomicAdd(&cells[cell], at[i]);", "cells[cell] = at[i];")
    assert isinstance(outcome(raced), NotVerified)


def test_bins_that_larger_values_fall_into_have_room(outcome):
    found = outcome(BINS)
    assert isinstance(found, Verified)
    assert "of 'bins'" in found.caveat
    assert "large values" not in found.caveat
    assert isinstance(outcome(BINS, "0.15f", "0.1f"), Wrong)

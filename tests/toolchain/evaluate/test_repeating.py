"""What two threads add to one place shows, also where the indices that are drawn hardly ever meet."""

import pytest

from porter.contract.model.contract import Distribution
from porter.evaluate.migrate import migrate
from porter.evaluate.model.migration import MigrateOptions
from porter.evaluate.model.outcome import Crashed, Verified, Wrong
from porter.evaluate.verify import verify
from porter.simt.compiler import missing_compiler
from tests.toolchain.evaluate.maca_ports import maca_port

# The bound of `ids` is far beyond their number.
COUNTED = """
__global__ void counted(const int* ids, int n, int first, int bins, int* counts) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int e = ids[i] - first;
    if (e >= 0 && e < bins) atomicAdd(counts + e, 1);
}
"""
# Which of two threads comes last decides.
LAST = COUNTED.replace("atomicAdd(counts + e, 1)", "atomicExch(counts + e, i)")


@pytest.fixture(autouse=True)
def _needs_a_compiler():
    if missing_compiler():
        pytest.skip(missing_compiler())


def of(contract):
    return [w for w in contract.workloads if w.distribution is Distribution.REPEATED]


def test_indices_are_there_twice_and_what_gets_lost_shows(tmp_path, build_cache):
    source, candidate = tmp_path / "op.cu", tmp_path / "candidate.maca.cu"
    source.write_text(COUNTED)
    (migration,) = migrate(source, MigrateOptions("maca", build_cache), lambda _: None)
    (entry,) = migration.entries
    assert isinstance(entry.outcome, Verified)
    assert of(entry.contract)
    port = maca_port(COUNTED)
    assert "atomicAdd(counts + e, 1)" in port
    candidate.write_text(port.replace("atomicAdd(counts + e, 1)", "counts[e] += 1"))
    (entry,) = verify(candidate, source, MigrateOptions("maca", build_cache, seed=7), lambda _: None).entries
    assert isinstance(entry.outcome, Wrong | Crashed)


def test_an_original_that_only_takes_them_apart_is_not_given_any_twice(tmp_path, build_cache):
    source = tmp_path / "op.cu"
    source.write_text(LAST)
    (migration,) = migrate(source, MigrateOptions("maca", build_cache), lambda _: None)
    (entry,) = migration.entries
    assert isinstance(entry.outcome, Verified)
    assert not of(entry.contract)

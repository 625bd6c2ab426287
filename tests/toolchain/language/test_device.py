"""The device language and the runtime API, by programs that check themselves on the executor."""

from __future__ import annotations

from pathlib import Path

import pytest

from porter.contract.model.contract import Entry, EntryKind
from porter.dialect import CUDA, Dialect
from porter.execution.job import BuildFailure, BuildRequest, Callee, Job, Run
from porter.simt.build import build
from porter.simt.compiler import missing_compiler
from porter.simt.run import run
from porter.source_text import Source
from porter_maca.dialect import MACA

HERE = Path(__file__).parent
pytestmark = pytest.mark.skipif(bool(missing_compiler()), reason=missing_compiler())


def ran(name: str, build_cache: Path, warp_size: int, dialect: Dialect = CUDA, *, watched: bool = True) -> Run:
    path = HERE / name
    main = Callee(Entry(EntryKind.PROGRAM, "main"))
    request = BuildRequest(Source(path, path.read_text()), (), dialect, (main,), warp_size, watched)
    (built,) = build(request, build_cache)
    assert not isinstance(built, BuildFailure), built.log
    done = run(built, Job())
    assert done.finished, done.faults
    return done


@pytest.mark.parametrize("warp_size", [32, 64])
def test_collectives_atomics_fragments_and_ptx(build_cache: Path, warp_size: int) -> None:
    done = ran("collectives.cu", build_cache, warp_size)
    assert done.stdout == "0 failures, no error\n"
    assert not done.faults


def test_runtime_api_and_libraries(build_cache: Path) -> None:
    done = ran("runtime_api.cu", build_cache, 32, watched=False)  # its host code uses memory of the device
    assert done.stdout == "done, no error\n"
    assert [fault.message for fault in done.faults] == [
        "cudaMemcpy of 5000 bytes at offset 0 of an allocation of 4000 bytes"
    ]


def test_macas_words_mean_the_same(build_cache: Path) -> None:
    assert ran("spelled_for_maca.cpp", build_cache, 64, MACA).stdout == "128 inf 32 64 no error\n"

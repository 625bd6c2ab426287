"""Launchers that call what another file of their library defines are executed and ported with its definition."""

from __future__ import annotations

from dataclasses import replace

import pytest

from porter.backend import Follow
from porter.evaluate.migrate import migrate
from porter.evaluate.model.migration import MigrateOptions
from porter.evaluate.model.outcome import KernelsVerified, NotVerified, Verified, Wrong
from porter.evaluate.verify import verify
from porter.evolve.scoring.subject import beginning_of, kept
from porter.simt.compiler import missing_compiler

SOURCE = """\
#include "sizes.h"
__global__ void scaled(const float* x, float* y, int by, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = by * x[i];
}
void scale(const float* x, float* y, int by, int n) {
    scaled<<<lib::blocks_of(n), WIDTH>>>(x, y, lib::twice(by), n);
    check(cudaPeekAtLastError());
}
"""
HEADER = """\
#pragma once
#define WIDTH 1024
namespace lib { dim3 blocks_of(int n); int twice(int n); }
void check(cudaError_t status);
"""
SIZES = """\
#include "sizes.h"
#include <cstdio>
static int rounded(int n) { return (n + WIDTH - 1) / WIDTH; }
namespace lib {
dim3 blocks_of(int n) { return dim3(rounded(n)); }
int twice(int n) { return 2 * n; }
}
void check(cudaError_t status) {
    if (status != cudaSuccess) printf("%s\\n", cudaGetErrorString(status));
}
"""


@pytest.fixture
def library(build_cache, tmp_path):
    if missing_compiler():
        pytest.skip(missing_compiler())
    (tmp_path / "op.cu").write_text(SOURCE)
    (tmp_path / "sizes.h").write_text(HEADER)
    (tmp_path / "sizes.cpp").write_text(SIZES)
    return tmp_path, MigrateOptions(target="maca", cache=build_cache, follow=Follow.KERNELS)  # a formula takes longer


def silent(_: str) -> None:
    """Nobody watches."""


@pytest.mark.parametrize("target", ["maca", "triton"])
def test_a_launcher_is_verified_with_functions_of_another_file(library, target):
    folder, options = library[0], replace(library[1], target=target)
    (migration,) = migrate(folder / "op.cu", options, silent)
    assert [(e.contract.name, type(e.outcome)) for e in migration.entries] == [("scale", Verified)]
    assert [f.message for f in migration.findings if f.code == "PORT2017"] == [
        "blocks_of, check, twice: as sizes.cpp beside its declaration defines it"
    ]
    assert not any("rounded" in file.text for file in migration.files if file.name.startswith("sizes"))
    beginning = beginning_of(migration, options)
    beginning.keep(folder / "search")
    subject = kept(folder / "search", beginning.about, None, options)
    assert [piece.path.name for piece in subject.original.program.elsewhere] == ["sizes.cpp"]


def test_a_port_that_does_without_such_a_function_is_wrong(library):
    folder, options = library
    candidate = folder / "ported" / "op.maca.cpp"
    candidate.parent.mkdir()
    (folder / "ported" / "sizes.h").write_text(HEADER.replace("cuda", "mc"))
    text = "#include <mc_runtime.h>\n" + SOURCE.replace("cuda", "mc")
    candidate.write_text(text.replace("lib::twice(by)", "by"))
    assert [type(e.outcome) for e in verify(candidate, folder / "op.cu", options, silent).entries] == [Wrong]


def test_a_definition_that_does_not_build_is_left_out(library):
    folder, options = library
    (folder / "sizes.cpp").write_text(SIZES.replace("return 2 * n;", "return 2 * n + missing_here;"))
    (migration,) = migrate(folder / "op.cu", options, silent)
    (entry,) = migration.entries
    assert isinstance(entry.outcome, KernelsVerified | NotVerified)
    assert "defined in no file" in str([f.message for f in migration.findings]) + str(entry.outcome)

"""CUDA originals built by nvcc: every kind of entry gets a wrapper that the driver's side can call."""

from __future__ import annotations

import subprocess
from pathlib import Path

from porter.contract.infer.draft import draft
from porter.contract.model.contract import Contract
from porter.contract.model.dtype import DType
from porter.execution.job import BuildFailure
from porter.native.original import build_originals
from porter.native.requests import LibraryEntry
from porter.source.parse import parse
from porter.source_text import Source
from porter.translation_unit import TranslationUnit, original_unit

SOURCE = """\
#include <cuda_fp16.h>
enum Mode { TWICE, THRICE };
template <typename T, int N>
__global__ void scale_kernel(const T* x, T* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * T(N);
}
void scale(const float* x, float* y, int n, Mode mode, cudaStream_t stream) {
    if (mode == TWICE) scale_kernel<float, 2><<<(n + 255) / 256, 256, 0, stream>>>(x, y, n);
    else scale_kernel<float, 3><<<(n + 255) / 256, 256, 0, stream>>>(x, y, n);
}
void scale(const __half* x, __half* y, int n) { scale_kernel<__half, 2><<<(n + 255) / 256, 256>>>(x, y, n); }
int blocks(const float* x, float* y, int n) {
    scale_kernel<float, 4><<<(n + 255) / 256, 256>>>(x, y, n);
    return (n + 255) / 256;
}
__global__ void lonely(const float* __restrict__ x, float* y, const float a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i];
}
"""


def side_of(text: str, path: str = "op.cu") -> tuple[TranslationUnit, tuple[Contract, ...]]:
    program = parse(Source(Path(path), text))
    return original_unit(program, (), ()), draft(program, whole_program=False)


def exported(library: str) -> set[str]:
    listed = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    return {line.split()[-1] for line in listed.splitlines()}


def test_functions_overloads_and_kernels_of_a_source_are_built_at_once(nvcc, cache):
    side, contracts = side_of(SOURCE)
    built = build_originals(side, contracts, nvcc, cache)
    assert all(isinstance(entry, LibraryEntry) for entry in built), built
    assert len({entry.path for entry in built}) == 1
    assert {entry.symbol for entry in built} <= exported(built[0].path)
    returned = {c.entry.name: entry.returns for c, entry in zip(contracts, built, strict=True)}
    assert returned["blocks"] is DType.INT32
    assert returned["scale"] is None


def test_a_source_that_does_not_build_says_where(nvcc, cache):
    side, contracts = side_of(SOURCE.replace("y[i] = a * x[i];", "y[i] = a * unknown;"))
    built = build_originals(side, [c for c in contracts if c.entry.name == "lonely"], nvcc, cache)
    (failure,) = built
    assert isinstance(failure, BuildFailure)
    assert (failure.file, failure.line) == ("op.cu", 19)
    assert "unknown" in failure.message


def test_a_kernel_is_built_without_host_functions_that_do_not_build(nvcc, cache):
    kernel = "__global__ void k(const float* x, float* y, int n) { int i = threadIdx.x; if (i < n) y[i] = x[i]; }\n"
    text = kernel + "void host() { missing_library_call(); }\n"
    side, contracts = side_of(text)
    built = build_originals(side, [c for c in contracts if c.entry.name == "k"], nvcc, cache)
    assert isinstance(built[0], LibraryEntry)


def test_the_same_source_is_not_built_again(nvcc, cache):
    side, contracts = side_of(SOURCE)
    first = build_originals(side, contracts, nvcc, cache)
    stamp = Path(first[0].path).stat().st_mtime_ns
    assert build_originals(side, contracts, nvcc, cache) == first
    assert Path(first[0].path).stat().st_mtime_ns == stamp

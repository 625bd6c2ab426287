"""What a run tells about the memory it was handed: how far it was read before it was written, and how far written."""

from __future__ import annotations

import numpy as np
import pytest

from porter.contract.model.contract import EntryKind
from porter.execution.job import FaultKind

KERNEL = """
    __global__ void twice(const float* x, float* y, int n) {
        if (threadIdx.x < n) y[threadIdx.x] = 2 * x[threadIdx.x];
    }"""
COPIED = (
    KERNEL
    + """
    void f(const float* from, float* to, int n) {
        float *x, *y;
        cudaMalloc(&x, n * sizeof(float));
        cudaMalloc(&y, n * sizeof(float));
        cudaMemcpy(x, from, n * sizeof(float), cudaMemcpyHostToDevice);
        twice<<<1, 32>>>(x, y, n);
        cudaMemcpy(to, y, n * sizeof(float), cudaMemcpyDeviceToHost);
    }"""
)
SYMBOLS = """
    __constant__ float given[5];
    __device__ float made[5];
    __global__ void twice() { made[threadIdx.x] = 2 * given[threadIdx.x]; }
    void f(const float* from, float* to, int n) {
        cudaMemcpyToSymbol(given, from, n * sizeof(float));
        twice<<<1, n>>>();
        cudaMemcpyFromSymbol(to, made, n * sizeof(float));
    }"""
CLEARED = """
    __global__ void count(int* x, int n) { if (threadIdx.x < n) atomicAdd(&x[threadIdx.x], 1); }
    void f(const int*, int* x, int n) { cudaMemset(x, 0, n * sizeof(int)); count<<<1, 32>>>(x, n); }"""
LOOPED = "void f(const float* from, float* to, int n) { for (int i = 0; i < n; ++i) to[i] = from[i]; }"
LIBRARY = """
    #include <cub/cub.cuh>
    void f(const float* from, float* to, int n) {
        size_t bytes = 0;
        cub::DeviceScan::InclusiveSum(nullptr, bytes, from, to, n);
        void* storage;
        cudaMalloc(&storage, bytes);
        cub::DeviceScan::InclusiveSum(storage, bytes, from, to, n);
    }"""


@pytest.mark.parametrize(
    ("text", "read", "kind"),
    [
        (COPIED, 20, np.float32),
        (SYMBOLS, 20, np.float32),
        (CLEARED, 0, np.int32),
        (LOOPED, 20, np.float32),
        (LIBRARY, 20, np.float32),
    ],
)
def test_what_host_code_copies_clears_or_reads_is_used(execute, text, read, kind):
    run = execute(text, [np.zeros(16, kind), np.zeros(16, kind), 5], name="f", kind=EntryKind.POINTER)
    assert run.faults == ()
    source, target = run.touched
    assert (source.read_end, source.written_end) == (read, 0)
    assert (target.read_end, target.written_end) == (0, 20)


def test_a_copy_to_a_variable_of_the_device_stays_within_what_it_copies(execute):
    run = execute(SYMBOLS, [np.zeros(3, np.float32), np.zeros(5, np.float32), 5], name="f", kind=EntryKind.POINTER)
    assert "cudaMemcpyToSymbol of 20 bytes" in next(f for f in run.faults if f.kind is FaultKind.OUT_OF_BOUNDS).message


@pytest.mark.parametrize(("kind", "value", "bytes_"), [("float4", "v.x", 16), ("Pair", "v.a.x + v.x", 48)])
def test_a_struct_that_is_handed_on_by_value_is_read(execute, kind, value, bytes_):
    text = f"""
    struct Pair {{ float4 a, b; float x; }};
    __device__ __noinline__ float first({kind} v) {{ return {value}; }}
    __global__ void k(const {kind}* x, float* y) {{ y[0] = first(x[1]); }}"""
    whole, one = (execute(text, [np.zeros(n * bytes_ // 4, np.float32), np.zeros(1, np.float32)]) for n in (2, 1))
    assert not whole.faults
    assert whole.touched[0].read_end == 2 * bytes_
    assert {(f.kind, f.line) for f in one.faults} == {(FaultKind.OUT_OF_BOUNDS, 4)}


def test_what_a_function_returns_is_not_freed_on_the_way(execute):
    text = f"""
    {KERNEL}
    struct Buffer {{ float* p; Buffer(int n) {{ cudaMalloc(&p, n); }} ~Buffer() {{ cudaFree(p); }} }};
    Buffer made(int n) {{ Buffer b(n); return b; }}
    void f(const float* x, float* y, int n) {{
        Buffer b = made(4 * n);
        twice<<<1, 32>>>(x, b.p, n);
        twice<<<1, 32>>>(b.p, y, n);
    }}"""
    run = execute(text, [np.ones(8, np.float32), np.zeros(8, np.float32), 8], name="f", kind=EntryKind.POINTER)
    assert not run.faults
    assert np.array_equal(run.outputs[1].storage, [4.0] * 8)

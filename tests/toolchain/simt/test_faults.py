"""Every fault kind, at the line that causes it."""

from __future__ import annotations

import subprocess

import numpy as np
import pytest

from porter.contract.model.contract import EntryKind
from porter.execution.job import Fault, FaultKind, HardwareLimits, Limits, MaskPolicy, Run
from porter_maca.dialect import MACA

POINTER = {"name": "f", "kind": EntryKind.POINTER}


def line_of(text: str, mark: str = "// here") -> int:
    return next(i for i, line in enumerate(text.splitlines(), 1) if mark in line)


def the_fault(run: Run, kind: FaultKind) -> Fault:
    found = [f for f in run.faults if f.kind is kind]
    assert len(found) == 1, run.faults
    return found[0]


def assert_fault(run: Run, kind: FaultKind, text: str, message: str = "") -> None:
    fault = the_fault(run, kind)
    assert (fault.file, fault.line) == ("/home/user/user.cu", line_of(text)), fault
    assert message in fault.message


def test_lane_outside_its_mask(execute):
    text = """
    __global__ void k(int* out) {
        out[threadIdx.x] =
            __shfl_sync(0xffff, 1, 0);  // here
    }"""
    run = execute(text, [np.zeros(32, np.int32)], block=(32, 1, 1))
    assert_fault(run, FaultKind.LANE_OUTSIDE_MASK, text, "lane 16 is not in its mask (lanes 0-15)")
    assert run.outputs[0].storage[31] == -1


def test_32_bit_mask_leaves_out_half_a_wave_of_64(execute):
    text = """
    __global__ void k(int* out) {
        out[threadIdx.x] =
            __shfl_sync(0xffffffff, 1, 0);  // here
    }"""
    maca = {"dialect": MACA, "warp_size": 64}
    run = execute(text, [np.zeros(64, np.int32)], block=(64, 1, 1), build=maca)
    assert_fault(run, FaultKind.LANE_OUTSIDE_MASK, text, "lane 32")
    assert the_fault(run, FaultKind.LANE_OUTSIDE_MASK).count == 32


def test_lanes_of_the_mask_that_never_come(execute):
    text = """
    __global__ void k(int* out) {
        if (threadIdx.x < 8) {
            out[threadIdx.x] =
                __shfl_down_sync(0xffffffff, int(threadIdx.x), 4);  // here
        }
        __syncthreads();
    }"""
    run = execute(text, [np.zeros(8, np.int32)], block=(32, 1, 1))
    assert [f.kind for f in run.faults] == [FaultKind.LANE_ABSENT]
    assert_fault(run, FaultKind.LANE_ABSENT, text, "lanes 8-31 of the mask never come")
    np.testing.assert_array_equal(run.outputs[0].storage, [4, 5, 6, 7, -1, -1, -1, -1])


@pytest.mark.parametrize(("width", "is_defined"), [(16, True), (31, False), (0, False)])
def test_a_shuffle_among_a_number_of_lanes_that_is_no_power_of_two(execute, width, is_defined):
    text = f"""
    __global__ void k(int* out) {{
        out[threadIdx.x] =
            __shfl_down_sync(0xffffffff, int(threadIdx.x), 1, {width});  // here
    }}"""
    run = execute(text, [np.zeros(32, np.int32)], block=(32, 1, 1))
    assert run.finished == is_defined
    if not is_defined:
        assert_fault(run, FaultKind.LANE_ABSENT, text, f"a shuffle among {width} lanes, which is no power of two")


@pytest.mark.parametrize(("policy", "finished", "faults"), [(MaskPolicy.ERROR, False, 1), (MaskPolicy.IGNORE, True, 0)])
def test_mask_policies(execute, policy, finished, faults):
    text = "__global__ void k(int* x) { x[threadIdx.x] = __shfl_down_sync(0xffffffffu, 5, 16); }"
    run = execute(text, [np.zeros(16, np.int32)], block=(16, 1, 1), mask_policy=policy)
    assert (run.finished, len(run.faults)) == (finished, faults)


def test_barrier_that_not_all_threads_reach(execute):
    text = """
    __global__ void k(int* out) {
        if (threadIdx.x < 32)
            porter::simt::named_barrier(1, 64);  // here
        else
            __syncthreads();
        out[threadIdx.x] = 1;
    }"""
    run = execute(text, [np.zeros(64, np.int32)], block=(64, 1, 1))
    assert not run.finished
    assert_fault(run, FaultKind.DEADLOCK, text, "threads 32-63 wait at __syncthreads in line 6")


def test_different_barriers_in_divergent_branches(execute):
    text = """
    __global__ void k() {
        if (threadIdx.x < 32)
            __syncthreads();
        else
            __syncthreads();  // here
    }"""
    run = execute(text, [], block=(64, 1, 1))
    assert_fault(run, FaultKind.DEADLOCK, text, "some wait in line 4")


@pytest.mark.parametrize("offset", [-1, 64, 4096])
def test_out_of_bounds_of_device_memory(execute, offset):
    text = f"""
    __global__ void k(float* x) {{
        x[0] = 1.0f;
        x[{offset}] = 2.0f;  // here
    }}"""
    run = execute(text, [np.zeros(64, np.float32)])
    assert_fault(run, FaultKind.OUT_OF_BOUNDS, text, f"at byte {offset * 4}")
    assert run.touched[0].beyond == 1
    assert run.touched[0].written_end == 4


@pytest.mark.parametrize(("offset", "tensor"), [(1 << 22, 0), (-(1 << 22), 1)])
def test_an_index_far_beyond_one_argument_is_no_use_of_another(execute, offset, tensor):
    text = f"""
    __global__ void k(float* x, float* y, float* z) {{
        z[blockIdx.x] = {"xy"[tensor]}[{offset} + (long)blockIdx.x];  // here
    }}"""
    run = execute(
        text, [np.zeros(64, np.float32), np.zeros(8 << 20, np.float32), np.zeros(4, np.float32)], grid=(4, 1, 1)
    )
    assert_fault(run, FaultKind.OUT_OF_BOUNDS, text, f"`argument {tensor}`")
    assert {f.kind for f in run.faults} == {FaultKind.OUT_OF_BOUNDS}


def test_out_of_bounds_far_away_ends_the_run(execute):
    text = """
    __global__ void k(float* x) {
        x[1ll << 30] = 2.0f;  // here
    }"""
    run = execute(text, [np.zeros(64, np.float32)])
    assert not run.finished
    assert_fault(run, FaultKind.OUT_OF_BOUNDS, text)


def test_out_of_bounds_of_shared_memory(execute):
    text = """
    __global__ void k(float* x, int n) {
        __shared__ float s[64];
        float* p = s;
        p[threadIdx.x + n] = 1.0f;  // here
        __syncthreads();
        x[threadIdx.x] = p[threadIdx.x + n];
    }"""
    run = execute(text, [np.zeros(64, np.float32), 1], block=(64, 1, 1))
    assert [f.line for f in run.faults if f.kind is FaultKind.OUT_OF_BOUNDS] == [5, 7]


def test_out_of_bounds_of_a_local_array(execute):
    text = """
    __global__ void k(float* x, int n) {
        float a[4] = {1, 2, 3, 4};
        a[n] = 0;  // here
        x[0] = a[0] + a[1];
    }"""
    assert_fault(execute(text, [np.zeros(1, np.float32), 4]), FaultKind.OUT_OF_BOUNDS, text)


def test_use_of_freed_memory(execute):
    text = """
    __global__ void k(float* x) {
        x[0] = 1.0f;  // here
    }
    int main() {
        float* x;
        cudaMalloc(&x, 4);
        cudaFree(x);
        k<<<1, 1>>>(x);
        return 0;
    }"""
    assert_fault(execute(text, [], "main", EntryKind.PROGRAM), FaultKind.OUT_OF_BOUNDS, text, "freed")


@pytest.mark.parametrize("allocated", ["float x[4];", "float* x = new float[4];"])
def test_host_memory_is_out_of_a_kernels_reach(execute, allocated):
    text = f"""
    __global__ void k(float* x) {{
        x[threadIdx.x] = 1.0f;  // here
    }}
    int main() {{
        {allocated}
        k<<<1, 4>>>(x);
        return 0;
    }}"""
    assert_fault(execute(text, [], "main", EntryKind.PROGRAM), FaultKind.OUT_OF_BOUNDS, text, "host memory")


def test_managed_memory_and_device_variables_are_within_a_kernels_reach(execute):
    text = """
    __device__ float table[4];
    __global__ void k(float* x, float* y) { x[threadIdx.x] = y[threadIdx.x] = 1.0f; }
    int main() {
        float *x, *y;
        cudaMallocManaged(&x, 16);
        cudaGetSymbolAddress((void**)&y, table);
        k<<<1, 4>>>(x, y);
        return 0;
    }"""
    assert execute(text, [], "main", EntryKind.PROGRAM).faults == ()


def test_race_in_shared_memory_names_both_lines(execute):
    text = """
    __global__ void k(float* x) {
        __shared__ float s[64];
        s[threadIdx.x] = x[threadIdx.x];
        x[threadIdx.x] = s[63 - threadIdx.x];  // here
    }"""
    run = execute(text, [np.zeros(64, np.float32)], block=(64, 1, 1))
    races = [f for f in run.faults if f.kind is FaultKind.RACE]
    assert {f.line for f in races} == {4, 5}
    assert any("writes it in line 4" in f.message for f in races)


def test_race_between_blocks(execute):
    text = """
    __global__ void k(float* x) {
        x[0] += 1.0f;  // here
    }"""
    run = execute(text, [np.zeros(1, np.float32)], grid=(4, 1, 1))
    races = [f for f in run.faults if f.kind is FaultKind.RACE]
    assert races
    assert all(f.line == line_of(text) and "another block" in f.message for f in races)


def test_race_between_blocks_that_use_shared_memory(execute):
    text = """
    __global__ void k(float* x) {
        __shared__ float one;
        one = 1.0f;
        __syncthreads();
        x[0] += one;  // here
    }"""
    run = execute(text, [np.zeros(1, np.float32)], grid=(4, 1, 1))
    races = [f for f in run.faults if f.kind is FaultKind.RACE]
    assert races
    assert all(f.line == line_of(text) and "another block" in f.message for f in races)


def test_race_of_stores_of_different_values(execute):
    text = """
    __global__ void k(float* x) {
        x[0] = threadIdx.x / 31;  // here
    }"""
    run = execute(text, [np.zeros(1, np.float32)], block=(32, 1, 1))
    assert_fault(run, FaultKind.RACE, text, "thread (31,0,0)")


NO_RACE = {
    "warp barrier": """
    __global__ void k(float* x) {
        __shared__ float s[64];
        s[threadIdx.x] = x[threadIdx.x];
        __syncwarp();
        x[threadIdx.x] = s[threadIdx.x ^ 1];
    }""",
    "atomics": """
    __global__ void k(float* x) {
        __shared__ float s;
        if (threadIdx.x == 0) s = 0;
        __syncthreads();
        atomicAdd(&s, 1.0f);
        __syncthreads();
        if (threadIdx.x == 0) atomicAdd(x, s);
    }""",
    "last block": """
    __global__ void k(float* x) {
        __shared__ bool last;
        if (threadIdx.x == 0) {
            x[1 + blockIdx.x] = 1.0f;
            __threadfence();
            last = atomicInc((unsigned*)x, gridDim.x - 1) == gridDim.x - 1;
        }
        __syncthreads();
        __threadfence();
        if (last && threadIdx.x == 0) for (int i = 0; i < gridDim.x; ++i) x[32] += x[1 + i];
    }""",
    "last block by a device variable": """
    __device__ unsigned ticket;
    __global__ void k(float* x) {
        __shared__ bool last;
        if (threadIdx.x == 0) {
            x[1 + blockIdx.x] = 1.0f;
            __threadfence();
            last = atomicInc(&ticket, gridDim.x - 1) == gridDim.x - 1;
        }
        __syncthreads();
        __threadfence();
        if (last && threadIdx.x == 0) for (int i = 0; i < gridDim.x; ++i) x[32] += x[1 + i];
    }""",
    "lock": """
    __global__ void k(float* x) {
        for (int turn = 0; turn < 1; ++turn) {
            while (atomicCAS((int*)x, 0, 1) != 0) {}
            __threadfence();
            x[1] += 1.0f;
            __threadfence();
            atomicExch((int*)x, 0);
        }
    }""",
    "stores of one value": """
    __global__ void k(float* x) {
        __shared__ float s;
        s = 2.0f;
        x[0] = s;
    }""",
    "bytes of one word": """
    __global__ void k(float* x) { ((unsigned char*)x)[threadIdx.x] = 1; }""",
    "halves of one word after whole words": """
    __global__ void k(float* x) {
        x[threadIdx.x / 2 + 32] = 1.0f * (threadIdx.x / 2 * 0);
        __syncthreads();
        ((short*)x)[threadIdx.x] = 1;
    }""",
}


@pytest.mark.parametrize("name", [n for n in NO_RACE if "halves" not in n])
def test_what_is_ordered_is_no_race(execute, name):
    run = execute(
        NO_RACE[name],
        [np.zeros(64, np.float32)],
        grid=(1 if "word" in name or "warp" in name else 3, 1, 1),
        block=(64, 1, 1),
    )
    assert run.finished
    assert not run.faults


LAST_BLOCK = """
    __device__ unsigned ticket;
    __global__ void k(volatile float* x) {
        __shared__ bool last;
        STORE
        if (threadIdx.x == 0) last = atomicInc(&ticket, gridDim.x - 1) == gridDim.x - 1;
        __syncthreads();
        if (!last) return;
        READ
        float sum = 0;
        for (int i = 0; i < gridDim.x; ++i)
            sum += x[1 + i];  // here
        if (threadIdx.x == 0) x[32] = sum;
    }"""
# How a block publishes what it stores, and whether that is right.
PUBLISHING = {
    "its own fence": ("if (threadIdx.x == 0) { x[1 + blockIdx.x] = 1; __threadfence(); }", True),
    "behind a barrier": (
        "if (threadIdx.x == 9) x[1 + blockIdx.x] = 1; __syncthreads(); if (threadIdx.x == 0) __threadfence();", True),
    "of every thread, then a barrier": (
        "if (threadIdx.x == 9) x[1 + blockIdx.x] = 1; __threadfence(); __syncthreads();", True),
    "of a lane that met the other": (
        "if (threadIdx.x == 9) x[1 + blockIdx.x] = 1; __syncwarp(); if (threadIdx.x == 0) __threadfence();", True),
    "no fence": ("if (threadIdx.x == 0) x[1 + blockIdx.x] = 1;", False),
    "a barrier alone": ("if (threadIdx.x == 9) x[1 + blockIdx.x] = 1; __syncthreads();", False),
    "a fence for the block": ("if (threadIdx.x == 0) { x[1 + blockIdx.x] = 1; __threadfence_block(); }", False),
    "a fence before the store": ("if (threadIdx.x == 0) { __threadfence(); x[1 + blockIdx.x] = 1; }", False),
    "a fence of another": (
        "if (threadIdx.x == 9) x[1 + blockIdx.x] = 1; if (threadIdx.x == 0) __threadfence();", False),
    "an atomic store": ("if (threadIdx.x == 0) atomicAdd((float*)x + 1 + blockIdx.x, 1.0f);", False),
}  # fmt: skip


@pytest.mark.parametrize("name", PUBLISHING)
def test_what_another_block_stored_is_published_by_a_fence(execute, name):
    store, is_published = PUBLISHING[name]
    text = LAST_BLOCK.replace("STORE", store).replace("READ", "__threadfence();")
    run = execute(text, [np.zeros(64, np.float32)], grid=(4, 1, 1), block=(64, 1, 1))
    if is_published:
        assert not run.faults
    else:
        assert {f.kind for f in run.faults} == {FaultKind.UNPUBLISHED}
        assert_fault(run, FaultKind.UNPUBLISHED, text, "with no __threadfence() between that and the atomic")
    assert run.outputs[0].storage[32] == 4


def test_a_read_behind_an_atomic_without_a_fence_is_noted(execute):
    text = LAST_BLOCK.replace("STORE", PUBLISHING["its own fence"][0]).replace("READ", "")
    run = execute(text, [np.zeros(64, np.float32)], grid=(4, 1, 1), block=(64, 1, 1))
    assert {f.kind for f in run.faults} == {FaultKind.UNACQUIRED}
    assert_fault(run, FaultKind.UNACQUIRED, text, "between the atomic that tells of it and the read")


def test_an_emulated_atomic_of_floats_needs_no_fence(execute):
    text = """
    __global__ void k(float* x) {
        for (int turn = 0; turn < 3; ++turn) {
            int old = *(int*)x, assumed;
            do {
                assumed = old;
                old = atomicCAS((int*)x, assumed, __float_as_int(fmaxf(__int_as_float(assumed), blockIdx.x)));
            } while (old != assumed);
        }
    }"""
    run = execute(text, [np.zeros(1, np.float32)], grid=(4, 1, 1), block=(64, 1, 1))
    assert not run.faults
    assert run.outputs[0].storage[0] == 3


def test_uninitialised_shared_memory(execute):
    text = """
    __global__ void k(float* x) {
        __shared__ float s[64];
        if (threadIdx.x < 32) s[threadIdx.x] = 1;
        __syncthreads();
        x[threadIdx.x] = s[threadIdx.x];  // here
    }"""
    run = execute(text, [np.zeros(64, np.float32)], block=(64, 1, 1))
    assert_fault(run, FaultKind.UNINITIALISED, text)
    assert the_fault(run, FaultKind.UNINITIALISED).count == 32
    assert np.isnan(run.outputs[0].storage[63])


def test_uninitialised_device_memory(execute):
    text = """
    __global__ void k(const float* in, float* x) {
        x[0] = in[1];  // here
    }
    void f(float* x) {
        float* in;
        cudaMalloc(&in, 8);
        cudaMemset(in, 0, 4);
        k<<<1, 1>>>(in, x);
    }"""
    assert_fault(execute(text, [np.zeros(1, np.float32)], **POINTER), FaultKind.UNINITIALISED, text)


def test_misaligned_vector_access(execute):
    text = """
    __global__ void k(float* x) {
        float4 v = *reinterpret_cast<float4*>(x + 1);  // here
        x[0] = v.x;
    }"""
    assert_fault(execute(text, [np.zeros(8, np.float32)]), FaultKind.MISALIGNED, text)


def test_block_beyond_the_device(execute):
    text = """
    __global__ void k(int* x) { x[0] = 1; }
    void f(int* x) {
        k<<<1, 1025>>>(x);  // here
        x[0] = 0;
        cudaMemset(x, int(cudaGetLastError()), 1);
    }"""
    run = execute(text, [np.zeros(1, np.int32)], **POINTER)
    assert_fault(run, FaultKind.LAUNCH, text, "a block of 1025x1x1 threads")
    assert run.outputs[0].storage[0] == 9


def test_dynamic_shared_memory_beyond_the_device(execute):
    text = """
    __global__ void k() {}
    void f() {
        k<<<1, 1, 70000>>>();  // here
    }"""
    run = execute(text, [], hardware=HardwareLimits(dynamic_shared_bytes=65536), **POINTER)
    assert_fault(run, FaultKind.LAUNCH, text, "70000 bytes")


@pytest.mark.parametrize("asked", ["", "cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, 60000);"])
def test_dynamic_shared_memory_beyond_what_a_launch_has_must_be_asked_for(execute, asked):
    text = f"""
    __global__ void k() {{}}
    void f() {{
        {asked}
        k<<<1, 1, 60000>>>();  // here
    }}"""
    run = execute(text, [], **POINTER)
    if asked:
        assert run.finished
    else:
        assert_fault(run, FaultKind.LAUNCH, text, "a launch has 49152 unless an attribute of its kernel says more")


@pytest.mark.parametrize(
    ("launch", "message"),
    [
        ({"grid": (2**33, 1, 1)}, "a grid of 8589934592x1x1"),
        ({"grid": (2**32 - 1, 1, 1)}, "a grid of 4294967295x1x1"),
        ({"shared_bytes": -4}, "-4 bytes of dynamic shared memory"),
    ],
)
def test_a_launch_that_no_device_takes_is_a_failed_launch(execute, launch, message):
    run = execute("__global__ void k() {}", [], **launch)
    assert [(f.kind, message in f.message) for f in run.faults] == [(FaultKind.LAUNCH, True)]


@pytest.mark.parametrize("launched_with", [0, 64])
@pytest.mark.parametrize("index", [16, 20_000])
def test_dynamic_shared_memory_that_the_launch_did_not_ask_for(execute, launched_with, index):
    text = """
    __global__ void k(float* x, int at) {
        extern __shared__ float s[];
        s[at] = x[0];  // here
    }"""
    run = execute(text, [np.ones(1, np.float32), index], block=(1, 1, 1), shared_bytes=launched_with)
    assert_fault(run, FaultKind.OUT_OF_BOUNDS, text, f"`dynamic shared memory` ({launched_with} bytes)")


def test_a_launch_by_what_was_launched_names_both(execute):
    text = """
    __global__ void k() {}
    void f() {
        k<<<1, 1>>>();  // here
    }
    void g() { f<<<1, 1>>>(); }"""
    run = execute(text, [], name="g", kind=EntryKind.POINTER)
    assert_fault(run, FaultKind.UNKNOWN, text, "`k` is launched by `f`, which was launched itself")


def test_static_shared_memory_beyond_the_device(execute):
    text = """
    __global__ void k(float* x) {
        __shared__ float s[20000];  // here
        s[threadIdx.x] = 1;
        x[0] = s[0];
    }"""
    run = execute(text, [np.zeros(1, np.float32)], block=(64, 1, 1))
    assert_fault(run, FaultKind.LAUNCH, text, "80000 bytes of static")
    assert run.outputs[0].storage[0] == 0


def test_exception_of_host_code(execute):
    text = '#include <stdexcept>\nvoid f() { throw std::runtime_error("n must be even"); }'
    run = execute(text, [], **POINTER)
    assert not run.finished
    assert the_fault(run, FaultKind.HOST_CHECK).message == "n must be even"


def test_device_assert(execute):
    text = """
    #include <cassert>
    __global__ void k(int n) {
        assert(n > 3);  // here
    }"""
    assert_fault(execute(text, [3]), FaultKind.DEVICE_ASSERT, text, "n > 3")


def test_host_code_that_reads_beyond_a_vector_aborts(execute):
    text = """
    #include <vector>
    void f(float* out) {
        std::vector<float> numbers(1, 2.0f);
        out[0] = numbers[1];  // here
    }"""
    run = execute(text, [np.zeros(1, np.float32)], **POINTER)
    assert not run.finished
    assert_fault(run, FaultKind.CRASH, text, "the program aborted")


def test_host_assert(execute):
    text = """
    #include <cassert>
    void f(int n) {
        assert(n > 3);  // here
    }"""
    assert_fault(execute(text, [3], **POINTER), FaultKind.HOST_CHECK, text)


def test_null_pointer_in_a_kernel(execute):
    text = """
    __global__ void k(int* x) {
        *x = 1;  // here
    }
    void f() { k<<<1, 1>>>(nullptr); }"""
    run = execute(text, [], **POINTER)
    assert_fault(run, FaultKind.CRASH, text, "address 0x0")
    assert the_fault(run, FaultKind.CRASH).kernel == "k"


def test_stack_of_a_thread_is_bounded(execute):
    text = """
    __device__ int deep(int n) {
        volatile char frame[1000];
        frame[n % 7] = n;
        return n == 0 ? 0 : deep(n - 1) + frame[3];
    }
    __global__ void k(int* x) { x[0] = deep(100000); }"""
    run = execute(text, [np.zeros(1, np.int32)])
    assert "stack" in the_fault(run, FaultKind.RESOURCE).message


@pytest.mark.parametrize("watched", [True, False])
def test_infinite_loop_in_a_kernel(execute, watched):
    text = """
    __global__ void k(volatile int* x) {
        while (x[0] == 0) {  // here
        }
    }"""
    run = execute(text, [np.zeros(1, np.int32)], limits=Limits(wall_s=60, cpu_s=1), build={"watched": watched})
    assert not run.finished
    assert_fault(run, FaultKind.TIMEOUT, text)


def test_a_place_is_asked_for_once(execute, monkeypatch):
    text = """
    __global__ void k(int* out) {
        out[threadIdx.x] = 1;  // here
    }"""
    first = execute(text, [np.zeros(31, np.int32)], block=(32, 1, 1))
    assert_fault(first, FaultKind.OUT_OF_BOUNDS, text)
    monkeypatch.setattr(subprocess, "run", None)
    second = execute(text, [np.zeros(30, np.int32)], block=(31, 1, 1))
    assert_fault(second, FaultKind.OUT_OF_BOUNDS, text)

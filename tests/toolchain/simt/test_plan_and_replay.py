"""Host code that plans in one process, and its plan carried out in another."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from porter.contract.contract import Entry, EntryKind
from porter.contract.dtype import DType
from porter.simt.build import build
from porter.simt.job import BuildFailure, BuildRequest, Callee, Dialect, FaultKind, Job, Limits, Part, TensorValue
from porter.simt.planned_run import PlannedExecutable
from porter.source.text import Source

HEAD = "#include <cstdio>\n#include <unistd.h>\n"
DOUBLED = """__global__ void doubled(const float* x, float* y, int n) {
  if (threadIdx.x < n) y[threadIdx.x] = 2 * x[threadIdx.x];
}
"""
X, Y = np.arange(4, dtype=np.float32), np.zeros(4, np.float32)


@pytest.fixture
def planned(simt_cache):
    """Builds a source whose host code plans: with what carries its plans out, or why there is none."""

    def build_it(text, name="f", kind=EntryKind.POINTER):
        source = Source(Path("/home/user/user.cu"), HEAD + text)
        request = BuildRequest(source, (), Dialect.CUDA, (Callee(Entry(kind, name)),), 32, part=Part.HOST)
        (built,) = build(request, simt_cache)
        if isinstance(built, BuildFailure):
            return built
        return PlannedExecutable(built, built.device, Limits())

    return build_it


def job(*arrays):
    return Job(tuple(TensorValue(DType.FLOAT32, array.shape, array) for array in arrays))


def test_the_device_has_what_the_plan_gives_it(planned):
    run = planned(DOUBLED + "void f(const float* x, float* y) { doubled<<<1, 32>>>(x, y, 4); }").execute(job(X, Y))
    assert run.finished
    assert run.outputs[1].storage.tolist() == [0, 2, 4, 6]
    assert [(launch.kernel, launch.line) for launch in run.launches] == [("doubled", 6)]


def test_a_fault_of_a_kernel_is_at_its_line(planned):
    run = planned(DOUBLED + "void f(const float* x, float* y) { doubled<<<1, 32>>>(x, y, 5); }").execute(job(X, Y))
    assert {(fault.kind, fault.line) for fault in run.faults} == {(FaultKind.OUT_OF_BOUNDS, 4)}


def test_a_kernel_by_itself_is_launched(planned):
    run = planned(DOUBLED.replace(", int n", "").replace("n)", "4)"), "doubled", EntryKind.KERNEL).execute(
        Job(job(X, Y).arguments, block=(32, 1, 1))
    )
    assert run.outputs[1].storage.tolist() == [0, 2, 4, 6]


PROGRAM = """
__device__ int total = 40;
__global__ void add(int n) { atomicAdd(&total, n); }
int main() {
  int before, after;
  cudaMemcpyFromSymbol(&before, total, sizeof before);
  add<<<1, 1>>>(2);
  cudaMemcpyFromSymbol(&after, total, sizeof after);
  std::printf("%d %d", before, after);
  return 3;
}
"""


def test_a_program_goes_on_with_what_it_reads(planned):
    run = planned(PROGRAM, "main", EntryKind.PROGRAM).execute(Job())
    assert run.finished
    assert (run.stdout, run.exit_code) == ("40 42", 3)


def test_host_code_that_uses_memory_of_the_device_is_told_where(planned):
    run = planned(DOUBLED + "void f(const float* x, float* y) {\n  y[0] = x[0];\n}").execute(job(X, Y))
    assert not run.finished
    assert {(fault.kind, fault.line) for fault in run.faults} == {(FaultKind.HOST_WORK, 7)}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("__global__ void k(float* x) { *x = getpid(); }", "`getpid`"),
        ("float host(float v);\n__global__ void k(float* x) { *x = host(*x); }", "`host(float)`"),
        ('__global__ void k(float* x) { if (FILE* f = fopen("x", "r")) *x = 1; }', "`fopen`"),
    ],
)
def test_a_kernel_that_calls_what_no_device_has_does_not_build(planned, text, message):
    built = planned(text + "\nvoid f(float* x) { k<<<1, 1>>>(x); }")
    assert isinstance(built, BuildFailure)
    assert message in built.message


@pytest.mark.parametrize(
    "early",
    [
        '__attribute__((section(".preinit_array"), used)) void (*early)() = [] {};',
        'extern "C" void (*choose())() { return [] {}; }\nextern "C" void chosen() __attribute__((ifunc("choose")));\n'
        "void (*pointer)() = chosen;",
    ],
)
def test_what_runs_before_a_process_is_confined_does_not_build(planned, early):
    built = planned(DOUBLED + early + "\nvoid f(const float* x, float* y) { doubled<<<1, 32>>>(x, y, 4); }")
    assert isinstance(built, BuildFailure)
    assert "runs before anything else" in built.message


def test_no_object_of_the_host_is_made_where_kernels_run(planned):
    text = "struct Made { float of; Made() : of(3) {} };\n__device__ Made made;\n"
    kernel = "__global__ void k(float* x) { *x = made.of; }\nvoid f(float* x) { k<<<1, 1>>>(x); }"
    assert planned(text + kernel).execute(job(np.ones(1, np.float32))).outputs[0].storage.tolist() == [0]


SHARED = """
__global__ void turned(float* x) {
  __shared__ float held[32];
  extern __shared__ float more[];
  held[threadIdx.x] = x[threadIdx.x], more[threadIdx.x] = 1;
  __syncthreads();
  if (threadIdx.x < 4) x[threadIdx.x] = held[3 - threadIdx.x] * more[threadIdx.x];
}
void f(float* x) { turned<<<1, 32, 32 * sizeof(float)>>>(x); }
"""


def test_blocks_have_shared_memory(planned):
    run = planned(SHARED).execute(job(np.arange(32, dtype=np.float32)))
    assert run.outputs[0].storage.tolist()[:4] == [3, 2, 1, 0]

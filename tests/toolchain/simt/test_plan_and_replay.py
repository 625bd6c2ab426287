"""Host code that plans in one process, and its plan carried out in another."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from porter.contract.model.contract import Entry, EntryKind
from porter.contract.model.dtype import DType
from porter.dialect import CUDA
from porter.execution.job import BuildFailure, BuildRequest, Callee, FaultKind, Job, Limits, Part, TensorValue
from porter.simt.build import build
from porter.simt.host_calls import not_free
from porter.simt.planned_run import PlannedExecutable, calls_outside
from porter.source_text import Source

HEAD = "#include <cstdio>\n#include <unistd.h>\n"
DOUBLED = """__global__ void doubled(const float* x, float* y, int n) {
  if (threadIdx.x < n) y[threadIdx.x] = 2 * x[threadIdx.x];
}
"""
X, Y = np.arange(4, dtype=np.float32), np.zeros(4, np.float32)


@pytest.fixture
def planned(build_cache):
    """Builds a source whose host code plans: with what carries its plans out, or why there is none."""

    def build_it(text, name="f", kind=EntryKind.POINTER):
        source = Source(Path("/home/user/user.cu"), HEAD + text)
        request = BuildRequest(source, (), CUDA, (Callee(Entry(kind, name)),), 32, part=Part.HOST)
        (built,) = build(request, build_cache)
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


@pytest.mark.parametrize(("width", "finishes"), [(4, True), (3, False)])
def test_a_shuffle_among_lanes_that_are_counted_at_run_time(planned, width, finishes):
    text = """__global__ void turned(const float* x, float* y, int width) {
      float next = __shfl_xor_sync(0xffffffff, x[threadIdx.x % 4], 1, width);
      if (threadIdx.x < 4) y[threadIdx.x] = next;
    }
    """
    host = f"void f(const float* x, float* y) {{ turned<<<1, 32>>>(x, y, {width}); }}"
    run = planned(text + host).execute(job(X, Y))
    assert run.finished == finishes
    if finishes:
        assert run.outputs[1].storage.tolist() == [1, 0, 3, 2]
    else:
        assert [fault.kind for fault in run.faults] == [FaultKind.LANE_ABSENT]


@pytest.mark.parametrize(("place", "opens"), [("answers", False), ("/etc/passwd", True)])
def test_what_plans_reads_files_of_the_system_alone(planned, tmp_path, place, opens):
    path = tmp_path / place
    if not opens:
        path.write_bytes(np.float32([0, 2, 4, 6]).tobytes())
    host = f"""void f(const float* x, float* y) {{
      FILE* file = std::fopen("{path}", "r");
      if (file) doubled<<<1, 32>>>(x, y, 4);
    }}"""
    run = planned(DOUBLED + host).execute(job(X, Y))
    assert run.outputs[1].storage.tolist() == ([0, 2, 4, 6] if opens else [0, 0, 0, 0])


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


SYSTEM = """
#include <sys/resource.h>
#include <fstream>
#include <map>
#include <string>
#define PASTED(a, b) a##b
void unused() { system("ls"); }
void f(const float* x, float* y) {
  rlimit most;
  char folder[512];
  PASTED(get, rlimit)(RLIMIT_NOFILE, &most);
  if (getcwd(folder, sizeof folder) != nullptr && most.rlim_cur == 256) std::wifstream("/pro" "c/self/cmdline");
  std::map<std::string, int> sizes{{"threads", 32}};
  std::printf("%d", sizes["threads"]);
  doubled<<<1, sizes.at("threads")>>>(x, y, 4);
}
"""


def test_what_host_code_calls_beyond_launching_is_known_by_its_symbols(planned):
    called = calls_outside(planned(DOUBLED + SYSTEM).executable)
    assert {"getrlimit", "getcwd"} <= set(called)
    assert any("wchar_t" in name and "fstream" in name for name in called)
    assert not any(word in name for name in called for word in ("map", "printf", "system"))
    assert not_free(["getcwd", "std::basic_ifstream<char>::close()"], frozenset(("ifstream", "x"))) == ["getcwd"]


INSIDES = """
#define PASTED(a, b) a##b
namespace PASTED(por, ter) { namespace simt { extern bool watching; } }
__global__ void k(float* x) { PASTED(por, ter)::simt::watching = false; x[5] = 1; }
void f(float* x) { k<<<1, 1>>>(x); }
"""


def test_a_kernel_that_reaches_into_the_executor_does_not_build(planned):
    built = planned(INSIDES)
    assert isinstance(built, BuildFailure)
    assert "watching" in built.message


REPLACED = """
__device__ int copies = 0;
extern "C" __device__ void* memmove(void* to, const void*, unsigned long n) {
  for (unsigned long i = 0; i < n; ++i) ((volatile char*)to)[i] = 2;
  return to;
}
__global__ void k(float* x) { if (copies > 100) memmove(x, x, 4); x[0] = copies; }
#define replay(...) replay(__VA_ARGS__), copies = 9
#define mention_marks() mention_marks(), copies = 9
void f(float* x) {
  k<<<1, 1>>>(x);
  cudaMemcpy(x + 1, x, 4, cudaMemcpyDeviceToDevice);
}
"""


def test_what_kernels_define_takes_nothing_of_the_executors_place(planned):
    run = planned(REPLACED).execute(job(np.ones(2, np.float32)))
    assert run.finished
    assert run.outputs[0].storage.tolist() == [0, 0]


STORED = """
__device__ float table[4];
__global__ void k(float* x, long offset) { *(volatile char*)((char*)table + offset) = 0; x[0] = table[1]; }
void f(float* x) {
  float values[4] = {1, 2, 3, 4};
  cudaMemcpyToSymbol(table, values, sizeof values);
  k<<<1, 1>>>(x, OFFSET);
}
"""


@pytest.mark.parametrize(("offset", "seen"), [("3", set()), ("40000", {FaultKind.OUT_OF_BOUNDS})])
def test_static_storage_is_a_kernels_as_far_as_the_source_declares_it(planned, offset, seen):
    run = planned(STORED.replace("OFFSET", offset)).execute(job(np.ones(1, np.float32)))
    assert {fault.kind for fault in run.faults} == seen


HOST_VARIABLE = """
__global__ void k(float* x) { x[9] = 1; }
#define PASTED(a, b) a##b
namespace PASTED(por, ter) { namespace simt { extern bool watching; } }
void f(float* x) {
  bool off = false;
  cudaMemcpyToSymbol(PASTED(por, ter)::simt::watching, &off, 1);
  k<<<1, 1>>>(x);
}
"""


def test_a_plan_reaches_no_variable_but_the_sources(planned):
    run = planned(HOST_VARIABLE).execute(job(np.ones(1, np.float32)))
    assert {fault.kind for fault in run.faults} == {FaultKind.OUT_OF_BOUNDS}


BESIDE = (
    "void f(const float* x, float* y) { cudaMemcpy(y, x, 16, cudaMemcpyDeviceToDevice); doubled<<<1, 32>>>(x, %s); }"
)


@pytest.mark.parametrize(("launched", "seen"), [("y, 0", {FaultKind.DECOY}), ("y, 4", set())])
def test_results_that_hang_on_no_launch_are_moves_alone(planned, launched, seen):
    built = planned(DOUBLED + BESIDE % launched)
    assert built.execute(job(X, Y)).finished
    assert built.execute(job(Y, Y)).finished  # where zeros are doubled, nothing shows
    assert {fault.kind for fault in built.concluded()} == seen


CALLED = """
#include <algorithm>
#define HD __host__ __device__
constexpr float anywhere(float x) { return x; }
HD float both(float x) { return x; }
template <class T> __device__ T of_a_template(T x) { return x; }
struct Pair {
  float a, b;
  HD Pair(float x) : a(x), b(0) {}
  __device__ float sum() const;
};
float Pair::sum() const { return a + b; }
float of_the_host(float x) { return x; }
template <class T> T template_of_the_host(T x) { return x; }
struct Functor { float operator()(float x) const { return x; } };
__global__ void k(const float* x, float* y) {
  auto lambda = [](float x) { return x; };
  y[threadIdx.x] = 2 * both(anywhere(of_a_template(lambda(Pair(CALL).sum()))));
}
void f(const float* x, float* y) {
  float one = of_the_host(template_of_the_host(Functor()(1)));
  k<<<1, 4>>>(x, y + int(one) - 1);
}
"""


@pytest.mark.parametrize(
    ("call", "refused"),
    [
        ("x[threadIdx.x]", ""),
        ("of_the_host(x[threadIdx.x])", "of_the_host"),
        ("template_of_the_host(x[threadIdx.x])", "template_of_the_host"),
        ("Functor()(x[threadIdx.x])", "operator"),
    ],
)
def test_a_kernel_calls_functions_of_the_device_alone(planned, call, refused):
    built = planned(CALLED.replace("CALL", call))
    if refused:
        assert isinstance(built, BuildFailure)
        assert refused in built.message
        assert "has no __device__" in built.message
    else:
        assert built.execute(job(X, Y)).outputs[1].storage.tolist() == [0, 2, 4, 6]

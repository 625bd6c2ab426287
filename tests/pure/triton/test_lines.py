"""Lines of a kernel's text that set what nobody reads."""

import ast
import builtins
from pathlib import Path

import pytest

from porter.source.parse import parse
from porter.source_text import Source
from porter_triton.port import port
from porter_triton.thread_level.lines import Line, text_of, without_dead_lines


def sets(text, *reads, depth=1):
    return Line(text, depth, frozenset(reads), (text.partition(" = ")[0],))


def acts(text, *reads, depth=1, opens=False):
    return Line(text, depth, frozenset(reads), opens=opens)


def test_lines_that_set_what_nobody_reads_go_by_steps():
    before = [sets("a = load(x)"), sets("b = a + 1", "a"), sets("c = b < 2", "b"), acts("store(x, a)", "a")]
    assert text_of(without_dead_lines(before)) == "    a = load(x)\n    store(x, a)"


def test_a_variable_that_only_its_own_next_value_reads_goes():
    loop = acts("for i in range(4):", opens=True)
    before = [sets("a = 0"), loop, sets("a = a + i", "a", "i", depth=2), acts("store(x, i)", "i", depth=2)]
    assert text_of(without_dead_lines(before)) == "    for i in range(4):\n        store(x, i)"


def test_lines_that_act_stay_and_so_does_what_they_read():
    before = [sets("a = 1"), acts("b = atomic_add(x, a)", "a"), acts("if a:", "a", opens=True), sets("c = a", depth=2)]
    assert text_of(without_dead_lines(before)) == "    a = 1\n    b = atomic_add(x, a)\n    if a:\n        pass"


@pytest.mark.parametrize("lines", [[], [sets("a = 1")]])
def test_a_kernel_without_lines_is_one_that_does_nothing(lines):
    assert text_of(without_dead_lines(lines)) == "    pass"


KERNELS = {
    "a branch that sets an element of a shared array": """
      __global__ void f(float* y, const float* x) {
        __shared__ float warps[4];
        float sum = x[blockIdx.x * 128 + threadIdx.x];
        for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffff, sum, step);
        const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
        if (lane == 0) warps[warp] = sum;
        __syncthreads();
        if (threadIdx.x == 0) y[blockIdx.x] = warps[0] * warps[1] * warps[2] * warps[3];
      }""",
    "a branch within another one": """
      __global__ void f(float* y, const float* x) {
        const int i = threadIdx.x;
        if (i < 100) {
          float most = -1.f;
          if (i > 3) most = __shfl_xor_sync(0xffffffff, x[i], 1);
          if (most > 0.f && y[i] > most) atomicAdd(y, most);
        }
      }""",
    "a bin that another thread's value is added to": """
      __global__ void f(float* y, const float* x) {
        __shared__ int bins[16];
        if (threadIdx.x < 16) bins[threadIdx.x] = 0;
        __syncthreads();
        if (x[threadIdx.x] > 0.f) atomicAdd(&bins[(int)x[threadIdx.x] & 15], 1);
        __syncthreads();
        if (threadIdx.x < 16) y[threadIdx.x] = bins[threadIdx.x];
      }""",
}


@pytest.mark.parametrize("cuda", KERNELS.values(), ids=KERNELS)
def test_a_kernel_reads_all_that_it_sets_and_sets_all_that_it_reads(cuda):
    launcher = "void launch(float* y, const float* x) { f<<<1, 128>>>(y, x); }"
    made = port(parse(Source(Path("op.cu"), f"{cuda}\n{launcher}")), ())
    assert not made.findings
    module = ast.parse(made.files[0].text)
    (kernel,) = (node for node in module.body if getattr(node, "name", "") == "f")
    names = [node for node in ast.walk(kernel) if isinstance(node, ast.Name)]
    known = {"tl", "triton", *(a.arg for a in kernel.args.args), *(getattr(node, "name", "") for node in module.body)}
    written = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    read = {node.id for node in names if isinstance(node.ctx, ast.Load)}
    assert written
    assert read - known - set(dir(builtins)) <= written <= read

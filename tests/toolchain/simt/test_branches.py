"""Branch coverage of what the executor runs: sides of conditions, instances of kernels, unreachable code."""

import numpy as np
import pytest

from porter.contract.model.contract import EntryKind

GUARDED = """
__global__ void k(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] > 0.f ? x[i] : 0.f;
}
void run(const float* x, float* y, int n) {
    int blocks = (n + 31) / 32;
    if (blocks > 4) blocks = 4;
    k<<<blocks, 32>>>(x, y, n);
}
"""
INSTANCES = """
template <typename T, int N>
__global__ void k(const T* x, T* y, int n) {
    if (N > 4) y[0] = x[1]; else y[0] = x[0];
    if (threadIdx.x >= n) return;
    y[threadIdx.x] = x[threadIdx.x];
}
void run(const float* x, float* y, int n) {
    if (n % 2 == 0) k<float, 2><<<1, 32>>>(x, y, n);
    else k<float, 1><<<1, 32>>>(x, y, n);
}
"""


def missing(run):
    return [(side.line, side.text, side.way) for side in run.coverage.missing]


@pytest.fixture
def ran(execute):
    """`ran(text, n)`: the run of its `run(x, y, n)`."""

    def call(text, n, **more):
        x, y = np.resize(np.float32([1, -1]), 512), np.zeros(512, np.float32)
        return execute(text, (x, y, n), "run", EntryKind.POINTER, **more)

    return call


def test_sides_of_host_and_kernel_are_told_with_their_lines(ran):
    run = ran(GUARDED, 64)
    assert missing(run) == [(4, "i < n", "false"), (8, "blocks > 4", "true")]
    assert missing(ran(GUARDED, 100)) == [(8, "blocks > 4", "true")]


def test_runs_together_take_more(ran):
    both = ran(GUARDED, 100).coverage | ran(GUARDED, 200).coverage
    assert both.missing == ()


def test_an_instance_that_is_not_launched_and_a_constant_condition(ran):
    """`N > 4` is false in both instances that there are: the other side is none."""
    assert missing(ran(INSTANCES, 4)) == [
        (3, "k [with T = float; int N = 1]", "launched"),
        (9, "n % 2 == 0", "false"),
    ]


def test_a_text_that_does_not_build_with_marks_is_built_without(ran):
    """What stands in front of the `?` begins, for all that tokens tell, with the name of the template."""
    run = ran(
        "template <bool wide> __global__ void k(const float* x, float* y, int n) { y[0] = x[0]; }\n"
        "constexpr int N = 4;\n"
        "void run(const float* x, float* y, int n) { auto f = k<(N > 4) ? true : false>; f<<<1, 32>>>(x, y, n); }",
        4,
    )
    assert run.finished
    assert run.coverage.present == frozenset()


def test_a_twin_in_double_precision_has_no_marks(ran):
    assert ran(GUARDED, 64, build={"double_precision": True}).coverage.present == frozenset()


def test_marks_change_no_constant(ran):
    """A condition of a constant expression stays one."""
    text = """
    constexpr int wide(int n) { return n > 4 ? 8 : 4; }
    __global__ void k(const float* x, float* y, int n) {
        const int rows = sizeof(float) > 2 ? 2 : 1;
        float part[wide(2) * rows];
        part[threadIdx.x % 8] = x[threadIdx.x];
        y[threadIdx.x] = part[threadIdx.x % 8];
    }
    void run(const float* x, float* y, int n) { k<<<1, 8>>>(x, y, n); }
    """
    run = ran(text, 8)
    assert run.finished
    assert run.outputs[1].storage[3] == run.outputs[0].storage[3]


REPEATED = """
__global__ void k(const float* x, float* y, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = x[i];
    if (n > 0) for (int i = 0; i < 1; ++i) y[i] = x[i];
    else y[0] = 0.f;
    for (int i = 0; i < min(n, 40); ++i) y[i] = x[i];
}
void run(const float* x, float* y, int n) { k<<<1, 32>>>(x, y, n); }
"""


def test_a_loop_that_no_thread_runs_twice_is_missing(ran):
    """Two threads that each run it once do not make it two turns, nor do two loops; one of a single turn has no
    second one.
    """
    assert (3, "i < n", "run twice") in missing(ran(REPEATED, 32))
    assert [line for line, _, way in missing(ran(REPEATED, 33)) if way == "run twice"] == []


def test_the_operand_that_a_limit_never_picks_is_missing(ran):
    assert (6, "min(n, 40)", "40") in missing(ran(REPEATED, 39))
    assert (6, "min(n, 40)", "n") in missing(ran(REPEATED, 41))
    both = ran(REPEATED, 39).coverage | ran(REPEATED, 41).coverage
    assert [side for side in both.missing if side.line == 6] == []


def test_second_turns_and_limits_are_no_part_of_the_share(ran):
    coverage = ran(REPEATED, 32).coverage
    assert {side.way for side in coverage.missing} > {"run twice"}
    assert coverage.share == 7 / 8

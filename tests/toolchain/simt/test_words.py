"""A word is checked as a whole: what is true of one of its bytes alone is told all the same, and no other thread, time
or kind of access is taken for the own one.
"""

from __future__ import annotations

import numpy as np
import pytest

from porter.contract.model.contract import EntryKind
from porter.execution.job import FaultKind, Run, Schedule

WIDTHS = (1, 2, 4, 8, 16)
_TYPES = {1: "unsigned char", 2: "unsigned short", 4: "unsigned int", 8: "unsigned long long", 16: "uint4"}
_CASES = "".join(f"case {width}: body<{_TYPES[width]}>(x, at, n); break;" for width in WIDTHS)
_SWITCH = f"__global__ void k(unsigned char* x, int width, int at, int n) {{ switch (width) {{ {_CASES} }} }}"


def _of_widths(body: str) -> str:
    """A kernel that does `body` with a word `T` of `width` bytes."""
    return "template <class T> __device__ void body(unsigned char* x, int at, int n) {" + body + "}\n" + _SWITCH


def _kinds(run: Run) -> list[FaultKind]:
    assert run.finished, run.faults
    return [fault.kind for fault in run.faults]


HOLE = _of_widths("""
    __shared__ __align__(16) unsigned char s[32];
    for (int i = 0; i < 32; ++i) if (i != n) s[i] = 1;
    *(T*)(x) = *(const T*)(s + at);
""")


@pytest.mark.parametrize("width", WIDTHS)
def test_a_word_of_which_one_byte_was_never_written(execute, width):
    for hole in (*range(16 - width, 32), -1):
        kinds = _kinds(execute(HOLE, [np.zeros(16, np.uint8), width, 16, hole]))
        assert kinds == ([FaultKind.UNINITIALISED] if 16 <= hole < 16 + width else []), hole


READ = _of_widths("for (int i = 0; i < n; ++i) x[at + i] = 1;\n T word = *(const T*)(x + at); *(T*)x = word;")


@pytest.mark.parametrize("width", WIDTHS)
def test_a_word_is_read_before_it_is_written_up_to_its_last_byte_that_is(execute, width):
    for written in range(width + 1):
        run = execute(READ, [np.zeros(64, np.uint8), width, 32, written])
        assert _kinds(run) == []
        assert run.touched[0].read_end == (32 + width if written < width else 0), written
        assert run.touched[0].written_end == (32 + written if written else width)


END = _of_widths("if (n) *(T*)(x + at) = T(); else { T word = *(const T*)(x + at); *(T*)x = word; }")


@pytest.mark.parametrize("writes", [False, True])
@pytest.mark.parametrize("width", WIDTHS)
def test_the_end_of_an_allocation_inside_a_word(execute, width, writes):
    for inside in range(width + 1):
        x = np.zeros(32 + inside, np.uint8)
        kinds = _kinds(execute(END, [x, width, 32, int(writes)]))
        assert kinds == ([] if inside == width else [FaultKind.OUT_OF_BOUNDS]), inside


PART = _of_widths("""
    if (threadIdx.x == blockDim.x - 1) x[at] = 1;
    if (n == 1) __syncthreads();
    if (n == 2) __shfl_sync(~0u, 0, 0);
    if (threadIdx.x == 0) { T word = *(const T*)(x + 16); *(T*)(x + 64) = word; }
    if (n == 3) __syncthreads();
    if (n == 3 && threadIdx.x == blockDim.x - 1) x[at] = 2;
""")


@pytest.mark.parametrize("threads", [2, 64])
@pytest.mark.parametrize("width", WIDTHS)
def test_another_thread_wrote_a_byte_of_the_word(execute, width, threads):
    x = np.zeros(128, np.uint8)
    for at in range(14, 34):
        meets = at in range(16, 16 + width)
        for between, orders in ((0, False), (1, True), (2, threads == 2), (3, False)):
            kinds = _kinds(execute(PART, [x, width, at, between], block=(threads, 1, 1)))
            assert kinds == ([FaultKind.RACE] if meets and not orders else []), (at, between)


SEVERAL = _of_widths("""
    T word = *(const T*)(x + 16);
    *(T*)(x + 64 + 16 * threadIdx.x) = word;
    if (n == 1) __syncthreads();
    if (threadIdx.x == (unsigned)at) x[16] = 1;
    if (n == 2) __syncthreads();
    if (n != 2 || threadIdx.x == (unsigned)at) return;
    T next = *(const T*)(x + 16);
    *(T*)(x + 64 + 16 * threadIdx.x) = next;
""")


@pytest.mark.parametrize("width", WIDTHS)
def test_a_word_that_several_threads_read_before_one_writes_to_it(execute, width):
    x = np.zeros(64 + 16 * 40, np.uint8)
    for writer in (0, 1, 2, 39):
        for between, kinds in ((0, {FaultKind.RACE}), (1, set()), (2, {FaultKind.RACE})):
            run = execute(SEVERAL, [x, width, writer, between], block=(40, 1, 1))
            assert set(_kinds(run)) == kinds, (writer, between)


ATOMIC = """
__device__ int access(int* x, int kind) {
    switch (kind) {
        case 0: return x[1];
        case 1: x[1] = 7 + threadIdx.x; break;
        case 2: atomicAdd(x + 1, 3);
    }
    return 0;
}
__global__ void k(int* x, int first, int second, int orders) {
    int seen = 0;
    if (threadIdx.x == 1) seen = access(x, first);
    if (orders) __syncwarp();
    if (threadIdx.x == 0) seen = access(x, second);
    x[2 + threadIdx.x] = seen;
}"""
_PLAIN_READ, _PLAIN_WRITE, _ATOMIC = range(3)


@pytest.mark.parametrize("first", range(3))
@pytest.mark.parametrize("second", range(3))
def test_atomic_accesses_beside_plain_ones(execute, first, second):
    x = np.zeros(4, np.int32)
    harmless = {(_PLAIN_READ, _PLAIN_READ), (_ATOMIC, _ATOMIC)}
    expected = [] if (first, second) in harmless else [FaultKind.RACE]
    for schedule in ("forward", "reverse"):
        run = execute(ATOMIC, [x, first, second, 0], block=(2, 1, 1), schedule=Schedule(schedule))
        assert _kinds(run) == expected
    assert _kinds(execute(ATOMIC, [x, first, second, 1], block=(2, 1, 1))) == []


OTHERS_MEET = """
__global__ void k(int* x, int writer, int reader) {
    if (threadIdx.x == writer) x[0] = 1;
    __syncwarp();
    if (threadIdx.x == reader) x[1] = x[0];
}"""


@pytest.mark.parametrize(
    ("writer", "reader", "races"), [(0, 31, False), (0, 32, True), (33, 1, True), (40, 33, False), (5, 5, False)]
)
def test_a_meeting_of_another_warp_orders_nothing(execute, writer, reader, races):
    for schedule in ("forward", "reverse"):
        x = np.zeros(2, np.int32)
        run = execute(OTHERS_MEET, [x, writer, reader], block=(64, 1, 1), schedule=Schedule(schedule))
        assert _kinds(run) == ([FaultKind.RACE] if races else [])


AFTER = """
__global__ void k(int* x, int n) { if (blockIdx.x == n) x[0] = blockIdx.x + 1; else x[1 + blockIdx.x] = x[0]; }
void f(int* x) { k<<<3, 1>>>(x, 7); k<<<1, 1>>>(x, 0); k<<<3, 1>>>(x, 5); k<<<3, 1>>>(x, 1); }
"""


def test_an_earlier_launch_is_ordered_and_another_block_is_not(execute):
    run = execute(AFTER, [np.zeros(8, np.int32)], name="f", kind=EntryKind.POINTER)
    assert _kinds(run) == [FaultKind.RACE] * 2
    assert [fault.count for fault in run.faults] == [1, 1]  # block 1 writes behind block 0, and block 2 reads behind it

"""A source is one file of a program: what its entry does not reach may be defined in another."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from porter.contract.model.contract import Entry, EntryKind
from porter.dialect import CUDA
from porter.execution.job import BuildRequest, Callee, FaultKind
from porter.simt.build import build
from porter.source_text import Source


def test_what_the_entry_does_not_reach_may_be_defined_elsewhere(execute):
    text = """
    void other_file(int* x);
    void unused(int* x) { other_file(x); }
    __global__ void k(int* x) { x[threadIdx.x] = 7; }
    void f(int* x) { k<<<1, 2>>>(x); }"""
    run = execute(text, [np.zeros(2, np.int32)], name="f", kind=EntryKind.POINTER)
    assert run.faults == ()
    assert run.outputs[0].storage.tolist() == [7, 7]


DECLARED = """
extern int verbose;
struct Logger { static void flush(const char* text); };
__global__ void k(int* x) { x[threadIdx.x] = 7; }
void quiet(int* x) { k<<<1, 2>>>(x); }
void calls(int* x) {
    k<<<1, 2>>>(x);
    Logger::flush("done");
}
void reads(int* x) { k<<<1, 2 + verbose>>>(x); }
void hides(int* x, int loud) {
    if (loud) Logger::flush("loud");
    k<<<1, 2>>>(x);
}
"""


@pytest.mark.parametrize(("entry", "rest"), [("quiet", []), ("hides", [0])])
def test_an_entry_that_does_not_come_to_what_is_missing_runs(execute, entry, rest):
    run = execute(DECLARED, [np.zeros(2, np.int32), *rest], name=entry, kind=EntryKind.POINTER)
    assert run.faults == ()
    assert run.outputs[0].storage.tolist() == [7, 7]


@pytest.mark.parametrize(
    ("entry", "rest", "missing", "line"),
    [("calls", [], "Logger::flush(char const*)", 8), ("reads", [], "verbose", 10),
     ("hides", [1], "Logger::flush(char const*)", 12)],
)  # fmt: skip
def test_a_use_of_what_is_defined_elsewhere_ends_the_run_and_names_it(execute, entry, rest, missing, line):
    run = execute(DECLARED, [np.zeros(2, np.int32), *rest], name=entry, kind=EntryKind.POINTER)
    (fault,) = run.faults
    assert not run.finished
    assert fault.kind is FaultKind.UNDEFINED
    assert f"`{missing}` is defined in no file" in fault.message
    assert fault.line == line


def test_a_kernel_that_calls_what_is_defined_elsewhere_names_it(execute):
    text = """__device__ float other_file(float x);
    __global__ void k(float* x) { x[threadIdx.x] = other_file(x[threadIdx.x]); }"""
    (fault,) = execute(text, [np.zeros(2, np.float32)], block=(2, 1, 1)).faults
    assert (fault.kind, fault.kernel, fault.line) == (FaultKind.UNDEFINED, "k", 2)


REGISTERED = """
struct Creator { virtual ~Creator() = default; };
struct Registry { static bool add(int kind, Creator* creator); };
bool other_file(const char* text);
static bool registered = Registry::add(7, new Creator) && other_file("done");
int rows = 3;
__global__ void k(int* x) { x[threadIdx.x] = 7; }
int main() { return 0; }
"""


def test_objects_that_register_a_file_with_the_rest_of_its_program_do_not_keep_its_kernels_from_running(execute):
    run = execute(REGISTERED, [np.zeros(2, np.int32)], block=(2, 1, 1))
    assert run.faults == ()
    assert run.outputs[0].storage.tolist() == [7, 7]


def test_a_program_whose_objects_miss_something_does_not_run(execute):
    (fault,) = execute(REGISTERED, [], name="main", kind=EntryKind.PROGRAM).faults
    assert fault.kind is FaultKind.UNDEFINED
    assert "`Registry::add(int, Creator*)` is defined in no file" in fault.message


def test_an_object_that_needs_what_a_missing_call_returns_names_the_call(execute):
    text = """
    struct Table { int rows[4]; };
    Table& table();
    static int first = table().rows[1];
    __global__ void k(int* x) { x[threadIdx.x] = first; }"""
    (fault,) = execute(text, [np.zeros(2, np.int32)], block=(2, 1, 1)).faults
    assert fault.kind is FaultKind.UNDEFINED
    assert "`table()`" in fault.message


def test_entries_are_linked_together_with_one_that_misses_something(build_cache):
    source = Source(Path("/home/user/user.cu"), DECLARED)
    callees = tuple(Callee(Entry(EntryKind.POINTER, name)) for name in ("quiet", "calls", "reads"))
    built = build(BuildRequest(source, (), CUDA, callees, 32), build_cache)
    assert len({b.path for b in built}) == 1


def test_what_another_file_defines_stays_where_a_header_declares_what_does_not_build(execute):
    """The executor has no textures: the declaration is left out, and the piece of the other file is not."""
    header = Source(Path("/home/user/util.h"), "cudaArray* loaded(cudaTextureObject_t& of);\nint blocks_of(int n);\n")
    piece = Source(
        Path("/home/user/util.cu"),
        "static int halved(int n) { return n / 2; }\nint blocks_of(int n) { return 2 * halved(n); }\n",
    )
    text = """#include "util.h"
    __global__ void k(int* x) { x[blockIdx.x] = 7; }
    void f(int* x) { k<<<blocks_of(3), 1>>>(x); }"""
    request = {"headers": (("util.h", header),), "elsewhere": (piece,)}
    run = execute(text, [np.zeros(3, np.int32)], name="f", kind=EntryKind.POINTER, build=request)
    assert run.faults == ()
    assert run.outputs[0].storage.tolist() == [7, 7, 0]

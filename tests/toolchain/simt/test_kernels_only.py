"""Kernels and launchers are built without host functions where these need what is not there."""

from __future__ import annotations

from pathlib import Path

import pytest

from porter.contract.model.contract import Entry, EntryKind
from porter.dialect import CUDA
from porter.execution.job import BuildFailure, BuildRequest, Built, Callee, Executable, Part
from porter.simt import unit
from porter.simt.build import build
from porter.simt.compiler import Compiler, Diagnostics, call
from porter.source_text import Source

ABSENT = """
#include <nowhere/library.h>
#include "other.h"
__global__ void k(int* x) { *x = 1; }
void uses(library_t handle) { library_call(handle); }
void launch(int* x) { k<<<1, 1>>>(x); }
"""


@pytest.fixture
def build_all(build_cache):
    def build_them(text: str, *entries: tuple[EntryKind, str]) -> tuple[Built, ...]:
        callees = tuple(Callee(Entry(kind, name)) for kind, name in entries)
        return build(BuildRequest(Source(Path("/u/user.cu"), text), (), CUDA, callees, 32), build_cache)

    return build_them


def test_kernels_and_launchers_are_built_without_headers_and_host_functions_that_are_missing(build_all):
    for one in build_all(ABSENT, (EntryKind.KERNEL, "k"), (EntryKind.POINTER, "launch")):
        assert isinstance(one, Executable)
        assert one.absent == ("nowhere/library.h", "other.h")
        assert one.failure.message == "nowhere/library.h: No such file or directory"


@pytest.mark.parametrize("main", ["", "int main() { library_t handle; uses(handle); }\n"])
def test_kernels_are_planned_for_without_what_their_launcher_is_built_without(build_cache, main):
    callees = (Callee(Entry(EntryKind.POINTER, "launch")),)
    request = BuildRequest(Source(Path("/u/user.cu"), ABSENT + main), (), CUDA, callees, 32, part=Part.HOST)
    (one,) = build(request, build_cache)
    assert isinstance(one, Executable)
    assert one.device is not None


def test_headers_that_are_missing_are_found_at_once(build_all, monkeypatch):
    failed = list[str]()

    def noted(found: Compiler, arguments: list[str], folder: Path) -> Diagnostics:
        done = call(found, arguments, folder)
        failed.extend(() if done.ok else [done.log])
        return done

    monkeypatch.setattr(unit, "call", noted)
    names = tuple(f"nowhere/{n}.h" for n in range(5))
    text = "".join(f"#include <{name}>\n" for name in names) + "__global__ void k(int* x) { *x = 5; }\n"
    kernel, other = build_all(text, (EntryKind.KERNEL, "k"), (EntryKind.KERNEL, "k"))
    assert isinstance(kernel, Executable)
    assert (kernel.absent, kernel.path) == (names, other.path)
    assert len(failed) == len(("the whole source", "its kernels alone"))  # the compiler stops at the first header


def test_a_launcher_that_needs_what_is_missing_fails_for_that(build_all):
    text = ABSENT + "void both(int* x) { launch(x); uses(library_t()); }\n"
    (launcher,) = build_all(text, (EntryKind.POINTER, "both"))
    assert isinstance(launcher, BuildFailure)
    assert launcher.message == "nowhere/library.h: No such file or directory"


def test_a_header_is_built_without_its_host_functions_too(build_cache):
    header = Source(Path("/u/own.cuh"), ABSENT)
    text = '#include "own.cuh"\nvoid twice(int* x) { launch(x); launch(x); }\n'
    callees = (Callee(Entry(EntryKind.KERNEL, "k")),)
    request = BuildRequest(Source(Path("/u/user.cu"), text), (("own.cuh", header),), CUDA, callees, 32)
    (kernel,) = build(request, build_cache)
    assert isinstance(kernel, Executable)
    assert kernel.absent == ("nowhere/library.h", "other.h")


def test_a_kernel_that_needs_what_is_missing_fails_for_that(build_all):
    text = '#include "sizes.h"\n__global__ void k(int* x) { *x = SIZE; }\n'
    (kernel,) = build_all(text, (EntryKind.KERNEL, "k"))
    assert isinstance(kernel, BuildFailure)
    assert kernel.message == "sizes.h: No such file or directory"
    assert kernel.alone == "/u/user.cu:2: \u2018SIZE\u2019 was not declared in this scope"


def test_a_source_that_builds_is_built_whole(build_all):
    text = "__global__ void k(int* x) { *x = 1; }\nvoid launch(int* x) { k<<<1, 1>>>(x); }\n"
    (kernel,) = build_all(text, (EntryKind.KERNEL, "k"))
    assert (kernel.failure, kernel.absent) == (None, ())


def test_a_kernel_is_built_without_what_it_never_mentions(build_all):
    text = """
    #include <nowhere/library.h>
    template <class T> struct Limits { static constexpr int rows = sizeof(T); };
    class Layer : public library::Layer {
        library::Tensor in;
        void forward();
    };
    __device__ int limit(int x) { return x < Limits<float>::rows ? x : Limits<float>::rows; }
    __global__ void k(int* x) { *x = limit(*x); }
    void Layer::forward() { k<<<1, 1>>>(in.data<int>()); }
    static library::Register<Layer> registered("layer");"""
    (kernel,) = build_all(text, (EntryKind.KERNEL, "k"))
    assert isinstance(kernel, Executable)
    assert kernel.absent == ("nowhere/library.h",)
    assert kernel.failure is not None


TWO = """
__device__ int odd(int x) { return not_there(x); }
__device__ int even(int x) { return 2 * x; }
__global__ void bad(int* x) { *x = odd(*x); }
__global__ void good(int* x) { *x = even(*x); }
void launch_bad(int* x) { bad<<<1, 1>>>(x); }
void launch_good(int* x) { good<<<1, 1>>>(x); }
"""


@pytest.mark.parametrize("of", [(EntryKind.KERNEL, ""), (EntryKind.POINTER, "launch_")])
def test_what_does_not_build_takes_only_those_with_it_that_mention_it(build_all, of):
    kind, prefix = of
    bad, good = build_all(TWO, (kind, f"{prefix}bad"), (kind, f"{prefix}good"))
    assert isinstance(bad, BuildFailure)
    assert isinstance(good, Executable)
    assert good.failure is not None
    assert good.failure.line == bad.line == 2


def test_an_error_within_a_template_is_that_of_who_asks_for_the_instance(build_all):
    text = """
    template <typename T> __device__ int rows(T x) { return x.rows(); }
    template <typename T> __global__ void k(int* x) { *x = rows<T>(0); }
    __global__ void plain(int* x) { *x = 1; }
    void launch_bad(int* x) { k<int><<<1, 1>>>(x); }
    void launch_good(int* x) { plain<<<1, 1>>>(x); }"""
    bad, good = build_all(text, (EntryKind.POINTER, "launch_bad"), (EntryKind.POINTER, "launch_good"))
    assert isinstance(bad, BuildFailure)
    assert isinstance(good, Executable)


def test_all_that_mention_what_does_not_build_fail(build_all):
    text = TWO.replace("return 2 * x", "return odd(x)")
    built = build_all(text, (EntryKind.POINTER, "launch_bad"), (EntryKind.POINTER, "launch_good"))
    assert all(isinstance(one, BuildFailure) for one in built)


def test_what_host_code_does_with_a_missing_header_takes_no_kernel_with_it(build_all):
    text = """
    #include <nowhere/library.h>
    #ifndef LIBRARY_VERSION
    #error "the library has a version"
    #endif
    using handle = library::handle;
    class Log {
    public:
        explicit Log(int level) : handle_(library::open(level)), level_(level) {}
        void say(const char* text) { library::print(handle_, text); }
        int handle_, level_;
    };
    __host__ __device__ int level(const Log* log, int x) { return log ? log->level_ : x; }
    handle opened(const Log& log, int x) { return library::handle(log.handle_ + level(&log, x)); }
    __global__ void k(int* x) { *x = level(nullptr, *x); opened; }"""
    (kernel,) = build_all(text.replace(" opened;", ""), (EntryKind.KERNEL, "k"))
    assert isinstance(kernel, Executable)
    assert kernel.absent == ("nowhere/library.h",)
    (mentioning,) = build_all(text, (EntryKind.KERNEL, "k"))
    assert isinstance(mentioning, BuildFailure)

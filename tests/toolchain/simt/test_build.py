"""Entries of one source share an executable; one that does not compile is told apart and takes nobody with it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from porter.contract.model.contract import Entry, EntryKind
from porter.contract.model.dtype import DType
from porter.dialect import CUDA
from porter.execution.job import BuildFailure, BuildRequest, Built, Callee, Executable, Job, TensorValue
from porter.simt.build import build
from porter.simt.run import run
from porter.source.program import CType
from porter.source_text import Source
from porter_maca.dialect import MACA

INT_POINTER = CType("int*", "int", 1, False, False)


@pytest.fixture
def build_all(build_cache):
    def build_them(text: str, *callees: str | Callee) -> tuple[Built, ...]:
        wanted = tuple(c if isinstance(c, Callee) else Callee(Entry(EntryKind.KERNEL, c)) for c in callees)
        return build(BuildRequest(Source(Path("/u/user.cu"), text), (), CUDA, wanted, 32), build_cache)

    return build_them


def answer(built: Built) -> int:
    """Returns what the entry leaves in its only argument."""
    assert isinstance(built, Executable), built.log
    done = run(built, Job((TensorValue(DType.INT32, (1,), np.zeros(1, np.int32)),)))
    assert done.finished, done.faults
    return int(done.outputs[0].storage[0])


def refused(built: Built) -> BuildFailure:
    assert isinstance(built, BuildFailure)
    return built


def test_entries_share_an_executable_and_each_is_called(build_all):
    text = """
    __global__ void one(int* x) { *x = 1; }
    void two(int* x) { one<<<1, 1>>>(x); *x += 1; }"""
    first, second = build_all(text, "one", Callee(Entry(EntryKind.POINTER, "two")))
    assert first.path == second.path
    assert (answer(first), answer(second)) == (1, 2)


def test_the_executor_holds_what_the_standard_library_would_instantiate_in_each_source(build_all):
    text = """
    #include <cmath>
    #include <string>
    __global__ void one(int* x) { *x = int(cyl_bessel_i0f(0.0f)); }
    void two(int* x) {
        one<<<1, 1>>>(x);
        *x += 10 * std::stoi("2") + int(100 * std::betaf(1.0f, 0.5f) + 0.5f) + int(std::stold(L"3000"));
        *x += int(10000 * std::legendrel(2, 3.0L)) + int(1e6 * std::beta(1.0, 0.5));
    }"""
    (built,) = build_all(text, Callee(Entry(EntryKind.POINTER, "two")))
    assert answer(built) == 1 + 20 + 200 + 3000 + 130000 + 2000000


@pytest.mark.parametrize("dialect", [CUDA, MACA])
def test_a_header_that_is_included_by_two_names_is_one_file(build_cache, dialect):
    """It is not defined again where its branches are marked; a clang's questions have an answer where there is one."""
    text = """#pragma once
    #if defined(__clang__)
    #if __has_feature(cxx_constexpr)
    #endif
    #endif
    enum class Kind { One, Two };
    __device__ inline int area(int a) { return a > 3 ? a * a : 1; }"""
    shapes = Source(Path("/u/lib/shapes.h"), text)
    user = '#include "lib/shapes.h"\n#include "shapes.h"\n__global__ void one(int* x) { *x = area(5); }'
    headers = (("lib/shapes.h", shapes), ("shapes.h", shapes))
    callees = (Callee(Entry(EntryKind.KERNEL, "one")),)
    (built,) = build(BuildRequest(Source(Path("/u/user.cu"), user), headers, dialect, callees, 32), build_cache)
    assert answer(built) == 25
    done = run(built, Job((TensorValue(DType.INT32, (1,), np.zeros(1, np.int32)),)))
    assert "a > 3" in {side.text for side in done.coverage.present}


def test_entries_that_cannot_be_called_leave_the_others_together(build_all):
    text = """
    struct Peculiar { int n; Peculiar() = delete; explicit Peculiar(void (*)(int)); };
    __global__ void one(int* x) { *x = 1; }
    __global__ void worse(Peculiar* x, Peculiar& y) { x->n = 1; }
    __global__ void two(int* x) { *x = 2; }
    __global__ void three(int* x) { *x = 3; }"""
    one, worse, two, missing, three = build_all(text, "one", "worse", "two", "missing", "three")
    assert [answer(built) for built in (one, two, three)] == [1, 2, 3]
    assert one.path == two.path == three.path
    assert refused(missing).message.startswith("missing cannot be called: ")
    assert "Peculiar" in refused(worse).log
    assert "Peculiar" not in missing.log


def test_a_template_that_does_not_compile_for_one_entry_is_told_at_its_line(build_all):
    text = """
    template <class T> __global__ void k(T* x) {
        *x = T(7).size();  // here
    }
    __global__ void one(int* x) { *x = 1; }"""
    broken, one = build_all(text, Callee(Entry(EntryKind.KERNEL, "k", ("int",))), "one")
    assert answer(one) == 1
    assert (refused(broken).file, broken.line) == ("/u/user.cu", 3)


def test_an_overload_is_picked_by_its_parameters(build_all):
    text = """
    namespace inner {
    using word = int;
    __global__ void set(float* x) { *x = 1; }
    __global__ void set(word* x) { *x = 2; }
    }
    __global__ void three(int* x) { *x = 3; }"""
    word = CType("word*", "word", 1, False, False)
    picked, three = build_all(text, Callee(Entry(EntryKind.KERNEL, "inner::set"), (word,)), "three")
    assert (answer(picked), answer(three)) == (2, 3)
    assert picked.path == three.path


def test_overloads_of_one_name_share_an_executable(build_all):
    text = """
    __global__ void set(int* x) { *x = 1; }
    __global__ void set(int* x, int* y) { *x = 2; }
    __global__ void three(int* x) { *x = 3; }"""
    overloads = [Callee(Entry(EntryKind.KERNEL, "set"), (INT_POINTER,) * n) for n in (1, 2)]
    one, two, three, missing = build_all(text, *overloads, "three", "missing")
    assert (answer(one), answer(three)) == (1, 3)
    assert one.path == two.path == three.path
    assert refused(missing).message.startswith("missing cannot be called: ")


def test_a_definition_that_one_entry_misses_keeps_none_from_being_built(build_all):
    text = """
    void elsewhere(int* x);
    template <class T> void calls(T* x) { elsewhere(x); }
    __global__ void one(int* x) { *x = 1; }"""
    calls, one = build_all(text, Callee(Entry(EntryKind.POINTER, "calls", ("int",)), (INT_POINTER,)), "one")
    assert answer(one) == 1
    assert isinstance(calls, Executable)


def test_a_source_that_is_broken_is_so_for_every_entry(build_all):
    text = """
    __device__ int shared() { return y; }
    __global__ void one(int* x) { *x = shared(); }
    __global__ void three(int* x) { *x = 2 + shared(); }"""
    for failure in build_all(text, "one", "three"):
        assert (refused(failure).file, failure.line) == ("/u/user.cu", 2)
        assert "not declared" in failure.message


def test_a_kernel_that_does_not_build_leaves_the_others(build_all):
    text = """
    __global__ void one(int* x) { *x = 1; }
    __global__ void two(int* x) { *x = y; }
    __global__ void three(int* x) { *x = 3; }"""
    one, two, three = build_all(text, "one", "two", "three")
    assert (answer(one), answer(three)) == (1, 3)
    assert (refused(two).file, two.line) == ("/u/user.cu", 3)


def test_a_programs_own_copy_of_a_samples_helper_comes_before_porters(build_cache):
    text = "#include <helper_string.h>\n__global__ void k(int* x) { x[0] = OWN; }"
    own = Source(Path("/u/common/helper_string.h"), "#define OWN 7\nstruct StopWatchInterface {};")
    wanted = (Callee(Entry(EntryKind.KERNEL, "k")),)
    request = BuildRequest(Source(Path("/u/user.cu"), text), (("helper_string.h", own),), CUDA, wanted, 32)
    (built,) = build(request, build_cache)
    assert answer(built) == 7


def test_macros_of_the_build_are_in_force_in_the_source_and_nowhere_else(build_cache):
    text = """
    #if !T || !value || defined(EMPTY) != 1
    #error not as the build has it
    #endif
    __global__ void k(int* x) { EMPTY *x = N + T; }"""
    callee = Callee(Entry(EntryKind.KERNEL, "k"))
    defines = ("N=64", "T", "value=2", "EMPTY=")
    source = Source(Path("/u/user.cu"), text)
    (built,) = build(BuildRequest(source, (), CUDA, (callee,), 32, defines=defines), build_cache)
    assert answer(built) == 65


def test_a_header_in_angles_is_the_translated_one(build_cache, tmp_path):
    text = "__device__ int last(int v) { __shared__ int s[32]; s[31 - threadIdx.x] = v; __syncthreads(); return s[0]; }"
    header = Source(tmp_path / "own.cuh", text)
    header.path.write_text(text)
    source = Source(Path("/u/user.cu"), "#include <own.cuh>\n__global__ void k(int* x) { *x = last(7); }")
    request = BuildRequest(source, (("own.cuh", header),), CUDA, (Callee(Entry(EntryKind.KERNEL, "k")),), 32)
    (built,) = build(replace(request, include_dirs=(str(tmp_path),)), build_cache)
    assert isinstance(built, Executable), built.log


def test_concepts_are_understood(build_all):
    text = """
    #include <concepts>
    template <class T> concept Number = std::same_as<T, int> || std::same_as<T, float>;
    template <Number T> __global__ void k(T* x) { *x = T(3); }"""
    (built,) = build_all(text, Callee(Entry(EntryKind.KERNEL, "k", ("int",))))
    assert answer(built) == 3

"""Macros that a build sets, told by what headers hold without them."""

from pathlib import Path

import pytest

from porter.source.build_macros import macros_of_build
from porter.source.parse import parse
from porter.source_text import Source

USES = '#include "math.cuh"\n__global__ void k(point* p, real3* q) { p[0].x = WIDTH; }\n'


def wanted(header, source=USES, **others):
    texts = {"math.cuh": header, **{f"{name}.h": text for name, text in others.items()}}

    def find(name, _):
        return Source(Path(name), texts[name]) if name in texts else None

    return macros_of_build(parse(Source(Path("op.cu"), source), headers=find), find)


@pytest.mark.parametrize(
    "header",
    [
        "#pragma once\n#ifdef WITH_CUDA\n#include <stdint.h>\ntypedef short3 point;\n#endif\n",
        "#ifndef MATH_H\n#define MATH_H\n#if defined(WITH_CUDA)\nstruct point { int x; };\n#endif\n#endif\n",
        "#ifdef WITH_CUDA\n#define WIDTH 4\nint f();\n#endif\n",
        "#if WITH_CUDA\nstruct point { int x; };\n#endif\n",
    ],
)
def test_what_stands_around_all_of_a_header_that_is_used_is_set(header):
    assert wanted(header) == ("WITH_CUDA",)


@pytest.mark.parametrize(
    "header",
    [
        "#ifdef WITH_CUDA\ntypedef short3 unused;\n#endif\n",
        "#ifdef _WIN32\ntypedef short3 point;\n#endif\n",
        "typedef short3 point;\n#ifdef WITH_CUDA\nstruct real3 { float x; };\n#endif\n",
        "#define WITH_CUDA\n#ifdef WITH_CUDA\ntypedef short3 point;\n#endif\n",
        "#ifdef WITH_CUDA\ntypedef unsigned int uint;\n#endif\n",
        "",
    ],
)
def test_what_may_compile_without_it_sets_nothing(header):
    assert wanted(header) == ()


def test_what_another_header_declares_sets_nothing():
    other = '#include "types.h"\n' + USES
    assert wanted("#ifdef USE_HIP\nstruct point { int x; };\n#endif\n", other, types="struct point { int x; };\n") == ()


LAUNCHES = '#include "math.cuh"\nvoid f(int n) { k<<<blocks_of(n), WIDTH>>>(n); }\n'


def test_a_function_that_such_a_header_declares_counts():
    header = "#include <stddef.h>\n#ifdef GPU\ndim3 blocks_of(size_t n);\n#endif\n"
    assert wanted(header, LAUNCHES) == ("GPU",)
    called = "#ifdef GPU\ninline int g(int n) { if (n) return blocks_of(n); dim3 WIDTH(n); }\n#endif\n"
    assert wanted(called, LAUNCHES) == ()


@pytest.mark.parametrize("condition", ["#if ON_CUDA", "#ifdef ON_CUDA", "#if defined(ON_CUDA)"])
def test_what_stands_around_the_line_that_includes_a_header_is_set(condition):
    header = f'#pragma once\nint g();\n{condition}\n#include "cuda_side.h"\n#endif\n'
    assert wanted(header, cuda_side="#define WIDTH 4\n") == ("ON_CUDA",)


def test_of_platforms_that_declare_the_same_one_is_set_whose_libraries_are_at_hand():
    header = '#if ON_HIP\n#include "hip_side.h"\n#endif\n#if ON_CUDA\n#include "cuda_side.h"\n#endif\n'
    sides = {"hip_side": "#include <hip/hip_runtime.h>\n#define WIDTH 64\n", "cuda_side": "#define WIDTH 32\n"}
    assert wanted(header, **sides) == ("ON_CUDA",)
    sides["hip_side"] = "#define WIDTH 64\n"
    assert wanted(header, **sides) == ("ON_HIP",)


def test_a_header_of_another_platform_that_declares_nothing_needed_sets_nothing():
    header = (
        '#define WIDTH 4\ntypedef short3 point;\ntypedef float3 real3;\n#if ON_CUDA\n#include "cuda_side.h"\n#endif\n'
    )
    assert wanted(header, cuda_side="#define WIDTH 8\nint unused();\n") == ()


LOOP = "#define LOOP(i, n) for (int i = threadIdx.x; i < n; i += blockDim.x)\n"
LOOPS = '#include "math.cuh"\n__global__ void k(float* x, int n) { LOOP(i, n) x[i] = 0; }\n'


def test_what_hides_the_only_definition_of_a_macro_is_set():
    assert wanted(f"int f();\n#ifdef WITH_CUDA\n{LOOP}#endif\n", LOOPS) == ("WITH_CUDA",)


@pytest.mark.parametrize(
    ("header", "source"),
    [
        (f"int f();\n#ifdef WITH_CUDA\n{LOOP}#else\n{LOOP}#endif\n", LOOPS),
        (
            f"int f();\n#ifdef WITH_ROCM\n{LOOP}#endif\n",
            LOOPS.replace("LOOP(i, n) x[i] = 0;", "\n#ifdef WITH_ROCM\nLOOP(i, n) x[i] = 0;\n#endif\n"),
        ),
        (f"int f();\n#ifdef WITH_CUDA\n{LOOP}#endif\n", LOOP + LOOPS),
        ("#ifdef WIN32\n#define M_PI 3.14f\n#endif\nint f();\n", LOOPS.replace("LOOP(i, n) x[i] = 0", "x[n] = M_PI")),
    ],
    ids=["defined otherwise, too", "used where it is asked for", "the source's own", "of no kernel"],
)
def test_a_macro_that_is_not_lacking_sets_nothing(header, source):
    assert wanted(header, source) == ()


def test_a_macro_around_all_of_the_source_is_set():
    kernel = "__global__ void k(int* x) { x[0] = 1; }\n"
    assert wanted("", f'#include "math.cuh"\n#ifdef WITH_CUDA\n{kernel}#endif\n') == ("WITH_CUDA",)
    assert wanted("#define WITH_CUDA 1\n", f'#include "math.cuh"\n#ifdef WITH_CUDA\n{kernel}#endif\n') == ()
    assert wanted("", f"#ifdef __CUDACC__\n{kernel}#endif\n") == ()
    assert wanted("", f"{kernel}#ifdef WITH_CUDA\n{kernel}#endif\n") == ()


REALS = '#include "math.cuh"\n__global__ void k(real* x, int n) { x[n] = 0; }\n'


@pytest.mark.parametrize(
    ("header", "set_"),
    [
        ("#if WIDE == 1\ntypedef float real;\n#endif\n#if WIDE == 2\ntypedef double real;\n#endif\n", "WIDE=1"),
        ("#if BITS == 64\nusing real = double;\n#elif BITS == 32\nusing real = float;\n#endif\n", "BITS=64"),
        ("#ifdef DOUBLES\ntypedef double real;\n#elif defined(FLOATS)\ntypedef float real;\n#endif\n", "DOUBLES=1"),
        ("int f();\n#if (WIDE == 2)\n#ifndef HAS_REAL\n#define real double\n#endif\n#endif\n", "WIDE=2"),
        ("#if ON_HALVES\n#define real __half2\n#endif\nint f();\n", "ON_HALVES=1"),
    ],
)
def test_a_value_is_chosen_under_which_a_type_of_the_source_is_one(header, set_):
    assert wanted(header, REALS) == (set_,)


@pytest.mark.parametrize(
    ("header", "source"),
    [
        ("#if WIDE == 2\ntypedef double real;\n#else\ntypedef float real;\n#endif\n", REALS),
        ("#define WIDE 2\n#if WIDE == 2\ntypedef double real;\n#endif\n", REALS),
        ("#if WIDE == 2\ntypedef double real;\n#endif\nint f();\n", "typedef float real;\n" + REALS),
        ("#if WIDE == 2\ntypedef double real;\n#endif\nint f();\n", REALS.replace("(real*", "(template real*")),
        ("#if WIDE == 2\ntypedef double real;\n#endif\nint f();\n", f"#if WIDE == 2\n{REALS}#endif\nint g();\n"),
        ("#if WIDE > 1\ntypedef double real;\n#endif\nint f();\n", REALS),
        ("#if WIDE == 2\ntypedef struct { int x; } real;\n#endif\nint f();\n", REALS),
    ],
    ids=[
        "another otherwise",
        "it has a value",
        "its own",
        "a parameter",
        "where it is asked for",
        "no value",
        "no number",
    ],
)
def test_no_value_is_chosen_where_a_name_means_something_or_no_value_says_what(header, source):
    source = source.replace("__global__ void k(template real*", "template <typename real> __global__ void k(real*")
    assert wanted(header, source) == ()


ASKS = '#include "math.cuh"\nvoid f(int n) { k<<<blocks_of(n), 64>>>(n); }\n'
HIDES = "#pragma once\nint g();\n#ifdef USE_CUDA\nextern dim3 blocks_of(int n);\n#endif\n"


def test_what_stands_around_a_prototype_that_the_source_calls_is_set():
    assert wanted(HIDES, ASKS) == ("USE_CUDA=1",)
    assert wanted(HIDES, ASKS.replace("void f", 'extern "C" void f')) == ("USE_CUDA=1",)


@pytest.mark.parametrize(
    ("header", "source"),
    [
        (HIDES + "#include <mpi.h>\n".join(["#ifdef USE_CUDA\n", "#endif\n"]), ASKS),
        (HIDES, ASKS.replace("void f", "dim3 blocks_of(int n) { return dim3(n); }\nvoid f")),
        (HIDES, ASKS.replace("void f", "#ifdef USE_CUDA\nvoid f") + "#endif\nint h();\n"),
        (HIDES + "#define blocks_of(n) (n / 64)\n", ASKS),
        (HIDES.replace("#ifdef USE_CUDA", "#ifndef NO_CUDA"), ASKS),
    ],
    ids=["wants a header", "its own", "asks for it", "a macro otherwise", "there already"],
)
def test_a_prototype_that_does_not_lack_sets_nothing(header, source):
    assert wanted(header, source) == ()

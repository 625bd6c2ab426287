"""Template arguments reach kernels through dispatch macros, aliases, callers and explicit instantiations."""

from pathlib import Path

import pytest

from porter.source.instantiate import explicit_arguments, instantiations
from porter.source.parse import parse
from porter.source.text import Source

KERNELS = (
    "template <typename T, int N = 2> __global__ void k(T* x, int n) {}\n"
    "template <typename T, int N> void launch(T* x, int n) { k<T, N><<<1, 2>>>(x, n); }\n"
)


def arguments(host, macros=""):
    program = parse(Source(Path("x.cu"), macros + KERNELS + host))
    return [i.arguments for i in instantiations(program) if any(i.arguments)]


DISPATCH = (
    'void go(at::Tensor x) {{ AT_DISPATCH_{}x.scalar_type(), "go", [&] {{\n'
    "  k<scalar_t><<<1, 2>>>(x.data_ptr<scalar_t>(), 3); }}); }}"
)


@pytest.mark.parametrize(
    ("macro", "types"),
    [
        ("FLOATING_TYPES(", ["double", "float"]),
        ("FLOATING_TYPES_AND_HALF(", ["double", "float", "at::Half"]),
        ("FLOATING_TYPES_AND(at::ScalarType::Half, ", ["double", "float", "at::Half"]),
        ("FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, ", ["double", "float", "at::Half", "at::BFloat16"]),
        ("INTEGRAL_TYPES(", ["uint8_t", "int8_t", "int", "int64_t", "int16_t"]),
    ],
)
def test_dispatch_macros_of_torch(macro, types):
    assert [a[0] for a in arguments(DISPATCH.format(macro))] == types


def test_arguments_written_at_the_launch_and_defaults():
    assert arguments("void go(float* x) { k<float, 8><<<1, 2>>>(x, 1); k<half><<<1, 2>>>(x, 1); }") == [
        ("float", "8"), ("half", "2"),
    ]  # fmt: skip


def test_template_launchers_are_followed_to_their_callers():
    host = "void go(float* x) { launch<float, 4>(x, 1); }\ntemplate void launch<half, 8>(half*, int);\n"
    assert arguments(host) == [("half", "8"), ("float", "4")]


def test_an_own_macro_with_cases():
    macro = (
        "#define SIZES(n, D, ...) switch (n) { case 64: { constexpr int D = 64; __VA_ARGS__ } \\\n"
        "  case 96: { constexpr int D = 96; __VA_ARGS__ } }\n"
    )
    assert arguments("void go(float* x, int n) { SIZES(n, W, launch<float, W>(x, n);); }", macro) == [
        ("float", "64"), ("float", "96"),
    ]  # fmt: skip


def test_an_own_macro_around_torch_and_an_alias():
    macro = (
        "#define MINE(T, NAME, ...) AT_DISPATCH_SWITCH(T, NAME, \\\n"
        "  AT_DISPATCH_CASE(at::ScalarType::Float, __VA_ARGS__) \\\n"
        "  AT_DISPATCH_CASE(at::ScalarType::Half, __VA_ARGS__))\n"
    )
    host = (
        'void go(at::Tensor x) { MINE(x.scalar_type(), "go", [&] {\n'
        "  using U = scalar_t; launch<U, 1>(x.data_ptr<U>(), 3); }); }"
    )
    assert arguments(host, macro) == [("float", "1"), ("at::Half", "1")]


def test_types_deduced_from_the_arguments():
    host = (
        "void go(float* x, at::Tensor y) { k<<<1, 2>>>(x, 1); k<<<1, 2>>>(y.data_ptr<double>(), 1);\n"
        "  k<<<1, 2>>>((half*)p, 1); }"
    )
    assert arguments(host) == [("float", "2"), ("double", "2"), ("half", "2")]


def test_an_argument_nobody_determines_is_empty():
    program = parse(Source(Path("x.cu"), "template <int N> __global__ void k() {}\nvoid go() { k<<<1, 1>>>(); }"))
    assert [i.arguments for i in instantiations(program)] == [("",)]


LAUNCHERS = """\
template <typename T> void scale(T* x, const T* __restrict__ by, const std::vector<T>& more, int n) {}
template <typename T, int N> void widen(Vec<T, N>& v, T out[], unsigned m) {}
template <typename T, typename U = float> void pair(T x, U* y) {}
template <typename T> void plus(T* x) {}
"""


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("void scale(float* x, const float* by, const std::vector<float>& more, int n)", [("float",), (), (), ()]),
        ("void scale(unsigned int*, unsigned int const*, std::vector<unsigned> const&, int)", [("unsigned int",)]),
        ("void widen(Vec<c10::Half, 8>& v, c10::Half out[4], unsigned)", [(), ("c10::Half", "8")]),
        ("void pair(float* x, double* y)", [(), (), ("float*", "double")]),
        ("void pair<int>(int x, float* y)", [(), (), ("int", "float")]),
        ("void plus(double* x)", [(), (), (), ("double",)]),
    ],
)
def test_an_explicit_instantiation_without_arguments_says_them_by_its_types(written, expected):
    program = parse(Source(Path("x.cu"), LAUNCHERS + f"template {written};\n"))
    found = [explicit_arguments(program, f) for f in program.host_functions]
    assert found == [((e,) if e else ()) for e in (*expected, *[()] * 4)][:4]


def test_types_of_an_instantiation_reach_the_kernel():
    assert arguments("template <typename T> void go(T* x) { launch<T, 4>(x, 1); }\ntemplate void go(half*);") == [
        ("half", "4")
    ]

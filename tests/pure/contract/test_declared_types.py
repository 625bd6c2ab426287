"""Types are followed through the whole program; what porter cannot know stays as it is written."""

from pathlib import Path

import pytest

from porter.contract.analysis.usage import Usage
from porter.contract.infer.draft import draft
from porter.contract.model.contract import ScalarArg
from porter.contract.model.dtype import DType
from porter.contract.model.questions import open_questions
from porter.source.parse import parse
from porter.source_text import Source

DECLARED = """
#include "types.h"
typedef unsigned int u32;
typedef u32 count32, *counts;
typedef const float* Row;
using wide = long long;
template <typename T> using Same = T;
template <bool IsWide> using count_t = std::conditional_t<IsWide, std::int64_t, int>;
template <typename T> using index_of = typename std::conditional<sizeof(T) == 2, short, long>::type;
constexpr bool kWide = false;
struct Plain { using index = unsigned long; typedef float element; };
struct Derived : Plain {};
template <typename T> struct Traits { using size = long long; using value = T; };
template <> struct Traits<double> { using size = unsigned short; };
template <typename T> struct Traits<T*> { using size = unsigned char; };
namespace lib { using extent = Plain::index; namespace detail { using extent = int; } }
namespace one { using both = int; }
namespace two { using both = float; }
enum Mode { SUM, MEAN };
typedef torch::PackedTensorAccessor32<std::int64_t, 2, torch::RestrictPtrTraits> places;
#define REAL double
#define INDEX Plain::index
"""


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("long unsigned int", "unsigned long"), ("ptrdiff_t", "long"), ("std::uint32_t", "unsigned int"),
        ("intptr_t", "long"), ("ssize_t", "long"), ("at::Half", "__half"), ("u32", "unsigned int"),
        ("count32", "unsigned int"), ("wide", "long long"), ("Same<int>", "int"), ("count_t<true>", "long"),
        ("count_t<false>", "int"), ("count_t<kWide>", "int"), ("count_t<!kWide>", "long"), ("index_of<half>", "short"),
        ("index_of<float>", "long"), ("Plain::index", "unsigned long"), ("Derived::index", "unsigned long"),
        ("Traits<float>::size", "long long"), ("Traits<double>::size", "unsigned short"),
        ("Traits<int*>::size", "unsigned char"), ("typename Traits<char>::value", "char"),
        ("Same<Traits<double>>::size", "unsigned short"), ("lib::extent", "unsigned long"),
        ("lib::detail::extent", "int"), ("REAL", "double"), ("INDEX", "unsigned long"), ("of_header", "short"),
        ("std::make_unsigned<wide>::type", "unsigned long long"), ("std::remove_cv_t<const u32>", "unsigned int"),
        ("std::conditional_t<std::is_same_v<Plain::element, float>, int, char>", "int"),
        ("at::opmath_type<at::BFloat16>", "float"), ("decltype(sizeof(int))", "unsigned long"), ("Mode", "Mode"),
        ("places", "torch::PackedTensorAccessor32<long, 2, torch::RestrictPtrTraits>"),
    ],
)  # fmt: skip
def test_a_type_is_followed_to_its_end(written, meant):
    header = Source(Path("types.h"), "typedef short of_header;")
    usage = Usage(parse(Source(Path("k.cu"), DECLARED), headers=lambda *_: header), (header,))
    assert usage.named_type(written) == meant


@pytest.mark.parametrize(
    "written",
    ["nobodys_t", "nobodys::index_t", "both", "count_t<OTHER>", "Traits<nobodys_t>::value", "decltype(f(1))",
     "std::tuple_element_t<0, std::tuple<int>>", "std::conditional_t<(sizeof(nobodys_t) > 4), long, int>"],
)  # fmt: skip
def test_what_the_program_does_not_say_stays_unknown(written):
    usage = Usage(parse(Source(Path("k.cu"), DECLARED)))
    assert usage.named_type(written) == written


def scalar_of(type_: str, head: str = "") -> tuple[ScalarArg, tuple[str, ...]]:
    """Returns how a parameter `n` of a type is drafted, and what stays open about it."""
    kernel = f"__global__ void k(const float* x, float* y, {type_} n) {{ if (threadIdx.x < n) y[0] = x[0]; }}"
    (contract,) = draft(parse(Source(Path("k.cu"), DECLARED + head + kernel)))
    (found,) = (a for a in contract.arguments if isinstance(a, ScalarArg))
    return found, tuple(q.about for q in open_questions(contract) if q.about == "n")


@pytest.mark.parametrize("type_", ["u32", "ptrdiff_t", "count_t<true>", "Plain::index", "Traits<float>::size", "wide"])
def test_an_integer_by_any_name_is_a_size(type_):
    assert scalar_of(type_) == (ScalarArg("n", type_, "n"), ())


@pytest.mark.parametrize("type_", ["nobodys_t", "Plain", "Made", "decltype(f(1))"])
def test_a_type_without_a_known_value_is_a_question(type_):
    found, asked = scalar_of(type_, "struct Made { Made(float a); float a, b; };")
    assert (found.value, asked) == ("0", ("n",))


def test_a_number_of_an_explicit_instance_is_of_its_type():
    text = """
    template <typename T> __global__ void scale(T* x, T a, typename Traits<T>::size n) {
        if (threadIdx.x < n) x[threadIdx.x] *= a;
    }
    template __global__ void scale<int>(int*, int, long long);"""
    (contract,) = draft(parse(Source(Path("k.cu"), DECLARED + text)))
    x, a, n = contract.arguments
    assert x.dtype is DType.INT32
    assert (a.value, n.value) == ("a", "n")
    assert [q.about for q in open_questions(contract)] == ["x"]


def test_an_alias_of_a_pointer_is_a_buffer():
    text = "__global__ void k(Row x, counts y, u32 n) { if (threadIdx.x < n) y[threadIdx.x] = x[threadIdx.x]; }"
    (contract,) = draft(parse(Source(Path("k.cu"), DECLARED + text)))
    assert [(t.name, t.dtype, t.role.value) for t in contract.tensors] == [
        ("x", DType.FLOAT32, "in"),
        ("y", DType.UINT32, "out"),
    ]


def test_aliases_in_a_body_hide_neither_indices_nor_casts():
    text = """
    __global__ void pick(const u32* index, const float* x, float* y, int n) {
        u32 i = (u32)blockIdx.x * 64 + threadIdx.x;
        if (i < n) { u32 from = index[i]; y[i] = x[from]; }
    }"""
    (contract,) = draft(parse(Source(Path("k.cu"), DECLARED + text)))
    assert contract.tensors[0].values.value == "index"
    assert contract.entry.launch.grid[0] == "cdiv(n, 64)"


def test_aliases_in_a_body_are_followed_through_their_namespaces():
    text = """
    namespace lib { namespace sizes { typedef long index_t; } }
    __global__ void scale(const float* x, float* y, lib::sizes::index_t n) {
        lib::sizes::index_t i = blockIdx.x * (lib::sizes::index_t)blockDim.x + threadIdx.x;
        if (i < n) y[i] = 2 * x[i];
    }"""
    (contract,) = draft(parse(Source(Path("k.cu"), DECLARED + text)))
    assert contract.entry.launch.grid[0] == "cdiv(n, 256)"


def test_floats_of_which_nothing_is_known_are_not_the_same():
    text = """
    __global__ void clip(const float* x, float* y, int n, float low, float high, double eps, float scale = 2.0f) {
        if (threadIdx.x < n) y[threadIdx.x] = scale * fminf(fmaxf(x[threadIdx.x], low), high) + eps;
    }"""
    (contract,) = draft(parse(Source(Path("k.cu"), text)))
    values = {a.name: a.value for a in contract.arguments[3:]}
    assert float(values["low"]) < float(values["high"])
    assert len(set(values.values())) == len(values) == 4

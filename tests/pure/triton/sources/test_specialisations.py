"""Which specialisation of a template and which overload a kernel means, as C++ chooses."""

from pathlib import Path

import pytest

from porter.source.parse import parse
from porter.source_text import Source
from porter_triton.port import port

KINDS = """
enum class Kind { kSum, kMax };
template <typename A, typename B, Kind kind> struct Step;
template <typename T> struct Step<T, T, Kind::kSum> { __device__ T operator()(T a, T b) { return a + b; } };
template <typename T> struct Step<T, T, Kind::kMax> { __device__ T operator()(T a, T b) { return max(a, b); } };
template <> struct Step<float2, float2, Kind::kSum> {
  __device__ float2 operator()(float2 a, float2 b) { return make_float2(a.x + b.x, a.y - b.y); }
};
template <typename T, Kind kind> struct StepOf { using Op = Step<T, T, kind>; };
"""


def lowered(text, name="k"):
    """The body of the kernel `k`, which a launcher of 32 threads calls."""
    made = port(parse(Source(Path("op.cu"), text)), ())
    assert not made.findings, made.findings
    return made.files[0].text.split(f"def {name}(")[1].split("\ndef ")[0]


def test_the_most_specialised_specialisation_is_meant():
    found = lowered(
        KINDS
        + """
        template <Kind kind> __global__ void k(float* y, float2* z) {
          typename StepOf<float, kind>::Op op;
          typename StepOf<float2, Kind::kSum>::Op pairs;
          y[threadIdx.x] = op(y[threadIdx.x], 3.0f);
          z[threadIdx.x] = pairs(z[threadIdx.x], z[threadIdx.x + 32]);
        }
        void f(float* y, float2* z) { k<Kind::kMax><<<1, 32>>>(y, z); }"""
    )
    assert "tl.maximum" in found
    assert " - " in found


def test_a_specialisation_names_one_parameter_twice_only_for_equal_arguments():
    text = (
        KINDS
        + """
        template <typename A, typename B> struct Same { static constexpr int value = 5; };
        template <typename A> struct Same<A, A> { static constexpr int value = 7; };
        __global__ void k(int* y) { y[threadIdx.x] = Same<float, half>::value * 10 + Same<half, half>::value; }
        void f(int* y) { k<<<1, 32>>>(y); }"""
    )
    assert "57" in lowered(text)


def test_torchs_half_is_told_from_cudas_where_a_specialisation_does():
    text = """
        template <typename T> struct Wide { static constexpr int value = 1; };
        template <> struct Wide<half> { static constexpr int value = 2; };
        template <> struct Wide<at::Half> { static constexpr int value = 3; };
        template <typename T> __global__ void k(T* y, int* z) { z[threadIdx.x] = Wide<T>::value * 11; }
        void f(at::Half* y, int* z) { k<at::Half><<<1, 32>>>(y, z); }
        void g(half* y, int* z) { k<half><<<1, 32>>>(y, z); }"""
    assert "33" in lowered(text)
    assert "22" in lowered(text, "k__2")


def test_explicit_arguments_choose_among_overloaded_templates():
    found = lowered("""
        template <typename A, typename B, int N> __device__ void copy(const A* x, B* y) { *y = *x * 2; }
        template <typename T, int N> __device__ void copy(const T* x, T* y) { *y = *x * 3; }
        __global__ void k(float* y, const float* x) { copy<float, 4>(x + threadIdx.x, y + threadIdx.x); }
        void f(float* y, const float* x) { k<<<1, 32>>>(y, x); }""")
    assert "3.0" in found


@pytest.mark.parametrize("pragma", ['_Pragma("unroll")', '_Pragma("unroll 2")', '_Pragma("once")'])
def test_a_pragma_from_a_macro_is_read(pragma):
    found = lowered(f"""
        #define EACH(i, n) {pragma} for (int i = 0; i < n; ++i)
        __global__ void k(float* y) {{ EACH(i, 3) y[threadIdx.x] += 1.0f; }}
        void f(float* y) {{ k<<<1, 32>>>(y); }}""")
    assert "tl.store" in found


def test_a_function_is_a_template_argument():
    found = lowered("""
        #define EACH(NAME, ...) { using scalar_t = float; __VA_ARGS__ }
        template <typename T> __device__ T twice(const T& x) { return x + x; }
        template <typename T, T (*OP)(const T&)> __global__ void k(T* y) { y[threadIdx.x] = OP(y[threadIdx.x]); }
        void f(float* y) { EACH("op", k<scalar_t, twice<scalar_t>><<<1, 32>>>(y);) }""")
    assert " + " in found

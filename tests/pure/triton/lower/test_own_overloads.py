"""Names that the source and CUDA both give a function, and functions of CUDA's handed on by name."""

from pathlib import Path

from porter.source.parse import parse
from porter.source.text import Source
from porter.syntax.read import read_unit
from porter_triton.lower import Dimension, LaunchInfo, lower_kernel


def lowered(text: str) -> str:
    unit = read_unit(parse(Source(Path("op.cu"), text)))
    return lower_kernel(unit, unit.kernels[0], LaunchInfo((Dimension(32, ""), Dimension(1), Dimension(1)))).text


def test_an_overload_on_vectors_calls_cudas_on_their_parts():
    text = lowered("""
    __device__ float2 exp(float2 a) { return {exp(a.x), exp(a.y)}; }
    __global__ void k(const float2* x, float2* y) { y[threadIdx.x] = exp(x[threadIdx.x]); }""")
    assert "tl.exp(" in text


def test_an_overload_of_an_atomic_calls_cudas():
    text = lowered("""
    __device__ float atomicMax(float* p, float v) {
        return __int_as_float(atomicMax(reinterpret_cast<int*>(p), __float_as_int(v)));
    }
    __global__ void k(const float* x, float* y) { atomicMax(y, x[threadIdx.x]); }""")
    assert text.count("tl.atomic_max(") == 1


def test_one_in_std_does_not_hide_cudas():
    text = lowered("""
    struct Half { float v; };
    namespace std { __device__ Half exp(Half a) { return {std::exp(a.v)}; } }
    __global__ void k(const float* x, float* y) { y[threadIdx.x] = std::exp(x[threadIdx.x]); }""")
    assert text.count("tl.exp(") == 1


def test_one_in_a_namespace_hides_cudas():
    text = lowered("""
    namespace own { __device__ float exp(float a) { return a + 1.0f; } }
    __global__ void k(const double* x, double* y) { y[threadIdx.x] = own::exp(x[threadIdx.x]); }""")
    assert "tl.exp(" not in text


def test_cudas_goes_by_name():
    text = lowered("""
    template <typename F> __device__ float over(F f, const float* x, float a) {
        for (int i = threadIdx.x; i < 100; i += 32) a = f(a, x[i]);
        return a;
    }
    __global__ void k(const float* x, float* y) { y[threadIdx.x] = over(fmaxf, x, 0.f); }""")
    assert "tl.maximum(" in text

"""Vectors of a launcher: functions and operators that the source defines for them, beside CUDA's own constructors."""

import pytest

from porter_triton.refusal import Refusal
from tests.pure.triton.host_sources import translated

VECTORS = """
typedef unsigned int uint;
inline uint3 make_uint3(uint s) { return make_uint3(s, s, s); }
inline uint3 make_uint3(uint2 a, uint s) { return make_uint3(a.x, a.y, s); }
inline float3 make_float3(float s) { return make_float3(s, s, s); }
inline float3 make_float3(float2 a) { return make_float3(a.x, a.y, 0.0f); }
inline float3 make_float3(uint3 a) { return make_float3(float(a.x), float(a.y), float(a.z)); }
inline float3 operator/(float3 a, float3 b) { return make_float3(a.x / b.x, a.y / b.y, a.z / b.z); }
inline float3 operator/(float3 a, float b) { return make_float3(a.x / b, a.y / b, a.z / b); }
__global__ void shift(float* y, float3 by, int n) { if (threadIdx.x < n) y[threadIdx.x] += by.x * by.y * by.z; }
"""


def test_overloads_of_a_constructor_stand_beside_cudas():
    found = translated(f"""{VECTORS} void f(float* y, int n) {{
        const uint3 size = make_uint3(n, 2, 16); shift<<<1, 64>>>(y, make_float3(size) / -2.0, n); }}""")
    assert "shift[(1,)](y, n / -2.0, 2.0 / -2.0, 16.0 / -2.0, n, BLOCK_SIZE=64" in found


def test_the_constructor_is_the_one_of_the_type_that_it_is_given():
    found = translated(f"""{VECTORS} void f(float* y, float2 by, int n) {{
        shift<<<1, 64>>>(y, make_float3(by) / make_float3(4.0f), n); }}""")
    assert "shift[(1,)](y, by_x / 4.0, by_y / 4.0, 0.0 / 4.0, n, BLOCK_SIZE=64" in found


def test_an_operator_that_the_source_does_not_define_is_refused():
    with pytest.raises(Refusal, match="'-' of a struct"):
        translated(f"{VECTORS} void f(float* y, float3 by, int n) {{ shift<<<1, 64>>>(y, by - by, n); }}")

"""CUDA's functions that are made of others, against Python's and loops over bits."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest

from tests.pure.ir.simt.test_builder import built, run

X = np.array([-3.75, -2.5, -2.0, -1.25, -0.5, -0.0, 0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 5.5, 11.0], np.float32)
INSIDE = np.clip(X / 12, -0.95, 0.95)


def answers(expression: str, x: np.ndarray = X) -> np.ndarray:
    """The value of an expression of `x[t]` in doubles, for each number of `x`."""
    names = "int t = threadIdx.x; float x = xs[t]; int e; float f; double d;"
    made = built(f"__global__ void k(const float* xs, double* y) {{ {names} y[t] = {expression}; }}")
    return run(made, x, np.zeros(len(x)), block=len(x))[1]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("rcbrtf(x + 4.f)", lambda x: (x + 4.0) ** (-1 / 3)),
        ("norm3df(x, 2.f, 3.f)", lambda x: math.sqrt(x * x + 13)),
        ("rnorm4d(x, 1.0, 2.0, 3.0)", lambda x: 1 / math.sqrt(x * x + 14)),
        ("rhypotf(x, 2.f)", lambda x: 1 / math.hypot(x, 2)),
        ("fdimf(x, 1.f)", lambda x: max(x - 1, 0)),
        ("sinpif(x)", lambda x: 0.0 if x == round(x) else math.sin(math.pi * x)),
        ("cospi(x)", lambda x: 0.0 if x * 2 % 2 == 1 else math.cos(math.pi * x)),
        ("(sincospi(x, &d, y + t), d)", lambda x: 0.0 if x == round(x) else math.sin(math.pi * x)),
        ("normcdf(x)", NormalDist().cdf),
        ("erfcx(x)", lambda x: math.exp(x * x) * math.erfc(x)),
        ("tgammaf(x + 0.125f)", lambda x: math.gamma(x + 0.125)),
        ("ldexpf(x, -140)", lambda x: float(np.float32(math.ldexp(x, -140)))),
        ("ldexp(x, 1000)", lambda x: math.ldexp(x, 1000)),
        ("frexpf(x, &e) + 100 * e", lambda x: math.frexp(x)[0] + 100 * math.frexp(x)[1]),
        ("ilogb(x + 4.f)", lambda x: math.frexp(x + 4)[1] - 1),
        ("logbf(x + 4.f)", lambda x: math.frexp(x + 4)[1] - 1),
        ("modff(x, &f) + 100 * f", lambda x: math.modf(x)[0] + 100 * math.modf(x)[1]),
        ("remainderf(x, 2.f)", lambda x: math.remainder(x, 2)),
        ("remainder(x, 0.75)", lambda x: math.remainder(x, 0.75)),
        ("nextafterf(x, 100.f)", lambda x: float(np.nextafter(np.float32(x), np.float32(100)))),
        ("nextafter((double)x, -100.0)", lambda x: math.nextafter(x, -100)),
        ("scalblnf(x, -3L)", lambda x: x / 8),
        ("isnormal(x * 1e-39f)", lambda x: abs(x) * 1e-39 >= 2.0**-126),
        ("__hiloint2double(__double2hiint(x), __double2loint(x))", lambda x: x),
        ("std::numeric_limits<float>::denorm_min()", lambda _: 2.0**-149),
        ('nanf("") == x', lambda _: 0),
        ("(f = 3.f, std::swap(x, f), x - 2.f * f)", lambda x: 3 - 2 * x),
        ("__half2float(__hadd_sat(__float2half(x), __float2half(0.5f)))", lambda x: min(max(x + 0.5, 0), 1)),
        ("__half2float(__hmax_nan(__float2half(x), __float2half(0.5f)))", lambda x: max(x, 0.5)),
        ("__half2float(h2sqrt(__float2half2_rn(x * x)).y)", abs),
        ("__low2float(__lowhigh2highlow(__floats2half2_rn(1.f, x)))", lambda x: x),
        ("__low2float(__highs2half2(__floats2half2_rn(1.f, x), __float2half2_rn(7.f)))", lambda x: x),
        ("__low2float(__float2bfloat162_rn(x))", lambda x: x),
        ("__low2float(__high2bfloat162(__floats2bfloat162_rn(1.f, x)))", lambda x: x),
        ("__hbgt2(__float2half2_rn(x), __floats2half2_rn(0.f, 1.f))", lambda x: x > 1),
        ("signbit(x)", lambda x: math.copysign(1, x) < 0),
    ],
)
def test_functions_of_numbers(expression, expected):
    found = answers(expression)
    assert found == pytest.approx([float(expected(float(x))) for x in X], rel=4e-7, abs=1e-45)


def test_inverses_of_the_error_function():
    assert [math.erf(y) for y in answers("erfinv((double)x)", INSIDE)] == pytest.approx(INSIDE, rel=1e-12, abs=1e-15)
    assert [math.erf(y) for y in answers("erfinvf(x)", INSIDE)] == pytest.approx(INSIDE, rel=4e-7)
    half = (INSIDE + 1) / 2
    assert answers("normcdfinv((double)x)", half) == pytest.approx([NormalDist().inv_cdf(p) for p in half], abs=1e-12)
    assert [math.erfc(y) for y in answers("erfcinv((double)x)", half)] == pytest.approx(half, rel=1e-12)


A, B = 0x80FF7F01, 0x12345678


def _signed(word: int, place: int) -> int:
    byte = word >> 8 * place & 0xFF
    return byte - 256 if byte > 127 else byte


def _half(word: int, place: int) -> int:
    half = word >> 16 * place & 0xFFFF
    return half - 65536 if half > 32767 else half


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (f"__byte_perm({A}u, {B}u, 0x7a42u)", 0x12FF78FF),
        (f"__funnelshift_l({A}u, {B}u, 40u)", (B << 32 | A) << 8 >> 32 & 0xFFFFFFFF),
        (f"__funnelshift_lc({A}u, {B}u, 40u)", A),
        (f"__funnelshift_r({A}u, {B}u, 4u)", (B << 32 | A) >> 4 & 0xFFFFFFFF),
        (f"__dp4a((int){A}u, (int){B}u, 5)", 5 + sum(_signed(A, k) * _signed(B, k) for k in range(4))),
        (f"__dp4a({A}u, {B}u, 5u)", 5 + sum((A >> 8 * k & 255) * (B >> 8 * k & 255) for k in range(4))),
        (f"__dp2a_hi((int){A}u, (int){B}u, 5)", 5 + _half(A, 0) * _signed(B, 2) + _half(A, 1) * _signed(B, 3)),
        (f"__dp2a_lo({A}u, {B}u, 5u)", 5 + (A & 0xFFFF) * (B & 255) + (A >> 16) * (B >> 8 & 255)),
        ("at::ceil_div(7, 2) + 10 * THCCeilDiv(9L, 3L) + 100 * at::cuda::ATenCeilDiv(1, 4)", 134),
        ("UCHAR_MAX + CHAR_BIT + SHRT_MIN", 255 + 8 - 32768),
        ("__rhadd(-3, 4)", 1),
        ("__uhadd(4294967295u, 4294967293u)", 4294967294),
        ("__urhadd(4294967295u, 4294967292u)", 4294967294),
        ("__sad(-2000000000, 2000000000, 7u)", 4000000007),
        ("__usad(3u, 10u, 1u)", 8),
    ],
)
def test_functions_of_integers(expression, expected):
    assert answers(expression, X[:1])[0] == expected


def test_a_function_of_the_source_goes_before():
    text = "__device__ float remainder(float a, float b) { return a - b; }"
    made = built(f"{text} __global__ void k(const float* x, float* y) {{ *y = remainder(*x, 2.f); }}")
    assert run(made, np.array([7], np.float32), np.zeros(1, np.float32), block=1)[1][0] == 5


@pytest.mark.parametrize("value", ["held", "(float)held", "(long long)held << 40", "(double)held"])
def test_lanes_are_told_which_ones_hold_the_same(value):
    made = built(f"""__global__ void k(unsigned int* y) {{
        int t = threadIdx.x, held = t * 7 % 5;
        if (t % 3 != 0 && t % 32 < 30) y[t] = __match_any_sync(0x3fffffffu, {value});
    }}""")
    held, takes_part = np.arange(40) * 7 % 5, (np.arange(40) % 3 != 0) & (np.arange(40) % 32 < 30)
    same = [sum(1 << k % 32 for k in range(40) if takes_part[k] and held[k] == held[t] and k // 32 == t // 32)
            for t in range(40)]  # fmt: skip
    found = run(made, np.zeros(40, np.uint32), block=40)[0]
    assert found[takes_part].tolist() == np.array(same)[takes_part].tolist()


@pytest.mark.parametrize(("value", "expected"), [("4", 0xFFFFFFFF + 1), ("t", 0)])
def test_lanes_are_told_whether_all_hold_the_same(value, expected):
    made = built(f"""__global__ void k(long long* y) {{
        int t = threadIdx.x, holds = 7;
        unsigned int lanes = __match_all_sync(0xffffffffu, {value}, &holds);
        y[t] = (long long)lanes + holds;
    }}""")
    assert set(run(made, np.zeros(32, np.int64), block=32)[0]) == {expected}


_NUMBERS = np.array([0, 1, -1, 16777217, -16777217, 16777219, -16777219, 2147483647, -2147483647, 123456789], np.int32)


@pytest.mark.parametrize(
    ("mode", "towards"),
    [("rz", 0.0), ("rd", -math.inf), ("ru", math.inf)],
)
def test_floats_of_numbers_are_rounded_in_the_direction_asked_for(mode, towards):
    kernel = f"__global__ void k(const int* xs, float* y) {{ y[threadIdx.x] = __int2float_{mode}(xs[threadIdx.x]); }}"
    found = run(built(kernel), _NUMBERS, np.zeros(len(_NUMBERS), np.float32), block=len(_NUMBERS))[1]
    assert found.tolist() == [_rounded(int(x), towards) for x in _NUMBERS]
    kernel = kernel.replace("int*", "double*").replace("__int", "__double")
    doubles = np.array([1e300, -1e300, 1e-50, -1e-50, 0.1, -0.1, 0.5, 1 / 3, 3.0, -0.0])
    found = run(built(kernel), doubles, np.zeros(len(doubles), np.float32), block=len(doubles))[1]
    assert found.tolist() == [_rounded(float(x), towards) for x in doubles]


def _rounded(x, towards):
    """The float next to `x` in the direction of `towards`, or `x` itself where it is one."""
    with np.errstate(over="ignore"):
        nearest = np.float32(x)
    is_beyond = abs(float(nearest)) > abs(x) if towards == 0 else (float(nearest) - x) * towards < 0
    if towards == 0:
        return float(np.nextafter(nearest, np.float32(0))) if is_beyond else float(nearest)
    return float(np.nextafter(nearest, np.float32(towards))) if is_beyond else float(nearest)

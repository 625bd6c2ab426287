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


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (f"__byte_perm({A}u, {B}u, 0x7a42u)", 0x12FF78FF),
        (f"__funnelshift_l({A}u, {B}u, 40u)", (B << 32 | A) << 8 >> 32 & 0xFFFFFFFF),
        (f"__funnelshift_lc({A}u, {B}u, 40u)", A),
        (f"__funnelshift_r({A}u, {B}u, 4u)", (B << 32 | A) >> 4 & 0xFFFFFFFF),
        (f"__dp4a((int){A}u, (int){B}u, 5)", 5 + sum(_signed(A, k) * _signed(B, k) for k in range(4))),
        (f"__dp4a({A}u, {B}u, 5u)", 5 + sum((A >> 8 * k & 255) * (B >> 8 * k & 255) for k in range(4))),
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

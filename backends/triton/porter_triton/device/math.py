# ruff: noqa: ANN001, ANN201, PLR0124 - Triton reads annotations as its own, and x != x is NaN
# mypy: ignore-errors
"""Mathematical functions that Triton's language lacks, for float32 and float64, scalars and tensors.

The same text runs in the interpreter and in the compiler. Errors are a few units in the last place unless a function
says otherwise; zeros, infinities and NaN are those of CUDA.
"""

import triton
import triton.language as tl

from porter_triton.device.bits import copysign, signbit


@triton.jit
def expm1(x):
    """exp(x) - 1: in float32 x is r + n log(2) and a polynomial gives exp(r) - 1, within 2.2 units in the last place.

    In float64 near 0 the rounding error of exp cancels against that of log (Kahan).
    """
    if x.dtype == tl.float64:
        u = tl.exp(x)
        near = tl.where(u == 1.0, x, (u - 1.0) * x / tl.log(tl.where(u == 1.0, 2.0, u)))
        y = tl.where(tl.abs(x) < 1.0, near, u - 1.0)
    else:
        a = tl.where(x > 89.0, 89.0, tl.where(x < -30.0, -30.0, x))
        n = (a * 1.4426950408889634 + 12582912.0) - 12582912.0
        r = (a - n * 0.693145751953125) - n * 1.4286067653e-6
        p = (1.98412698e-4 * r + 1.38888889e-3) * r + 8.33333333e-3
        p = ((p * r + 4.16666667e-2) * r + 1.66666667e-1) * r + 0.5
        p = r * (p * r + 1.0)
        half = ((n.to(tl.int32) + 126) << 23).to(tl.float32, bitcast=True)
        y = tl.where(n == 0.0, p, 2.0 * (half * p + (half - 0.5)))
    return y


@triton.jit
def log1p(x):
    """log(1 + x): in float32 that is n log(2) and a polynomial for log(1 + m), within 1.1 units in the last place.

    In float64 the rounding error of 1 + x cancels (Kahan).
    """
    u = 1.0 + x
    if x.dtype == tl.float64:
        d = u - 1.0
        exact = (d == 0.0) | (u == float("inf"))
        y = tl.where(exact, x, tl.log(u) * (x / tl.where(exact, 1.0, d)))
    else:
        shift = (u.to(tl.int32, bitcast=True) - 0x3F400000) & -0x800000  # n, where the exponent lies in a float
        m = (x.to(tl.int32, bitcast=True) - shift).to(tl.float32, bitcast=True)
        m = m + (0.25 * (0x40800000 - shift).to(tl.float32, bitcast=True) - 1.0)
        p = (-4.49090898e-2 * m + 1.04482776e-1) * m - 1.31622237e-1
        p = ((p * m + 1.44820678e-1) * m - 1.66477686e-1) * m + 1.99906065e-1
        p = ((p * m - 2.50000545e-1) * m + 3.33334544e-1) * m - 0.5
        p = (m * m * p + m) + shift.to(tl.float32) * 8.262958295e-8
        y = tl.where((x == 0.0) | (x == float("inf")), x, p)
        y = tl.where(x > -1.0, y, tl.where(x == -1.0, float("-inf"), float("nan")))
    return y


@triton.jit
def tanh(x):
    """Hyperbolic tangent."""
    a = tl.abs(x)
    if x.dtype == tl.float64:
        t = expm1(2.0 * tl.where(a > 22.0, 22.0, a))
        y = t / (t + 2.0)
    else:
        s = x * x
        p = -5.70498872745e-3 * s + 2.06390887954e-2
        p = (p * s - 5.37397155531e-2) * s + 1.33314422036e-1
        near = ((p * s - 3.33332819422e-1) * s) * a + a
        y = tl.where(a < 0.625, near, 1.0 - 2.0 / (tl.exp(2.0 * a) + 1.0))
    return copysign(y, x)


@triton.jit
def sinh(x):
    """Hyperbolic sine."""
    a = tl.abs(x)
    t = expm1(tl.where(a > 20.0, 20.0, a))
    h = tl.exp(0.5 * a)
    return copysign(tl.where(a > 20.0, (0.5 * h) * h, 0.5 * (t + t / (t + 1.0))), x)


@triton.jit
def cosh(x):
    """Hyperbolic cosine."""
    h = tl.exp(0.5 * tl.abs(x))
    return (0.5 * h) * h + (0.5 / h) / h


@triton.jit
def asinh(x):
    """Inverse hyperbolic sine."""
    a = tl.abs(x)
    far = a > 268435456.0
    b = tl.where(far, 1.0, a)
    near = log1p(b + b * b / (1.0 + tl.sqrt(b * b + 1.0)))
    return copysign(tl.where(far, tl.log(a) + 0.6931471805599453, near), x)


@triton.jit
def acosh(x):
    """Inverse hyperbolic cosine."""
    far = x > 268435456.0
    t = tl.where(far, 1.0, x) - 1.0
    return tl.where(far, tl.log(x) + 0.6931471805599453, log1p(t + tl.sqrt(2.0 * t + t * t)))


@triton.jit
def atanh(x):
    """Inverse hyperbolic tangent."""
    a = tl.abs(x)
    return copysign(0.5 * log1p(2.0 * a / (1.0 - a)), x)


@triton.jit
def atan(x):
    """Inverse tangent: the argument is folded into [0, tan(pi/8)] or [0, 0.66]."""
    a = tl.abs(x)
    high = a > 2.414213562373095
    if x.dtype == tl.float64:
        middle = (a > 0.66) & (a <= 2.414213562373095)
    else:
        middle = (a > 0.4142135623730950) & (a <= 2.414213562373095)
    r = tl.where(high, -1.0 / a, tl.where(middle, (a - 1.0) / (a + 1.0), a))
    base = 1.5707963267948966 * high.to(x.dtype) + 0.7853981633974483 * middle.to(x.dtype)
    z = r * r
    if x.dtype == tl.float64:
        p = -8.750608600031904122785e-1 * z - 1.615753718733365076637e1
        p = (p * z - 7.500855792314704667340e1) * z - 1.228866684490136173410e2
        p = p * z - 6.485021904942025371773e1
        q = (z + 2.485846490142306297962e1) * z + 1.650270098316988542046e2
        q = (q * z + 4.328810604912902668951e2) * z + 4.853903996359136964868e2
        q = q * z + 1.945506571482613964425e2
        p = p / q
    else:
        p = (8.05374449538e-2 * z - 1.38776856032e-1) * z + 1.99777106478e-1
        p = p * z - 3.33329491539e-1
    return copysign(base + (r * (z * p) + r), x)


@triton.jit
def atan2(y, x):
    """The angle of the point (x, y)."""
    a = tl.abs(x)
    b = tl.abs(y)
    low = tl.where(b > a, a, b)
    high = tl.where(b > a, b, a)
    r = tl.where(low == high, tl.where(high == 0.0, 0.0, 1.0).to(x.dtype), low / tl.where(high == 0.0, 1.0, high))
    r = tl.where((x != x) | (y != y), x + y, r)
    t = atan(r)
    t = tl.where(b > a, 1.5707963267948966 - t, t)
    t = tl.where(signbit(x), 3.141592653589793 - t, t)
    return copysign(t, y)


@triton.jit
def asin(x):
    """Inverse sine."""
    return atan(x / tl.sqrt((1.0 - x) * (1.0 + x)))


@triton.jit
def acos(x):
    """Inverse cosine."""
    return 2.0 * atan(tl.sqrt((1.0 - x) / (1.0 + x)))


@triton.jit
def sinpi(x):
    """sin(pi x), exactly 0 with the sign of x at integers."""
    r = x - 2.0 * tl.floor(0.5 * x + 0.5)
    r = tl.where(r > 0.5, 1.0 - r, tl.where(r < -0.5, -1.0 - r, r))
    return tl.where(r == 0.0, copysign(r, x), tl.sin(3.141592653589793 * r))


@triton.jit
def exp10(x):
    """10 to the power of x; in float64 the relative error grows with |x| to about 1e-13."""
    return tl.exp(x.to(tl.float64) * 2.302585092994046).to(x.dtype)


@triton.jit
def cbrt(x):
    """Cube root."""
    a = tl.abs(x.to(tl.float64))
    root = tl.exp(tl.log(a) / 3.0)
    regular = (a > 0.0) & (a < float("inf"))
    better = root - (root * root * root - a) / (3.0 * root * root)
    return copysign(tl.where(regular, better, a).to(x.dtype), x)


@triton.jit
def hypot(x, y):
    """sqrt(x * x + y * y) without overflow of the squares."""
    a = tl.abs(x)
    b = tl.abs(y)
    low = tl.where(b > a, a, b)
    high = tl.where(b > a, b, a)
    ratio = low / tl.where(high == 0.0, 1.0, high)
    long = tl.where(low == 0.0, high, high * tl.sqrt(1.0 + ratio * ratio))
    return tl.where((a == float("inf")) | (b == float("inf")), float("inf"), long)


@triton.jit
def power(x, y):
    """x to the power of y; in float64 the relative error grows with |y log x| to about 1e-13."""
    a = tl.abs(x).to(tl.float64)
    b = y.to(tl.float64)
    power = tl.exp(b * tl.log(a))
    power = tl.where((b == 0.0) | (a == 1.0) & (b == b), 1.0, power)
    whole = tl.floor(b) == b
    odd = whole & (tl.floor(0.5 * b) * 2.0 != b) & (tl.abs(b) < float("inf"))
    negative = copysign(power, x.to(tl.float64))
    power = tl.where(odd, negative, power)
    power = tl.where((x < 0.0) & ~whole & (a < float("inf")), float("nan"), power)
    return tl.where((x == 1.0) | (b == 0.0), 1.0, power).to(x.dtype)


@triton.jit
def fmod(x, y):
    """The remainder of x / y with the sign of x; float32 is exact for quotients below 2**29."""
    a = tl.abs(x.to(tl.float64))
    b = tl.abs(y.to(tl.float64))
    r = a % b
    r = tl.where(r < 0.0, r + b, r)
    r = tl.where(b == float("inf"), a, r)
    return copysign(tl.where(a == float("inf"), float("nan"), r).to(x.dtype), x)

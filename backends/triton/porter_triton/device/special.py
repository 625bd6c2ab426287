# ruff: noqa: ANN001, ANN201, PLR0124 - Triton reads annotations as its own, and x != x is NaN
# mypy: ignore-errors
"""Error and gamma functions, computed in float64 and rounded once to float32; float64 has about 14 digits."""

import triton
import triton.language as tl

from porter_triton.device.math import sinpi


@triton.jit
def erfc(x):
    """1 - erf(x) without cancellation: t exp(-x^2 + p(t)) with t = 2 / (2 + x), p a polynomial fit."""
    a = tl.abs(x.to(tl.float64))
    t = 2.0 / (2.0 + a)
    s = 2.6797385620915033 * t - 1.1786492374727669
    p = 1.0963445298883064e-10 * s + -1.8984655345397867e-10
    p = ((p * s - 9.097444283042656e-10) * s + 2.7679744282454346e-9) * s + 1.8612699912733947e-9
    p = ((p * s - 1.9942063179226012e-8) * s + 1.9722078746346006e-8) * s + 8.9760170756587154e-8
    p = ((p * s - 2.3989320069951935e-7) * s - 2.2075486117128392e-7) * s + 1.6355787925186879e-6
    p = ((p * s - 4.3324823726067575e-7) * s - 8.9412979309121303e-6) * s + 9.827537983357605e-6
    p = ((p * s + 4.5018730208214685e-5) * s - 8.4782180797264475e-5) * s - 0.00023832444223655258
    p = ((p * s + 0.00061787060856839477) * s + 0.0015918890002861767) * s - 0.0045490724479327064
    p = ((p * s - 0.017021827377136531) * s + 0.035241260459357342) * s + 0.49205612210353879
    p = p * s - 0.7519651626402586
    far = tl.where(a > 28.0, 0.0, t * tl.exp(p - a * a))
    far = tl.where(x < 0.0, 2.0 - far, far)
    return tl.where(a < 0.5, 1.0 - tl.erf(x.to(tl.float64)), tl.where(x != x, x, far)).to(x.dtype)


@triton.jit
def lanczos(z):
    """log(gamma(z)) for z >= 0.5, a float64 (Lanczos, g = 7)."""
    y = z - 1.0
    sum = 0.99999999999980993 + 676.5203681218851 / (y + 1.0) - 1259.1392167224028 / (y + 2.0)
    sum += 771.32342877765313 / (y + 3.0) - 176.61502916214059 / (y + 4.0) + 12.507343278686905 / (y + 5.0)
    sum += 9.9843695780195716e-6 / (y + 7.0) - 0.13857109526572012 / (y + 6.0) + 1.5056327351493116e-7 / (y + 8.0)
    t = y + 7.5
    return 0.9189385332046727 + (y + 0.5) * tl.log(t) - t + tl.log(sum)


@triton.jit
def lgamma(x):
    """log(|gamma(x)|)."""
    a = x.to(tl.float64)
    reflected = a < 0.5
    sine = tl.abs(sinpi(tl.where(reflected, a, 0.5)))
    y = lanczos(tl.where(reflected, 1.0 - a, a))
    y = tl.where(reflected, 1.1447298858494002 - tl.log(sine) - y, y)
    y = tl.where((a == 1.0) | (a == 2.0), 0.0, y)
    return tl.where(tl.abs(a) == float("inf"), float("inf"), y).to(x.dtype)

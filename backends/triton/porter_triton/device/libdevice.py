"""CUDA's libdevice in Triton's interpreter, which has nothing of it: `libdevice.tanh`, `erf`, `pow`, and their like.

A module gets it under two names: `triton.language.extra.cuda.libdevice` itself, and `triton.language.extra.libdevice`,
of which the compiler makes that of its target. What they call is a symbol, `__nv_tanhf`. Everything is computed in
double precision and rounded once.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Mapping, Sequence
from statistics import NormalDist
from types import FunctionType
from typing import Any

import numpy as np
import triton.language as tl
from numpy.typing import NDArray
from triton.language.extra import libdevice as of_any_target
from triton.language.extra.cuda import libdevice
from triton.runtime.interpreter import InterpreterBuilder, TensorHandle, _get_np_dtype, interpreter_semantic

from porter import float_conversions

_Array = NDArray[Any]
_NORMAL = NormalDist()
# `__nv_float2int_rz`: what a conversion does before it changes the type.
_CONVERSION = re.compile(r"(?:float|double|int|uint|ll|ull)2(?:float|double|int|uint|ll|ull)_(rn|rz|rd|ru)")
_TO_WHOLE: Mapping[str, Callable[[_Array], _Array]] = {"rn": np.rint, "rz": np.trunc, "rd": np.floor, "ru": np.ceil}
_BITS = re.compile(r"(?:int|uint|float|longlong|double)_as_(?:int|uint|float|longlong|double)")
_ROUNDED = re.compile(r"(?:fast_)?[fd]?(add|sub|mul|div|sqrt|rcp|rsqrt|fma)f?(?:_rn|ide|idef)?")


def offer_libdevice() -> None:
    """Both modules answer in kernels, for the life of a process that interprets."""
    InterpreterBuilder.create_extern_elementwise = _call
    for name, function in list(vars(libdevice).items()):
        if isinstance(function, FunctionType) and not name.startswith("_"):
            bound = functools.partial(function, _semantic=interpreter_semantic)
            for module in (libdevice, of_any_target):
                setattr(module, name, bound)


def _call(
    _builder: InterpreterBuilder,
    _library: str,
    _path: str,
    symbol: str,
    given: Sequence[TensorHandle],
    type_: tl.dtype,
    _pure: bool,
) -> TensorHandle:
    name, target = symbol.removeprefix("__nv_"), type_.scalar
    dtype = np.dtype(_get_np_dtype(target))
    if _BITS.fullmatch(name):
        return TensorHandle(given[0].data.view(dtype), target)
    function = _function(name)
    if function is None:
        raise NotImplementedError(f"libdevice's {symbol} is not known to the interpreter")
    exact = all(h.data.dtype.kind != "f" for h in given)
    with np.errstate(all="ignore"):
        made = np.asarray(function(*(h.data if exact else h.data.astype(np.float64) for h in given)))
    if dtype.kind in "iu" and made.dtype.kind == "f":
        is_double = given[0].dtype.scalar == tl.float64
        return TensorHandle(float_conversions.converted(made, dtype, is_double=is_double), target)
    return TensorHandle(made.astype(dtype), target)


def _function(name: str) -> Callable[..., _Array] | None:
    """Returns what a symbol computes; None where that is not known."""
    if found := _CONVERSION.fullmatch(name):
        whole = _TO_WHOLE[found[1]]
        return whole if name.startswith(("float", "double")) else (lambda x: x)
    if found := _ROUNDED.fullmatch(name):
        return _FUNCTIONS[found[1]]
    plain = name.removeprefix("fast_")
    return next(
        (_FUNCTIONS[n] for n in (plain, plain[:-1]) if n in _FUNCTIONS and plain[len(n) :] in ("", "f", "d")), None
    )


def _each(function: Callable[..., float]) -> Callable[..., _Array]:
    """A function of Python's for every element; NaN where it has no answer, infinite where that is too large."""

    def one(*x: float) -> float:
        try:
            return function(*x)
        except ValueError:
            return math.nan
        except OverflowError:
            return math.inf

    return np.vectorize(one, otypes=[np.float64])


def _inverse_normal(p: float) -> float:
    if 0 < p < 1:
        return _NORMAL.inv_cdf(p)
    return math.copysign(math.inf, p - 0.5) if p in (0, 1) else math.nan


def _lgamma(x: float) -> float:
    return math.inf if x <= 0 and x == math.floor(x) else math.lgamma(x)


def _bits_set(x: _Array) -> _Array:
    set_of = np.vectorize(lambda v: int(v).bit_count(), otypes=[np.int32])
    return np.asarray(set_of(x.view(f"u{x.dtype.itemsize}")))


def _leading_zeros(x: _Array) -> _Array:
    width = 8 * x.dtype.itemsize
    zeros = np.vectorize(lambda v: width - int(v).bit_length(), otypes=[np.int32])
    return np.asarray(zeros(x.view(f"u{x.dtype.itemsize}")))


def _high(x: _Array, y: _Array) -> _Array:
    """The upper half of a product."""
    product = x.astype(object) * y.astype(object)
    return np.asarray(product >> (8 * x.dtype.itemsize)).astype(x.dtype)


_FUNCTIONS: Mapping[str, Callable[..., _Array]] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "fma": lambda x, y, z: x * y + z,
    "sqrt": np.sqrt, "rsqrt": lambda x: 1 / np.sqrt(x), "rcp": lambda x: 1 / x, "cbrt": np.cbrt,
    "rcbrt": lambda x: 1 / np.cbrt(x), "abs": np.abs, "fabs": np.abs, "llabs": np.abs, "floor": np.floor,
    "ceil": np.ceil, "trunc": np.trunc, "rint": np.rint, "nearbyint": np.rint, "llrint": np.rint,
    "round": lambda x: np.copysign(np.floor(np.abs(x) + 0.5), x), "saturate": lambda x: np.fmin(np.fmax(x, 0), 1),
    "llround": lambda x: np.copysign(np.floor(np.abs(x) + 0.5), x),
    "exp": np.exp, "exp2": np.exp2, "exp10": lambda x: np.power(10.0, x), "expm1": np.expm1, "log": np.log,
    "log2": np.log2, "log10": np.log10, "log1p": np.log1p, "logb": lambda x: np.frexp(x)[1] - 1.0,
    "ilogb": lambda x: np.frexp(x)[1] - 1.0, "sin": np.sin, "cos": np.cos, "tan": np.tan, "asin": np.arcsin,
    "acos": np.arccos, "atan": np.arctan, "atan2": np.arctan2, "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh,
    "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh, "sinpi": lambda x: np.sin(np.pi * np.fmod(x, 2)),
    "cospi": lambda x: np.cos(np.pi * np.fmod(x, 2)), "pow": np.power, "powi": np.power, "hypot": np.hypot,
    "rhypot": lambda x, y: 1 / np.hypot(x, y), "fmod": np.fmod, "fdim": lambda x, y: np.fmax(x - y, 0),
    "remainder": _each(math.remainder), "copysign": np.copysign, "fmax": np.fmax, "fmin": np.fmin, "max": np.maximum,
    "min": np.minimum, "ldexp": lambda x, n: np.ldexp(x, n.astype(np.int64)),
    "scalbn": lambda x, n: np.ldexp(x, n.astype(np.int64)), "isnan": np.isnan, "isinf": np.isinf,
    "finite": np.isfinite, "isfinite": np.isfinite, "signbit": np.signbit, "erf": _each(math.erf),
    "erfc": _each(math.erfc), "normcdf": _each(_NORMAL.cdf), "normcdfinv": _each(_inverse_normal),
    "erfinv": _each(lambda x: _inverse_normal((x + 1) / 2) / math.sqrt(2)), "lgamma": _each(_lgamma),
    "tgamma": _each(math.gamma), "clz": _leading_zeros, "clzll": _leading_zeros, "popc": _bits_set,
    "popcll": _bits_set, "mulhi": _high, "umulhi": _high, "mul64hi": _high, "umul64hi": _high,
}  # fmt: skip

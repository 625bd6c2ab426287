"""Floats as numbers of numpy, rounded to their type after each operation.

What IEEE 754 defines has its bits. Other functions are computed in double precision and rounded, so of a `float` they
have the nearest value but for one of some hundred million; halves of both kinds are computed as `float`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from types import MappingProxyType

import numpy as np

from porter import float_conversions
from porter.contract.model.dtype import DType, decode, encode
from porter.ir.simt.interpret import integers
from porter.ir.simt.interpret.domain import Data, Mask, numpy_type
from porter.ir.simt.types import Scalar


def _each(function: Callable[..., float], count: int = 1) -> Callable[..., Data]:
    """Returns `function` of `count` numbers for arrays; where it has no value there is NaN."""

    def told(*given: float) -> float:
        try:
            return function(*map(float, given))
        except ValueError:
            return math.nan
        except OverflowError:
            return math.inf

    made = np.frompyfunc(told, count, 1)
    return lambda *operands: np.asarray(made(*operands)).astype(np.float64)


def _round(x: Data) -> Data:
    whole = np.trunc(x)
    return whole + np.copysign((np.abs(x - whole) >= 0.5).astype(x.dtype), x)  # type: ignore[no-any-return]


_EXACT: Mapping[str, Callable[..., Data]] = {  # in the type of the operands
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b, "div": lambda a, b: a / b,
    "neg": np.negative, "abs": np.abs, "min": np.fmin, "max": np.fmax, "sqrt": np.sqrt, "floor": np.floor,
    "ceil": np.ceil, "trunc": np.trunc, "rint": np.rint, "round": _round, "fmod": np.fmod, "copysign": np.copysign,
    "isnan": np.isnan, "isinf": np.isinf, "eq": lambda a, b: a == b, "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b, "le": lambda a, b: a <= b, "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b,
}  # fmt: skip
_IN_DOUBLE: Mapping[str, Callable[..., Data]] = {
    "exp": np.exp, "exp2": np.exp2, "exp10": lambda x: np.power(10.0, x), "expm1": np.expm1, "log": np.log,
    "log2": np.log2, "log10": np.log10, "log1p": np.log1p, "rsqrt": lambda x: 1.0 / np.sqrt(x), "cbrt": np.cbrt,
    "sin": np.sin, "cos": np.cos, "tan": np.tan, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan,
    "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh,
    "erf": _each(math.erf), "erfc": _each(math.erfc), "lgamma": _each(math.lgamma),
    "pow": np.power, "atan2": np.arctan2, "hypot": np.hypot,
}  # fmt: skip

Functions = Mapping[Scalar, Mapping[str, Callable[..., Data]]]


class Concrete:
    """Numbers of numpy. `functions` are those of a type that are to be computed otherwise, by their names."""

    def __init__(self, functions: Functions = MappingProxyType({})) -> None:
        self._functions = functions

    def number(self, value: float, type: Scalar) -> Data:
        """Returns a float that the function names."""
        return _rounded(np.float64(value), type)  # type: ignore[arg-type]

    def undefined(self, type: Scalar) -> Data:
        """Returns NaN, or the largest unsigned number's bits."""
        if type.is_float:
            return np.array(np.nan, numpy_type(type))
        return np.array(True) if type is Scalar.BOOL else np.array(-1).astype(numpy_type(type))

    def apply(self, kind: str, type: Scalar, given: Sequence[Scalar], operands: Sequence[Data]) -> Data:
        """Returns the operation `kind` with a result of `type` on operands of the types `given`."""
        match kind:
            case "cast":
                return _cast(operands[0], given[0], type)
            case "bitcast":
                return _from_bits(_bits(operands[0], given[0]), type)
            case "fma":
                return _rounded(_fused(*operands, double=type is Scalar.F64), type)
        if kind in _EXACT:
            made = _EXACT[kind](*operands)
            return made if type is Scalar.BOOL else _rounded(made, type)
        computed = Scalar.F64 if type is Scalar.F64 else Scalar.F32
        if kind in (given_functions := self._functions.get(computed, {})):
            return _rounded(given_functions[kind](*(o.astype(numpy_type(computed)) for o in operands)), type)
        return _rounded(_IN_DOUBLE[kind](*(operand.astype(np.float64) for operand in operands)), type)

    def select(self, condition: Data, yes: Data, no: Data, type: Scalar) -> Data:  # noqa: ARG002 - of all types alike
        """Returns `yes` where `condition` is true, else `no`."""
        return np.where(condition, yes, no)

    def decided(self, value: Data, type: Scalar, mask: Mask) -> Data:  # noqa: ARG002 - all values are known
        """Returns a value as it is."""
        return value

    def certain(self, condition: Data) -> tuple[Mask, Mask]:
        """Returns the lanes in which `condition` is true, and the others."""
        return condition, ~condition

    def found(self, each: Sequence[Data], type: Scalar, contested: Mask) -> Data:  # noqa: ARG002 - one order is as good
        """Returns the values together."""
        return np.concatenate(each)

    def moved(self, base: Data, index: Data, size_bytes: int, mask: Mask) -> Data:  # noqa: ARG002 - all are known
        """Returns addresses `index` elements of `size_bytes` further on."""
        moved: Data = base + index.astype(np.int64) * size_bytes
        return moved


def _rounded(value: Data, type_: Scalar) -> Data:
    """Returns numbers rounded to nearest in `type_`."""
    if type_ is not Scalar.BF16:
        return value.astype(numpy_type(type_))
    return decode(encode(np.asarray(value, np.float64), DType.BFLOAT16), DType.BFLOAT16).astype(np.float32)


def _cast(value: Data, source: Scalar, target: Scalar) -> Data:
    if target.is_float:
        return _rounded(value, target)
    if target is Scalar.BOOL:
        return np.not_equal(value, 0)
    is_double = source is Scalar.F64
    return float_conversions.converted(np.asarray(value), numpy_type(target), is_double=is_double)


def _bits(value: Data, type_: Scalar) -> Data:
    if type_ is Scalar.BF16:
        return encode(np.asarray(value, np.float64), DType.BFLOAT16)
    return value


def _from_bits(value: Data, type_: Scalar) -> Data:
    if type_ is Scalar.BF16:
        return decode(np.asarray(value).view(np.uint16), DType.BFLOAT16).astype(np.float32)
    return integers.apply("bitcast", type_, value)


def _fused(a: Data, b: Data, c: Data, *, double: bool) -> Data:
    """Returns the sum of a product and a number so that rounding it to fewer bits than a double's rounds once.

    A product of two floats is exact in double precision. Its sum with the third is rounded to odd: to the neighbour
    whose last bit is set, if it is not exact (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums",
    2008).
    """
    if double:
        return _each(_fused_exactly, 3)(a, b, c)
    product, addend = a.astype(np.float64) * b.astype(np.float64), c.astype(np.float64)
    total = product + addend
    back = total - product
    error = (product - (total - back)) + (addend - back)
    even = (np.asarray(total).view(np.int64) & 1) == 0
    toward = np.where(error > 0, np.inf, -np.inf)
    return np.where((error != 0) & even & np.isfinite(total), np.nextafter(total, toward), total)


def _fused_exactly(a: float, b: float, c: float) -> float:
    if not all(map(math.isfinite, (a, b, c))):
        return a * b + c
    return float(Fraction(a) * Fraction(b) + Fraction(c)) or a * b + c

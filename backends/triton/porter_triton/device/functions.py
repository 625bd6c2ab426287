"""Finds Triton's name for a function of numbers: one of its language, or a helper that a module brings along."""

from __future__ import annotations

from collections.abc import Mapping

from porter.ir.simt.types import Scalar

# Triton's own functions, then helpers. What is an expression of these is printed by `arithmetic.py`.
_FUNCTIONS: Mapping[str, str] = {
    **{name: f"tl.{name}" for name in ("exp", "exp2", "log", "log2", "rsqrt", "sin", "cos", "erf", "floor", "ceil")},
    **{name: name for name in (
        "exp10", "expm1", "log1p", "cbrt", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh",
        "erfc", "lgamma", "trunc", "rint", "atan2", "fmod", "copysign", "hypot", "popc", "clz", "brev",
    )},
    "round": "round_away", "pow": "power",
}  # fmt: skip


def function_name(kind: str, type_: Scalar) -> str | None:
    """Returns the name of an operation on numbers of a type; None where there is none."""
    if kind == "sqrt":
        return "tl.sqrt" if type_ is Scalar.F64 else "tl.sqrt_rn"
    if kind == "mulhi":
        return "mulhi" if type_.is_signed else "tl.umulhi"
    return _FUNCTIONS.get(kind)

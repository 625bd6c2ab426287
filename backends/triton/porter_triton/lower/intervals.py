"""What integer operators do to what is known of their operands: their intervals, and their affine forms."""

from __future__ import annotations

from math import gcd

from porter_triton.lower import widening
from porter_triton.lower.affine import Affine
from porter_triton.lower.types import Arithmetic
from porter_triton.lower.values import PRODUCT, Scalar


def result_interval(operator: str, left: Scalar, right: Scalar, type_: Arithmetic) -> tuple[int, int] | None:
    """Returns where `left operator right` lies, from where its operands do; None where it may wrap around."""
    if type_.is_float:
        return None
    a, b = left.interval, right.interval
    found: tuple[int, int] | None = None
    if operator == "&":
        highs = [v.interval[1] for v in (left, right) if v.interval is not None and v.interval[0] >= 0]
        found = (0, min(highs)) if highs else None
    elif operator == "%" and b is not None and b[0] > 0 and a is not None and a[0] >= 0:
        found = (0, min(a[1], b[1] - 1))
    elif a is None or b is None:
        return None
    elif operator == "+":
        found = (a[0] + b[0], a[1] + b[1])
    elif operator == "-":
        found = (a[0] - b[1], a[1] - b[0])
    elif operator == "*":
        corners = [x * y for x in a for y in b]
        found = (min(corners), max(corners))
    elif operator == "/" and a[0] >= 0 and b[0] > 0:
        found = (a[0] // b[1], a[1] // b[0])
    elif operator in {"|", "^"} and a[0] >= 0 and b[0] >= 0:
        found = (0, (1 << max(a[1], b[1]).bit_length()) - 1)
    return found if found is not None and type_.low <= found[0] and found[1] <= type_.high else None


def result_affine(operator: str, left: Scalar, right: Scalar, type_: Arithmetic) -> Affine | None:
    """`left operator right` in `type_` as a sum of digits and uniform names, where its operands are such."""
    a, b = widening.affine(left, type_), widening.affine(right, type_)
    if a is None or b is None:
        return None
    if operator == "+":
        return a.plus(b)
    if operator == "-":
        return a.plus(b.times(-1))
    if not left.varying and not right.varying:
        return None  # one name for all of it reads better than its parts
    if operator == "*" and not b.terms and not b.rest:
        return a.times(b.offset)
    if operator == "*" and not a.terms and not a.rest:
        return b.times(a.offset)
    by = right.fixed
    if by is None or by <= 0:
        return None
    if operator == "/":
        return a.quotient(by)
    if operator == "%":
        return a.remainder(by)
    if operator == "&" and (by + 1) & by == 0:
        return a.remainder(by + 1)
    return None


def affine_of(value: Scalar) -> Affine | None:
    """`value` as a sum of digits and uniform names."""
    if value.affine is not None:
        return value.affine
    if value.fixed is not None:
        return Affine(offset=value.fixed)
    if value.varying or not isinstance(value.type, Arithmetic) or value.type.is_float:
        return None
    return Affine(rest=((value.within(PRODUCT), 1),), multiple=value.multiple)


def result_multiple(operator: str, left: Scalar, right: Scalar) -> int:
    """Returns what divides `left operator right`, were it not to wrap around."""
    a, b = (abs(v.fixed) if v.fixed is not None else v.multiple for v in (left, right))
    if operator == "*":
        return a * b or 1
    return gcd(a, b) or 1 if operator in {"+", "-"} else 1

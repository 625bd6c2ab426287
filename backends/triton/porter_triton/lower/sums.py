"""Sums in loops that not all threads run through: lanes that do not run add 0, and none waits to know whether it does.

`sum = tl.where(mask, sum + x, sum)` needs the mask when `x` has come from memory. Loops have more loads on their way
where that is `sum = sum + tl.load(..., mask=mask, other=0.0)`, for a device has few predicates to keep masks in.
Adding 0 changes nothing but -0, which no sum is that began as a number and that nothing but additions have changed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager

from porter_triton.lower import access, memory
from porter_triton.lower.arithmetic import binary
from porter_triton.lower.context import Context
from porter_triton.lower.conversions import convert
from porter_triton.lower.emit import Kind, Line
from porter_triton.lower.places import Place, Variable
from porter_triton.lower.types import Arithmetic, common
from porter_triton.lower.values import Scalar, Value, number


def begin(cx: Context, variable: Variable, value: Scalar) -> None:
    """Note that `variable` is declared with `value`."""
    variable.adding = value.constant is not None and math.copysign(1.0, value.constant) > 0
    variable.loops = cx.carrying


def replace(cx: Context, variable: Variable) -> None:
    """Note that `variable` gets another value than a sum; in a loop it may have that at the loop's begin."""
    if cx.summed is variable:
        return
    variable.adding = False
    if cx.carrying > variable.loops:
        cx.decisions.replaced.add(variable.key)


@contextmanager
def adding(cx: Context, operator: str, target: Place, right: Value) -> Iterator[None]:
    """Inside, `target += right` or `-=` is stored."""
    before, cx.summed = cx.summed, target if _exact(operator, target, right) else None
    try:
        yield
    finally:
        cx.summed = before


def add(cx: Context, operator: str, target: Place, right: Value, line: int) -> bool:
    """Returns whether `target += right` or `-=` could be lowered as a sum to which every lane adds."""
    if not isinstance(target, Variable) or not isinstance(right, Scalar) or not _exact(operator, target, right):
        return False
    mask = cx.mask_for(target.depth)
    if mask is None or not mask.varying or not target.varying or target.fresh or not _is_sum(cx, target):
        return False
    assert isinstance(target.type, Arithmetic)
    term = convert(right, target.type)
    if not memory.zero_outside(cx, term, mask):
        text = f"tl.where({mask.text}, {term.text}, {number(0, target.type).text})"
        term = Scalar(text, target.type, True)
    total = binary(operator, access.read(target), term, line)
    cx.emit(Line(total.text, target.name, level=total.level, value=Kind(target.type, target.varying)))
    return True


def _exact(operator: str, target: Place, right: Value) -> bool:
    """Returns whether the sum is rounded once, to the type of `target`."""
    if operator not in {"+", "-"} or not isinstance(target, Variable) or not isinstance(right, Scalar):
        return False
    left, other = target.type, right.type
    if not isinstance(left, Arithmetic) or not isinstance(other, Arithmetic) or other.is_coded or left.is_coded:
        return False
    return common(left, other) is left


def _is_sum(cx: Context, variable: Variable) -> bool:
    """Returns whether adding 0 changes nothing, in a loop that `variable` is declared outside of."""
    float_ = isinstance(variable.type, Arithmetic) and variable.type.is_float and not variable.type.is_narrow
    return float_ and variable.adding and variable.key not in cx.decisions.replaced and cx.carrying > variable.loops

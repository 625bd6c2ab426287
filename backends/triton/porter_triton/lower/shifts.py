"""C's shifts, as products and quotients where those tell more."""

from __future__ import annotations

from porter_triton.lower import arithmetic
from porter_triton.lower.conversions import as_operand, cast_text, convert, settled
from porter_triton.lower.types import INT, UINT, Arithmetic, promote
from porter_triton.lower.values import LEVELS, Scalar, number
from porter_triton.refusal import Refusal


def shift(operator: str, left: Scalar, right: Scalar, line: int) -> Scalar:
    """`left << right` or `left >> right`."""
    assert isinstance(left.type, Arithmetic)
    assert isinstance(right.type, Arithmetic)
    type_ = promote(left.type)
    if type_.is_float:
        raise Refusal(line, f"`{operator}` on a floating-point value")
    if left.constant is not None and right.constant is not None:
        x, y = type_.wrap(int(left.constant)), int(right.constant)
        return number(x << y if operator == "<<" else x >> y, type_)
    if isinstance(right.constant, int) and 0 <= right.constant < 31 and left.known_within(0, INT.high):
        factor = number(1 << right.constant, INT)
        turned = arithmetic.binary("*" if operator == "<<" else "/", convert(left, INT), factor, line)
        if turned.interval is not None:
            return convert(turned, type_)
    return _shifted(operator, settled(left) if operator == ">>" else left, right, type_)


def _shifted(operator: str, left: Scalar, right: Scalar, type_: Arithmetic) -> Scalar:
    if left.constant is not None:
        base = Scalar(f"tl.full([], {left.text}, {type_.triton})", type_)
    else:
        base = as_operand(left, type_)
        base = base if base.carried == type_ or (type_ is UINT and operator == "<<") else cast_text(base, type_)
    count = as_operand(right, type_) if right.constant is not None else settled(right)
    if count.constant is None and count.carried != base.carried:
        assert isinstance(base.carried, Arithmetic)
        count = cast_text(count, base.carried)
    level = LEVELS[operator]
    text = f"{base.within(level)} {operator} {count.within(level + 1)}"
    interval = None
    if operator == ">>" and left.interval is not None and left.interval[0] >= 0:
        interval = (0, left.interval[1] >> (right.constant if isinstance(right.constant, int) else 0))
    held = base.held if operator == "<<" else None
    return Scalar(text, type_, left.varying or right.varying, level, held=held, interval=interval)

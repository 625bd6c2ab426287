"""Comparisons, which are bools, decided here where what is known of the operands tells."""

from __future__ import annotations

from dataclasses import replace

from porter_triton.lower import conversions
from porter_triton.lower.affine import Digit
from porter_triton.lower.folding import holds
from porter_triton.lower.types import BOOL, DOUBLE, INT, Arithmetic, Pointer, common
from porter_triton.lower.values import COMPARE, LEVELS, UNSET, Scalar, both, negation, number
from porter_triton.refusal import Refusal

COMPARISONS = {"<": ">=", ">=": "<", ">": "<=", "<=": ">", "==": "!=", "!=": "=="}


def compare(operator: str, left: Scalar, right: Scalar, line: int) -> Scalar:
    """A comparison, as a bool."""
    if isinstance(left.type, Pointer) or isinstance(right.type, Pointer):
        return compare_pointers(operator, left, right, line)
    conversions.demand_numbers(line, left, right)
    type_ = common(left.type, right.type)
    if left.constant is not None and right.constant is not None:
        return number(holds(operator, left.constant, right.constant, type_), BOOL)
    decided = _decided(operator, left, right, type_)
    if decided is not None:
        return number(decided, BOOL)
    if type_ is DOUBLE:
        narrow = (conversions.narrowed(left), conversions.narrowed(right))
        if narrow[0] is not None and narrow[1] is not None:
            return compare(operator, narrow[0], narrow[1], line)
    if operator not in {"==", "!="}:
        left, right = conversions.settled(left), conversions.settled(right)
    type_ = _compared_type(left, right, type_)
    if type_ is INT and left.type is BOOL and right.constant in {0, 1}:
        return left if (operator == "!=") == (right.constant == 0) else negation(left)
    left_text, right_text = conversions.operands(left, right, type_, COMPARE + 1)
    varying, loose = left.varying or right.varying, left.loose and right.loose

    def build(symbol: str) -> Scalar:
        pins = _pins(left, right) if symbol == "==" else ()
        return Scalar(
            f"{left_text} {symbol} {right_text}", BOOL, varying, COMPARE, loose=loose, pins=pins, exact=bool(pins)
        )

    reversible = not type_.is_float or operator in {"==", "!="}
    return replace(build(operator), opposite=build(COMPARISONS[operator]) if reversible else None)


def _compared_type(left: Scalar, right: Scalar, type_: Arithmetic) -> Arithmetic:
    """The type to compare in: a small integer and a number it can hold need no `int`."""
    for value, other in ((left, right), (right, left)):
        small = value.carried
        if not isinstance(small, Arithmetic) or small.is_float or small.bits >= 32 or small is BOOL:
            continue
        if isinstance(other.constant, int) and small.low <= other.constant <= small.high:
            return small
    return type_


def compare_pointers(operator: str, left: Scalar, right: Scalar, line: int) -> Scalar:
    """A comparison of a parameter with null: Triton's is None where torch's is."""
    pointer, other = (left, right) if isinstance(left.type, Pointer) else (right, left)
    if UNSET in pointer.bases:
        raise Refusal(line, "a pointer is compared that is null until it is set")
    if other.constant != 0 or not pointer.is_name or pointer.varying or operator not in {"==", "!="}:
        raise Refusal(line, "pointers are compared")
    missing = Scalar(f"{pointer.text} is None", BOOL, False, COMPARE, loose=True, static=True)
    present = replace(missing, text=f"{pointer.text} is not None")
    if operator == "==":
        return replace(missing, opposite=present)
    return replace(present, opposite=missing)


def _pins(left: Scalar, right: Scalar) -> tuple[tuple[Digit, int], ...]:
    for value, other in ((left, right), (right, left)):
        if value.affine is not None and value.affine.digit is not None and other.fixed is not None:
            return ((value.affine.digit, other.fixed),)
    return ()


def _decided(operator: str, left: Scalar, right: Scalar, type_: Arithmetic) -> bool | None:
    """Returns what the intervals of the operands already say."""
    if type_.is_float or left.interval is None or right.interval is None:
        return None
    if type_.kind == "uint" and (left.interval[0] < 0 or right.interval[0] < 0):
        return None
    below, above = left.interval[1] < right.interval[0], left.interval[0] > right.interval[1]
    if operator in {"<", ">="}:
        verdict = True if below else False if left.interval[0] >= right.interval[1] else None
        return verdict if operator == "<" or verdict is None else not verdict
    if operator in {">", "<="}:
        verdict = True if above else False if left.interval[1] <= right.interval[0] else None
        return verdict if operator == ">" or verdict is None else not verdict
    return (operator == "!=") if below or above else None


def disjunction(left: Scalar, right: Scalar) -> Scalar:
    """`left || right` where both may be evaluated."""
    for one, other in ((left, right), (right, left)):
        if one.constant is not None:
            return number(1, BOOL) if one.constant else other
    level = LEVELS["|"]
    text = f"{left.within(level)} | {right.within(level + 1)}"
    varying, loose = left.varying or right.varying, left.loose and right.loose
    opposite = None
    if left.opposite is not None and right.opposite is not None:
        opposite = both(left.opposite, right.opposite)
    static = left.static and right.static
    return Scalar(text, BOOL, varying, level, loose=loose, static=static, opposite=opposite)

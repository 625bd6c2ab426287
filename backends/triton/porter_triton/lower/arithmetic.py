"""C's operators on scalars, written so that Triton's own promotions come to the same."""

from __future__ import annotations

import math
from dataclasses import replace

from porter_triton.lower import shifts
from porter_triton.lower.affine import Affine
from porter_triton.lower.comparisons import COMPARISONS, compare, disjunction
from porter_triton.lower.conversions import as_operand, cast_text, convert, demand_numbers, narrowed, operands, settled
from porter_triton.lower.folding import fold
from porter_triton.lower.intervals import result_affine, result_interval, result_multiple
from porter_triton.lower.types import BOOL, DOUBLE, FLOAT, INT, UINT, Arithmetic, Pointer, common, promote
from porter_triton.lower.values import LEVELS, PRODUCT, SIGN, SUM, Scalar, both, number
from porter_triton.refusal import Refusal


def binary(operator: str, left: Scalar, right: Scalar, line: int) -> Scalar:
    """`left operator right` for arithmetic operands."""
    if operator in COMPARISONS:
        return compare(operator, left, right, line)
    demand_numbers(line, left, right)
    if operator in {"<<", ">>"}:
        return shifts.shift(operator, left, right, line)
    assert isinstance(left.type, Arithmetic)
    assert isinstance(right.type, Arithmetic)
    type_ = common(left.type, right.type)
    if type_.is_float and operator in {"%", "&", "|", "^"}:
        raise Refusal(line, f"`{operator}` on a floating-point value")
    folded = fold(operator, left, right, type_)
    if folded is not None:
        return folded
    if operator in {"&", "|", "^"} and left.carried is BOOL and right.carried is BOOL:
        return _on_bools(operator, left, right)
    if operator in {"/", "%"}:
        left, right = _of_one_sign(settled(left), settled(right), type_)
    elif type_ is UINT:
        left, right = _beside(left, right), _beside(right, left)
    return _operation(operator, left, right, type_)


def _beside(value: Scalar, other: Scalar) -> Scalar:
    """Returns what Triton holds as an int32, beside a number that it takes for none: `0xffffffffu - i`."""
    large = other.constant is not None and other.constant > INT.high
    return cast_text(value, UINT) if large and value.constant is None and value.carried is INT else value


def _of_one_sign(left: Scalar, right: Scalar, type_: Arithmetic) -> tuple[Scalar, Scalar]:
    """Operands of a division, which Triton wants both signed or both unsigned."""
    values = (left, right)
    kinds = {v.carried.kind for v in values if v.constant is None and isinstance(v.carried, Arithmetic)}
    if type_.is_float or len(kinds) < 2:
        return values
    left, right = (v if v.constant is not None or v.carried == type_ else cast_text(v, type_) for v in values)
    return left, right


def _on_bools(operator: str, left: Scalar, right: Scalar) -> Scalar:
    """`(a < b) & (c < d)` is an int in C; it stays a bool as long as it is used as one."""
    if operator == "&":
        value = both(left, right)
    elif operator == "|":
        value = disjunction(left, right)
    else:
        level = LEVELS["^"]
        text = f"{left.within(level)} ^ {right.within(level + 1)}"
        value = Scalar(text, BOOL, left.varying or right.varying, level)
    return replace(value, type=INT, held=BOOL)


def _operation(operator: str, left: Scalar, right: Scalar, type_: Arithmetic) -> Scalar:
    symbol = "//" if operator == "/" and not type_.is_float else operator
    level = LEVELS[symbol]
    same = _unchanged(operator, left, right, type_)
    if same is not None:
        return same
    if operator == "/" and type_.is_float and type_ is not DOUBLE:
        return _quotient(left, right, type_)
    left_text, right_text = operands(left, right, type_, level)
    held = INT if type_ is UINT and all(v.constant is not None or v.carried is INT for v in (left, right)) else None
    return Scalar(
        f"{left_text} {symbol} {right_text}",
        type_,
        left.varying or right.varying,
        level,
        held=held,
        interval=result_interval(operator, left, right, type_),
        affine=result_affine(operator, left, right, type_),
        loose=left.loose and right.loose,
        single=_single(operator, left, right, type_),
        multiple=result_multiple(operator, left, right) if not type_.is_float else 1,
    )


def _quotient(left: Scalar, right: Scalar, type_: Arithmetic) -> Scalar:
    """`left / right` rounded to nearest, as CUDA's operator does, in floats or halves, which are divided as floats.

    Triton's `/` is `div.full.f32`, which may be two units off; it is exact by a power of two, a multiplication.
    """
    varying = left.varying or right.varying
    left, right = (_as_float(v, type_) for v in (left, right))
    if right.constant is not None and _is_power_of_two(right.constant):
        value = Scalar(f"{left.within(PRODUCT)} / {right.within(SIGN)}", FLOAT, varying, PRODUCT, loose=left.loose)
    else:
        value = Scalar(f"tl.div_rn({left.text}, {right.text})", FLOAT, varying)
    return cast_text(value, type_) if type_.is_narrow else value


def _as_float(value: Scalar, type_: Arithmetic) -> Scalar:
    """An operand of `type_` as a number or what Triton holds as a float32, which `tl.div_rn` asks for."""
    value = as_operand(value, type_)
    return value if value.constant is not None or value.carried is FLOAT else cast_text(value, FLOAT)


def _is_power_of_two(value: float) -> bool:
    """Returns whether dividing by it is multiplying by another float, exactly."""
    mantissa, exponent = math.frexp(value)
    return abs(mantissa) == 0.5 and abs(exponent) < 126


def _unchanged(operator: str, left: Scalar, right: Scalar, type_: Arithmetic) -> Scalar | None:
    """`x + 0`, `x * 1` and their like on integers."""
    if type_.is_float:
        return None
    if operator in {"+", "*"} and left.constant == (0 if operator == "+" else 1):
        return convert(right, type_)
    if (operator in {"+", "-"} and right.constant == 0) or (operator in {"*", "/"} and right.constant == 1):
        return convert(left, type_)
    return number(0, type_) if operator == "*" and 0 in {left.constant, right.constant} else None


def _single(operator: str, left: Scalar, right: Scalar, type_: Arithmetic) -> Scalar | None:
    """One operation on floats through double, rounded to float, is the operation on floats."""
    if type_ is not DOUBLE or operator not in {"+", "-", "*", "/"}:
        return None
    narrow = [narrowed(left), narrowed(right)]
    if narrow[0] is None or narrow[1] is None:
        return None
    return binary(operator, narrow[0], narrow[1], 0)


def negative(value: Scalar, line: int) -> Scalar:
    """`-value`."""
    if isinstance(value.type, Pointer):
        raise Refusal(line, "a pointer is negated")
    demand_numbers(line, value)
    type_ = promote(value.type)
    if value.constant is not None:
        return number(-value.constant, type_)
    operand = as_operand(value, type_)
    if operand.carried != type_ and not (type_ is UINT and operand.carried is INT):
        operand = cast_text(operand, type_)
    interval = None
    if value.interval is not None and type_.kind == "int":
        interval = (-value.interval[1], -value.interval[0])
    single = negative(value.single, line) if value.single is not None else None
    affine = value.affine.times(-1) if value.affine is not None and interval is not None else None
    return Scalar(
        f"-{operand.within(SIGN)}",
        type_,
        value.varying,
        SIGN,
        held=operand.held,
        interval=interval,
        loose=value.loose,
        single=single,
        affine=affine,
    )


def complement(value: Scalar, line: int) -> Scalar:
    """`~value`."""
    if isinstance(value.type, Pointer) or value.type.is_float:
        raise Refusal(line, "`~` on what is not an integer")
    demand_numbers(line, value)
    type_ = promote(value.type)
    if value.constant is not None:
        return number(~int(value.constant), type_)
    operand = as_operand(value, type_)
    return Scalar(f"~{operand.within(SIGN)}", type_, value.varying, SIGN, held=operand.held)


def advance(pointer: Scalar, steps: Scalar, scale: int, operator: str, line: int) -> Scalar:
    """`pointer + steps`, where one step is `scale` of what Triton's pointer counts."""
    if isinstance(steps.type, Pointer) or steps.type.is_float:
        raise Refusal(line, "a pointer is advanced by what is not an integer")
    offset = binary("*", settled(steps), number(scale, INT), line) if scale != 1 else settled(steps)
    if offset.constant == 0:
        return pointer
    if isinstance(offset.type, Arithmetic) and offset.type.bits < 32:
        offset = convert(offset, INT)
    text = f"{pointer.within(SUM)} {operator} {offset.within(SUM if operator == '+' else PRODUCT)}"
    varying, affine = pointer.varying or offset.varying, _moved(pointer, offset, operator)
    return replace(pointer, text=text, level=SUM, varying=varying, affine=affine)


def _moved(pointer: Scalar, offset: Scalar, operator: str) -> Affine | None:
    """Returns how the pointers of the threads differ after a step."""
    held = [v.affine if v.varying else Affine() for v in (pointer, offset)]
    if held[0] is None or held[1] is None:
        return None
    terms = [Affine(a.terms) for a in held if a is not None]
    return terms[0].plus(terms[1].times(-1 if operator == "-" else 1))

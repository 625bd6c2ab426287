"""C's conversions and operators on scalars, written so that Triton's own promotions come to the same."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from porter_triton.lower.affine import Affine, Digit
from porter_triton.lower.types import BOOL, DOUBLE, FLOAT, INT, UINT, Arithmetic, Pointer, common, promote
from porter_triton.lower.values import (
    ATOM,
    COMPARE,
    LEVELS,
    PRODUCT,
    SIGN,
    SUM,
    Scalar,
    both,
    fits_single,
    negation,
    number,
)
from porter_triton.refusal import Refusal

_COMPARISONS = {"<": ">=", ">=": "<", ">": "<=", "<=": ">", "==": "!=", "!=": "=="}
_INT32 = (INT.low, INT.high)


def cast_text(value: Scalar, type_: Arithmetic) -> Scalar:
    """`value` with a cast to `type_` written."""
    if value.constant is not None and type_.bits == 64:  # `tl.cast` would make a 32-bit float of a number first
        text = f"tl.full([], {value.text}, {type_.triton})"
        return replace(value, text=text, level=ATOM, held=None, loose=False, opposite=None, type=type_, constant=None)
    text = f"tl.cast({value.text}, {type_.triton})" if value.loose else f"{value.within(ATOM)}.to({type_.triton})"
    return replace(value, text=text, level=ATOM, held=None, loose=False, opposite=None, single=None, type=type_)


def exact_double(value: Scalar) -> Scalar:
    """A double constant as Triton must see it where it would take a Python number for a 32-bit float."""
    if value.type is DOUBLE and value.constant is not None and not fits_single(float(value.constant)):
        return cast_text(value, DOUBLE)
    return value


def settled(value: Scalar) -> Scalar:
    """`value` as Triton holds its type: unsigned bits on int32 become uint32 unless the value is small."""
    if value.held is None or not isinstance(value.type, Arithmetic) or value.constant is not None:
        return value
    if value.held is INT and value.known_within(0, INT.high):
        return value
    return cast_text(value, value.type)


def convert(value: Scalar, type_: Arithmetic | Pointer, line: int = 0) -> Scalar:
    """`value` as the C++ conversion to `type_` makes it."""
    source = value.type
    if isinstance(type_, Pointer) or isinstance(source, Pointer):
        return _convert_pointer(value, type_, line)
    if source == type_:
        return value
    if value.constant is not None:
        return _convert_constant(value.constant, source, type_)
    if value.held is BOOL:
        value = replace(value, type=BOOL, held=None)
        return value if type_ is BOOL else convert(value, type_, line)
    if type_ is BOOL:
        return compare("!=", value, number(0, promote(source)), line)
    if type_ is FLOAT and value.single is not None:
        return value.single
    if _same_bits(source, type_):
        held = value.carried if isinstance(value.carried, Arithmetic) else None
        fits = value.known_within(max(type_.low, source.low), min(type_.high, source.high))
        if held == type_:
            return replace(value, type=type_, held=None, interval=value.interval if fits else None)
        if held is INT and type_ is UINT:
            return replace(value, type=type_, held=INT, interval=value.interval if fits else None)
    return _converted(settled(value), type_)


def _converted(value: Scalar, type_: Arithmetic) -> Scalar:
    source = value.type
    assert isinstance(source, Arithmetic)
    integral = not source.is_float and not type_.is_float
    interval = value.interval if integral and value.known_within(type_.low, type_.high) else None
    affine = value.affine if interval is not None else None
    single = None
    if type_ is DOUBLE and source is FLOAT:
        single = value
    if integral and type_.bits > 32 and value.held is INT:  # a small unsigned number: its int32 widens the same way
        value = replace(value, type=INT, held=None)
    return replace(cast_text(value, type_), interval=interval, affine=affine, single=single, bases=frozenset())


def _same_bits(source: Arithmetic, type_: Arithmetic) -> bool:
    return {source.kind, type_.kind} == {"int", "uint"} and source.bits == type_.bits


def _convert_constant(value: float, source: Arithmetic, type_: Arithmetic) -> Scalar:
    if type_.is_float:
        return number(float(value), type_)
    if type_ is BOOL:
        return number(value != 0, BOOL)
    if source.is_float and (math.isnan(value) or math.isinf(value)):
        return number(0 if math.isnan(value) else (type_.high if value > 0 else type_.low), type_)
    return number(int(value), type_)


def _convert_pointer(value: Scalar, type_: Arithmetic | Pointer, line: int) -> Scalar:
    if isinstance(type_, Pointer) and isinstance(value.type, Pointer):
        return value
    if type_ is BOOL:
        return _compare_pointers("!=", value, number(0), line)
    if isinstance(type_, Arithmetic) and type_.bits == 64 and not type_.is_float and value.constant is None:
        return cast_text(replace(value, type=type_, bases=frozenset()), type_)
    if isinstance(type_, Pointer) and value.constant == 0:
        raise Refusal(line, "a null pointer is used as a value")
    raise Refusal(line, "an integer is made of a pointer, or a pointer of an integer")


def condition(value: Scalar, line: int) -> Scalar:
    """`value` as `if` takes it."""
    return convert(value, BOOL, line)


def operands(left: Scalar, right: Scalar, type_: Arithmetic, level: int) -> tuple[str, str]:
    """The texts of two operands that Triton will bring to `type_` by itself, cast where it would not."""
    left, right = _operand(left, type_), _operand(right, type_)
    carriers = [v for v in (left, right) if v.constant is None]
    if carriers and not any(_carries(v, type_) for v in carriers):
        widest = carriers[0]
        if widest is left:
            left = cast_text(left, type_)
        else:
            right = cast_text(right, type_)
    return left.within(level), right.within(level + 1)


def _carries(value: Scalar, type_: Arithmetic) -> bool:
    held = value.carried
    if type_ is UINT and held is INT:
        return True  # the caller has settled it, or does not mind the sign
    return held == type_ and not (value.loose and type_ not in {INT, FLOAT, BOOL})


def _operand(value: Scalar, type_: Arithmetic) -> Scalar:
    if value.constant is not None and isinstance(value.type, Arithmetic):
        return _convert_constant(value.constant, value.type, type_)
    held = value.carried
    assert isinstance(held, Arithmetic)
    if held.bits < 32 and held != type_ and not (held.is_narrow and type_.is_float):
        return cast_text(value, type_)  # Triton computes bool, char and short in their own width
    if type_.is_narrow and held != type_:
        return cast_text(value, type_)
    return value


def binary(operator: str, left: Scalar, right: Scalar, line: int) -> Scalar:
    """`left operator right` for arithmetic operands."""
    if operator in _COMPARISONS:
        return compare(operator, left, right, line)
    if operator in {"<<", ">>"}:
        return _shift(operator, left, right, line)
    assert isinstance(left.type, Arithmetic)
    assert isinstance(right.type, Arithmetic)
    type_ = common(left.type, right.type)
    if type_.is_float and operator in {"%", "&", "|", "^"}:
        raise Refusal(line, f"`{operator}` on a floating-point value")
    folded = _fold(operator, left, right, type_)
    if folded is not None:
        return folded
    if operator in {"&", "|", "^"} and left.carried is BOOL and right.carried is BOOL:
        return _on_bools(operator, left, right)
    if operator in {"/", "%"}:
        left, right = _of_one_sign(settled(left), settled(right), type_)
    return _operation(operator, left, right, type_)


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
    left_text, right_text = operands(left, right, type_, level)
    held = INT if type_ is UINT and all(v.constant is not None or v.carried is INT for v in (left, right)) else None
    value = Scalar(
        f"{left_text} {symbol} {right_text}",
        type_,
        left.varying or right.varying,
        level,
        held=held,
        interval=_interval(operator, left, right, type_),
        affine=_affine(operator, left, right),
        loose=left.loose and right.loose,
        single=_single(operator, left, right, type_),
    )
    if symbol == "/" and type_.is_narrow:  # Triton divides halves as floats
        return cast_text(value, type_)
    return value


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


def narrowed(value: Scalar) -> Scalar | None:
    """A double that is exactly a float, as one."""
    if value.constant is not None:
        return number(value.constant, FLOAT) if fits_single(float(value.constant)) else None
    if value.type is FLOAT:
        return value
    exact = value.single is not None and value.text.endswith(f".to({DOUBLE.triton})")
    return value.single if exact else None


def compare(operator: str, left: Scalar, right: Scalar, line: int) -> Scalar:
    """A comparison, as a bool."""
    if isinstance(left.type, Pointer) or isinstance(right.type, Pointer):
        return _compare_pointers(operator, left, right, line)
    type_ = common(left.type, right.type)
    if left.constant is not None and right.constant is not None:
        return number(_python_compare(operator, left.constant, right.constant, type_), BOOL)
    decided = _decided(operator, left, right, type_)
    if decided is not None:
        return number(decided, BOOL)
    if type_ is DOUBLE:
        narrow = (narrowed(left), narrowed(right))
        if narrow[0] is not None and narrow[1] is not None:
            return compare(operator, narrow[0], narrow[1], line)
    if operator not in {"==", "!="}:
        left, right = settled(left), settled(right)
    type_ = _compared_type(left, right, type_)
    if type_ is INT and left.type is BOOL and right.constant in {0, 1}:
        return left if (operator == "!=") == (right.constant == 0) else negation(left)
    left_text, right_text = operands(left, right, type_, COMPARE + 1)
    varying, loose = left.varying or right.varying, left.loose and right.loose

    def build(symbol: str) -> Scalar:
        pins = _pins(left, right) if symbol == "==" else ()
        return Scalar(
            f"{left_text} {symbol} {right_text}", BOOL, varying, COMPARE, loose=loose, pins=pins, exact=bool(pins)
        )

    reversible = not type_.is_float or operator in {"==", "!="}
    return replace(build(operator), opposite=build(_COMPARISONS[operator]) if reversible else None)


def _compared_type(left: Scalar, right: Scalar, type_: Arithmetic) -> Arithmetic:
    """The type to compare in: a small integer and a number it can hold need no `int`."""
    for value, other in ((left, right), (right, left)):
        small = value.carried
        if not isinstance(small, Arithmetic) or small.is_float or small.bits >= 32 or small is BOOL:
            continue
        if isinstance(other.constant, int) and small.low <= other.constant <= small.high:
            return small
    return type_


def _compare_pointers(operator: str, left: Scalar, right: Scalar, line: int) -> Scalar:
    """A comparison of a parameter with null: Triton's is None where torch's is."""
    pointer, other = (left, right) if isinstance(left.type, Pointer) else (right, left)
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
    """What the intervals of the operands already say."""
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


def _python_compare(operator: str, left: float, right: float, type_: Arithmetic) -> bool:
    if not type_.is_float:
        left, right = type_.wrap(int(left)), type_.wrap(int(right))
    table: dict[str, Callable[[float, float], bool]] = {
        "<": lambda a, b: a < b,
        ">": lambda a, b: a > b,
        "<=": lambda a, b: a <= b,
        ">=": lambda a, b: a >= b,
        "==": lambda a, b: a == b,
        "!=": lambda a, b: a != b,
    }
    return table[operator](left, right)


def _fold(operator: str, left: Scalar, right: Scalar, type_: Arithmetic) -> Scalar | None:
    a, b = left.constant, right.constant
    if a is None or b is None or type_.is_narrow:
        return None
    if type_.is_float:
        if operator == "/" and b == 0:
            return number(math.nan if a == 0 or math.isnan(a) else math.copysign(math.inf, a), type_)
        if operator == "/":
            return number(a / b, type_)
        return number({"+": a + b, "-": a - b, "*": a * b}[operator], type_)
    x, y = type_.wrap(int(a)), type_.wrap(int(b))
    if operator in {"/", "%"}:
        if y == 0:
            return None
        quotient = abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
        return number(quotient if operator == "/" else x - quotient * y, type_)
    table = {"+": x + y, "-": x - y, "*": x * y, "&": x & y, "|": x | y, "^": x ^ y}
    return number(table[operator], type_)


def _interval(operator: str, left: Scalar, right: Scalar, type_: Arithmetic) -> tuple[int, int] | None:
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


def _affine(operator: str, left: Scalar, right: Scalar) -> Affine | None:
    a, b = affine_of(left), affine_of(right)
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
    return Affine(rest=((value.within(PRODUCT), 1),))


def _shift(operator: str, left: Scalar, right: Scalar, line: int) -> Scalar:
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
        turned = binary("*" if operator == "<<" else "/", convert(left, INT), factor, line)
        if turned.interval is not None:
            return convert(turned, type_)
    if operator == ">>":
        left = settled(left)
    if left.constant is not None:
        base = Scalar(f"tl.full([], {left.text}, {type_.triton})", type_)
    else:
        base = _operand(left, type_)
        base = base if base.carried == type_ or (type_ is UINT and operator == "<<") else cast_text(base, type_)
    count = _operand(right, type_) if right.constant is not None else settled(right)
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


def negative(value: Scalar, line: int) -> Scalar:
    """`-value`."""
    if isinstance(value.type, Pointer):
        raise Refusal(line, "a pointer is negated")
    type_ = promote(value.type)
    if value.constant is not None:
        return number(-value.constant, type_)
    operand = _operand(value, type_)
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
        raise Refusal(line, "`~` on what is no integer")
    type_ = promote(value.type)
    if value.constant is not None:
        return number(~int(value.constant), type_)
    operand = _operand(value, type_)
    return Scalar(f"~{operand.within(SIGN)}", type_, value.varying, SIGN, held=operand.held)


def advance(pointer: Scalar, steps: Scalar, scale: int, operator: str, line: int) -> Scalar:
    """`pointer + steps`, where one step is `scale` of what Triton's pointer counts."""
    if isinstance(steps.type, Pointer) or steps.type.is_float:
        raise Refusal(line, "a pointer is advanced by what is no integer")
    offset = binary("*", settled(steps), number(scale, INT), line) if scale != 1 else settled(steps)
    if offset.constant == 0:
        return pointer
    if isinstance(offset.type, Arithmetic) and offset.type.bits < 32:
        offset = convert(offset, INT)
    text = f"{pointer.within(SUM)} {operator} {offset.within(SUM if operator == '+' else PRODUCT)}"
    return replace(pointer, text=text, level=SUM, varying=pointer.varying or offset.varying)


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
    return Scalar(text, BOOL, varying, level, loose=loose, opposite=opposite)

"""Prints arithmetic, comparisons and conversions with their meaning in the IR, which is that of C.

Triton knows integers by their bits: an unsigned one may be held as a signed one of its size, as the thread's number is,
wherever that makes no difference, or where the ranges of the operands say that it makes none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from porter.ir.simt.operations import COMPARISONS, MATHEMATICS
from porter.ir.simt.ops import Op, Value
from porter.ir.simt.types import Pointer, Scalar
from porter_triton.device.functions import function_name
from porter_triton.device.helper_calls import HelperCall, helper_call
from porter_triton.device.source import tree_of
from porter_triton.refusal import Refusal
from porter_triton.thread_level.expressions import (
    Expression,
    Level,
    alone,
    call,
    combined,
    infix,
    literal,
    settled,
    signed,
    to_type,
    type_text,
)

if TYPE_CHECKING:
    from porter_triton.thread_level.printer import Printer

_ALIKE = {  # operators that do the same to signed and unsigned integers
    "add": ("+", Level.SUM), "sub": ("-", Level.SUM), "mul": ("*", Level.PRODUCT), "and": ("&", Level.AND),
    "or": ("|", Level.OR), "xor": ("^", Level.XOR), "shl": ("<<", Level.SHIFT),
}  # fmt: skip
_BY_SIGN = {"div": ("//", Level.PRODUCT), "rem": ("%", Level.PRODUCT), "shr": (">>", Level.SHIFT)}
_COMPARED = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_EXTREMES = {"min": "tl.minimum", "max": "tl.maximum"}
_LOG10_OF_E = "0.4342944819032518"
_HALVES = (Scalar.F16, Scalar.BF16)
# Functions that make no difference between the zeros.
_WITHOUT_SIGN = frozenset({"exp", "exp2", "exp10", "cos", "cosh", *COMPARISONS})


def printed(p: Printer, op: Op) -> Expression | None:
    """Returns a value that is computed from numbers; None for operations of other kinds."""
    if op.kind in COMPARISONS:
        return compare(p, op)
    maker = _PRINTERS.get(op.kind)
    if maker is not None:
        return maker(p, op)
    first = op.operands[0].type if op.operands else None
    if not isinstance(first, Scalar):
        return None
    if first.is_float:
        return floating(p, op)
    return integer(p, op) if op.kind in (*_ALIKE, *_BY_SIGN, *_EXTREMES) else None


def integer(p: Printer, op: Op) -> Expression:
    """Returns an operator on integers or truth values."""
    type_ = op.result.type
    assert isinstance(type_, Scalar)
    left, right = (p.value(operand) for operand in op.operands)
    if op.kind not in _ALIKE and type_ is not Scalar.BOOL:
        left, right = _of_sign(p, op)
    left, right = _met(left, right, type_)
    held = left.type if left.type == right.type else type_
    if op.kind in _EXTREMES:
        return call(_EXTREMES[op.kind], held, *_one_settled(left, right))
    symbol, level = {**_ALIKE, **_BY_SIGN}[op.kind]
    return infix(symbol, level, left, right, held)


def _met(left: Expression, right: Expression, type_: Scalar) -> tuple[Expression, Expression]:
    """Returns operands whose literals fit what the other operand is held as."""
    if left.number is not None and right.number is not None:
        return settled(literal(left.number, type_)), literal(right.number, type_)
    if left.number is not None:
        assert isinstance(right.type, Scalar)
        return to_type(left, right.type), right
    if right.number is not None:
        assert isinstance(left.type, Scalar)
        return left, to_type(right, left.type)
    if left.loose and not right.loose and isinstance(right.type, Scalar):
        left = _retyped(left, right.type)
    elif right.loose and not left.loose and isinstance(left.type, Scalar):
        right = _retyped(right, left.type)
    return left, right


def _retyped(value: Expression, type_: Scalar) -> Expression:
    """Returns a number of Python, or what is held in fewer bits, beside a value of this type."""
    assert isinstance(value.type, Scalar)
    return value if value.type.bits > type_.bits else replace(value, type=type_, number=None, loose=True)


def _one_settled(left: Expression, right: Expression) -> tuple[Expression, Expression]:
    """Returns operands of a function of Triton, one of which at least has a type of its own."""
    return (settled(left), right) if left.loose and right.loose else (left, right)


def _of_sign(p: Printer, op: Op) -> tuple[Expression, Expression]:
    """Returns operands of an operation that depends on the sign, both in one form that gives the right result."""
    operands = [p.value(operand) for operand in op.operands]
    type_ = op.operands[0].type
    assert isinstance(type_, Scalar)
    if type_.is_signed or type_ is Scalar.BOOL:
        return operands[0], operands[1]
    are_signed = all(value.number is not None or value.type is signed(type_) for value in operands)
    if are_signed and all(p.is_below_sign(operand) for operand in op.operands):
        return operands[0], operands[1]
    left, right = (_number_or_typed(value, type_) for value in operands)
    return left, right


def compare(p: Printer, op: Op) -> Expression:
    """Returns a comparison."""
    left, right = (p.value(operand) for operand in op.operands)
    type_ = op.operands[0].type
    if isinstance(type_, Pointer):
        return _compare_pointers(p, op, left, right)
    assert isinstance(type_, Scalar)
    if type_.is_float:
        left, right = (_number_or_typed(value, type_) for value in (left, right))
        if left.loose and right.loose:
            left = settled(left)
    elif op.kind in ("eq", "ne") or type_ is Scalar.BOOL:
        left, right = _met(left, right, type_)
    else:
        left, right = _met(*_of_sign(p, op), type_)
    return infix(_COMPARED[op.kind], Level.COMPARISON, left, right, Scalar.BOOL)


def _number_or_typed(value: Expression, type_: Scalar) -> Expression:
    """Returns a number as an operand of a type: a plain number takes the type of the operand beside it."""
    return value if value.number is not None or (value.loose and value.type is type_) else to_type(value, type_)


def _compare_pointers(p: Printer, op: Op, left: Expression, right: Expression) -> Expression:
    """Returns a comparison of pointers: as addresses, or with null, which a parameter may be given as None."""
    if p.is_null(op.operands[1]):
        p.null_tested.add(op.operands[0])
        if op.kind in ("eq", "ne") and left.text in p.pointer_parameters:
            return Expression(f"{left.text} is {'not ' if op.kind == 'ne' else ''}None", Scalar.BOOL, loose=True,
                              level=Level.COMPARISON, reads=left.reads)  # fmt: skip
        right = literal(0, Scalar.I64)
    left, right = (value if value.number is not None else _address(value) for value in (left, right))
    return infix(_COMPARED[op.kind], Level.COMPARISON, left, right, Scalar.BOOL)


def _address(value: Expression) -> Expression:
    return combined(f"{value.within(Level.ATOM)}.to(tl.int64)", Scalar.I64, value)


def floating(p: Printer, op: Op) -> Expression:
    """Returns an operation on floats; halves are computed as floats unless it is exact in both."""
    type_ = op.operands[0].type
    assert isinstance(type_, Scalar)
    operands = [p.value(operand) for operand in op.operands]
    computed = type_
    if type_ is Scalar.BF16 or (type_ is Scalar.F16 and op.kind not in ("add", "sub", "mul", "min", "max", "abs")):
        computed = Scalar.F32
    operands = [_number_or_typed(value, computed) for value in operands]
    if all(value.loose for value in operands):
        operands[0] = settled(operands[0] if operands[0].number is None else to_type(operands[0], computed))
    made = _floating(p, op, operands, computed)
    return made if made.type is Scalar.BOOL or made.type is type_ else to_type(made, type_)


def _floating(p: Printer, op: Op, operands: list[Expression], type_: Scalar) -> Expression:
    match op.kind:
        case "add" | "sub" | "mul":
            symbol, level = _ALIKE[op.kind]
            return infix(symbol, level, operands[0], operands[1], type_)
        case "div":
            return _quotient(operands[0], operands[1], type_)
        case "neg":
            return _negative(p, op, operands[0], type_)
        case "isnan":
            value = p.atom(operands[0], "value")
            return infix("!=", Level.COMPARISON, value, value, Scalar.BOOL)
        case "isinf":
            infinite = literal(float("inf"), type_)
            return infix("==", Level.COMPARISON, call("tl.abs", type_, operands[0]), infinite, Scalar.BOOL)
    if op.kind in _EXTREMES:  # to which a number of Python is a float of 32 bits, that makes one of a half
        return call(_EXTREMES[op.kind], type_, *map(settled if type_ is Scalar.F16 else alone, operands))
    if op.kind in ("abs", "fma"):
        return call(f"tl.{op.kind}", type_, *operands)
    if op.kind in MATHEMATICS:
        return mathematics(op.kind, operands, type_, p.calls)
    raise Refusal(op.location.line, f"'{op.kind}' on {type_} has no counterpart in Triton", op.location.file)


def _negative(p: Printer, op: Op, operand: Expression, type_: Scalar) -> Expression:
    """Returns a number with its sign turned. Triton's `-x` is `0 - x`, which has no sign where x is 0."""
    users = p.uses.get(op.result, ())
    if users and all(user.kind in _WITHOUT_SIGN for user in users):
        return combined(f"-{operand.within(Level.SIGN)}", type_, operand, level=Level.SIGN)
    return infix("*", Level.PRODUCT, literal(-1.0, type_), operand, type_)


def _quotient(left: Expression, right: Expression, type_: Scalar) -> Expression:
    """Returns a quotient rounded to nearest: Triton's `/` is not in float32, except by a power of two."""
    is_exact = type_ is Scalar.F64 or (right.number is not None and _is_power_of_two(right.number))
    if is_exact:
        return infix("/", Level.PRODUCT, left, right, type_)
    return call("tl.div_rn", type_, left, right)


def _is_power_of_two(value: float) -> bool:
    return value != 0 and abs(value) in (2.0**n for n in range(-125, 126))


def mathematics(
    kind: str, operands: Sequence[Expression], type_: Scalar, calls: Callable[[HelperCall], str]
) -> Expression:
    """Returns a function of numbers of a type; `calls` is told the helper that it calls, and returns its name."""
    given = [settled(operand) for operand in operands]
    if kind == "log10":
        logarithm = call("tl.log", type_, *given)
        return infix("*", Level.PRODUCT, logarithm, Expression(_LOG10_OF_E, type_), type_)
    if kind == "tan":
        sine, cosine = (call(name, type_, *given) for name in ("tl.sin", "tl.cos"))
        return infix("/", Level.PRODUCT, sine, cosine, type_)
    name = function_name(kind, type_)
    assert name is not None
    if (helper := tree_of(name)) is not None:
        name = calls(helper_call(name, {parameter.arg: type_text(type_) for parameter in helper.args.args}))
    return call(name, type_, *given)


def _negative_integer(p: Printer, op: Op) -> Expression:
    type_ = op.result.type
    assert isinstance(type_, Scalar)
    if type_.is_float:
        return floating(p, op)
    operand = settled(p.value(op.operands[0]))
    return combined(f"-{operand.within(Level.SIGN)}", operand.type, operand, level=Level.SIGN)


def _not(p: Printer, op: Op) -> Expression:
    return negated(p.value(op.operands[0]))


def negated(value: Expression) -> Expression:
    """Returns the other truth value, or the other bits."""
    if value.loose and value.type is Scalar.BOOL:  # Python's `~True` is -2
        return infix("==", Level.COMPARISON, value, literal(0, Scalar.I32), Scalar.BOOL)
    value = settled(value)
    return combined(f"~{value.within(Level.SIGN)}", value.type, value, level=Level.SIGN)


def _absolute(p: Printer, op: Op) -> Expression:
    type_ = op.result.type
    assert isinstance(type_, Scalar)
    if type_.is_float:
        return floating(p, op)
    operand = settled(p.value(op.operands[0]))
    return operand if not type_.is_signed else call("tl.abs", operand.type, operand)


def _upper_half(p: Printer, op: Op) -> Expression:
    type_ = op.result.type
    assert isinstance(type_, Scalar)
    operands = [to_type(p.value(operand), type_) for operand in op.operands]
    if type_.bits < 32:
        wide = Scalar.I32 if type_.is_signed else Scalar.U32
        left, right = (settled(to_type(operand, wide)) for operand in operands)
        product = infix("*", Level.PRODUCT, left, right, wide)
        return to_type(infix(">>", Level.SHIFT, product, literal(type_.bits, wide), wide), type_)
    return mathematics(op.kind, operands, type_, p.calls)


def _counted_bits(p: Printer, op: Op) -> Expression:
    """Returns an operation on bits; integers of fewer than 32 bits are the lowest bits of 32."""
    type_ = op.result.type
    assert isinstance(type_, Scalar)
    own = {8: Scalar.U8, 16: Scalar.U16, 32: Scalar.U32, 64: Scalar.U64}[type_.bits]
    wide = own if own.bits >= 32 else Scalar.U32
    operand = to_type(to_type(p.value(op.operands[0]), own), wide)
    made = mathematics(op.kind, [operand], wide, p.calls)
    made = replace(made, type=wide if op.kind == "brev" else Scalar.I32, number=None, loose=False)
    if wide is not own and op.kind == "brev":
        made = infix(">>", Level.SHIFT, made, literal(32 - own.bits, Scalar.U32), Scalar.U32)
    if wide is not own and op.kind == "clz":
        made = infix("-", Level.SUM, made, literal(32 - own.bits, Scalar.I32), Scalar.I32)
    return to_type(made, type_)


def where(condition: Expression, yes: Expression, no: Expression, type_: object) -> Expression:
    """Returns `yes` where a condition is true, else `no`."""
    if yes.text == no.text:
        return yes
    if type_ is Scalar.BOOL and (yes.number is not None or no.number is not None):
        return _chosen_truth(condition, yes, no)
    if isinstance(type_, Scalar):
        yes, no = _one_type(yes, no, type_)
        if yes.loose and no.loose and (type_ not in (Scalar.F32, Scalar.I32) or yes.number is None):
            yes = settled(yes)
    return combined(f"tl.where({condition.text}, {yes.text}, {no.text})", yes.type if not yes.loose else no.type
                    if not no.loose else yes.type, condition, yes, no)  # fmt: skip


def _chosen_truth(condition: Expression, yes: Expression, no: Expression) -> Expression:
    """Returns a choice between truth values one of which is known: both of two, or one of them."""
    if no.number is not None:
        is_and, other = not no.number, yes
        condition = condition if is_and else negated(condition)
    else:
        is_and, other = not yes.number, no
        condition = negated(condition) if is_and else condition
    if other.number is not None:
        return condition if bool(other.number) == is_and else other
    return infix("&" if is_and else "|", Level.AND if is_and else Level.OR, condition, other, Scalar.BOOL)


def _one_type(left: Expression, right: Expression, type_: Scalar) -> tuple[Expression, Expression]:
    if not type_.is_float:
        left, right = _met(left, right, type_) if left.number is None or right.number is None else (left, right)
    if left.type != right.type and left.number is None and right.number is None:
        return to_type(left, type_), to_type(right, type_)
    return left, right


def _cast(p: Printer, op: Op) -> Expression:
    source, target = op.operands[0].type, op.result.type
    assert isinstance(source, Scalar)
    assert isinstance(target, Scalar)
    return converted(p, op.operands[0], p.value(op.operands[0]), source, target)


def converted(p: Printer, of: Value, value: Expression, source: Scalar, target: Scalar) -> Expression:
    """Returns a number in another type, as C converts it."""
    if value.number is not None and not target.is_float and not source.is_float:
        return to_type(value, target)
    if p.is_constexpr(value) and not target.is_float and target.bits >= source.bits:
        return replace(value, type=target)  # a number of Python is as wide as what it meets
    if target is Scalar.BOOL:
        return infix("!=", Level.COMPARISON, settled(value), literal(0, source), Scalar.BOOL)
    if source.is_float and not target.is_float and target.bits < Scalar.I32.bits:  # CUDA converts to 32 bits first
        value = to_type(settled(value), Scalar.I32 if target.is_signed else Scalar.U32)
    if source.is_float or source is Scalar.BOOL:
        return to_type(settled(value), target)
    if not target.is_float and target.bits <= source.bits:
        return _narrowed(value, target)
    if not source.is_signed and value.type is signed(source) and not p.is_below_sign(of):
        value = to_type(value, source)
    if target.is_float:
        return to_type(value, target)
    assert isinstance(value.type, Scalar)
    return to_type(value, signed(target) if value.type.is_signed and target.bits >= 32 else target)


def _narrowed(value: Expression, target: Scalar) -> Expression:
    """Returns the lowest bits; an unsigned number of 32 bits or more may stay held as a signed one."""
    assert isinstance(value.type, Scalar)
    if value.type.bits == target.bits and target.bits >= 32 and value.type is signed(target):
        return value
    return to_type(value, signed(target) if target.bits >= 32 else target)


def _bitcast(p: Printer, op: Op) -> Expression | None:
    source, target = op.operands[0].type, op.result.type
    value = p.value(op.operands[0]) if isinstance(source, Scalar | Pointer) else None
    if value is None:
        return None
    if isinstance(target, Pointer):
        return p.pointer_cast(value, target)
    if isinstance(source, Pointer):
        return _address(value) if isinstance(target, Scalar) else None
    if not isinstance(target, Scalar):
        return None
    assert isinstance(source, Scalar)
    if not source.is_float and not target.is_float:
        return to_type(value, target)
    value = settled(to_type(value, source))
    return combined(f"{value.within(Level.ATOM)}.to({type_text(target)}, bitcast=True)", target, value)


_PRINTERS: Mapping[str, Callable[[Printer, Op], Expression | None]] = {
    "neg": _negative_integer,
    "not": _not,
    "abs": _absolute,
    "mulhi": _upper_half,
    "popc": _counted_bits,
    "clz": _counted_bits,
    "brev": _counted_bits,
    "cast": _cast,
    "bitcast": _bitcast,
}

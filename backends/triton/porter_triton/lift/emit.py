"""The functions that only lifting writes, in Triton: reductions and scans over lanes of warps and over a block."""

from __future__ import annotations

from porter.syntax.nodes import Call, Expression
from porter_triton.lower import access, expressions, lvalues
from porter_triton.lower.context import Context
from porter_triton.lower.conversions import cast_text, convert, settled
from porter_triton.lower.emit import Line
from porter_triton.lower.places import SharedArray
from porter_triton.lower.types import FLOAT, Arithmetic, Record
from porter_triton.lower.values import ATOM, Fields, Nothing, Scalar, Value
from porter_triton.refusal import Refusal

_WARP = 32
_TRITON = {"sum": "tl.sum", "max": "tl.max", "min": "tl.min", "xor": "tl.xor_sum"}

_COMBINED = {"and": "bits_and", "or": "bits_or", "product": "multiplied"}
_SEVERAL = frozenset({"argmax", "argmin", "argmax_last", "argmin_last", "rescaled", "welford"})
_REAL = frozenset({"rescaled", "welford"})
_SCANS = {"sum": "tl.cumsum", "product": "tl.cumprod", "max": "larger", "min": "smaller"}


def call(cx: Context, name: str, node: Call) -> Value | None:
    """The value of a reduction or a scan; None for any other name."""
    scope, _, operation = name.partition("_")
    if scope == "array":
        return _of_array(cx, operation, node)
    if operation in _SEVERAL:
        return _of_several(cx, scope, operation, node)
    scan = operation.startswith("scan_")
    operation = operation.removeprefix("scan_")
    if scope not in {"warp", "block"} or operation not in (_SCANS if scan else {*_TRITON, *_COMBINED}):
        return None
    value = settled(expressions.scalar(cx, node.arguments[0]))
    if not isinstance(value.type, Arithmetic):
        raise Refusal(node.line, "a reduction of what is not a number")
    if scan:
        made = _scan(cx, scope, operation, value)
    else:
        made = _of_block(cx, operation, value) if scope == "block" else _of_warp(cx, operation, value, node)
    return convert(made, value.type, node.line)


def _of_array(cx: Context, operation: str, node: Call) -> Nothing:
    """Each element of a shared array becomes the sum of those up to it, or of those before it."""
    array = lvalues.place(cx, node.arguments[0])
    if not isinstance(array, SharedArray) or array.memory is not None or array.size is None or cx.mask is not None:
        raise Refusal(node.line, "a scan of what is not an array of the block")
    if array.elements:
        cx.decisions.indexed.add(array.key)
    helper = cx.helper("scanned" if operation == "scan_inclusive" else "scanned_before")
    cx.emit(Line(f"{helper}({array.name})", array.name))
    return Nothing()


def _of_several(cx: Context, scope: str, operation: str, node: Call) -> Fields:
    """Returns what lanes, or all threads, make together of several values each; for lanes the last argument is the
    width.
    """
    count = 3 if operation == "welford" else 2
    values = [settled(expressions.scalar(cx, a)) for a in node.arguments[:count]]
    if not _fit(operation, values) or (scope == "block" and cx.mask is not None):
        raise Refusal(node.line, "a reduction of several values of other types, or of some threads")
    given = [_tensor(cx, v)[0] for v in values]
    width = _lanes(cx, node.arguments[count], node.line) if scope == "warp" else _WARP
    helper = cx.helper(f"{'segment' if scope == 'warp' else 'block'}_{operation}")
    name = cx.names.temporary("values")
    cx.emit(Line(f"{helper}({', '.join([*given, *([] if width == _WARP else [str(width)])])})", name, count=count))
    parts = tuple(("xyz"[k], Scalar(f"{name}[{k}]", v.type, scope == "warp")) for k, v in enumerate(values))
    return Fields(Record("porter::parts", tuple((field, v.type) for field, v in parts)), parts)


def _fit(operation: str, values: list[Scalar]) -> bool:
    """Returns whether values have the types that the operation is meant for: real numbers, and a whole one for a
    place.
    """
    types = [v.type for v in values if isinstance(v.type, Arithmetic) and not v.type.is_narrow and v.type.bits >= 32]
    if len(types) < len(values):
        return False
    return types[0].is_float and types[1].is_float if operation in _REAL else not types[1].is_float


def _scan(cx: Context, scope: str, operation: str, value: Scalar) -> Scalar:
    """Returns what the threads up to each one make together; those before it are all there, so no mask is asked."""
    text, type_ = _wide(cx, value)
    if scope == "warp":
        return Scalar(f"{cx.helper(f'segment_scan_{operation}')}({text})", type_, True)
    if _SCANS[operation].startswith("tl."):
        return Scalar(f"{_SCANS[operation]}({text}, axis=0)", type_, True)
    return Scalar(f"tl.associative_scan({text}, 0, {cx.helper(_SCANS[operation])})", type_, True)


def _of_block(cx: Context, operation: str, value: Scalar) -> Scalar:
    text, type_ = _wide(cx, value)
    if cx.mask is not None:
        text = f"tl.where({cx.mask.text}, {text}, {_neutral(operation, type_)})"
    if operation in _TRITON:
        return Scalar(f"{_TRITON[operation]}({text}, axis=0)", type_)
    return Scalar(f"tl.reduce({text}, 0, {cx.helper(_COMBINED[operation])})", type_)


def _of_warp(cx: Context, operation: str, value: Scalar, node: Call) -> Scalar:
    assert isinstance(value.type, Arithmetic)
    steps = operation == "sum" and value.type.is_narrow  # what 16 bits lose in each step shows in the result
    text, type_ = _tensor(cx, value) if steps else _wide(cx, value)
    width = _lanes(cx, node.arguments[1], node.line) if len(node.arguments) > 1 else _WARP
    more = "" if width == _WARP else f", {width}"
    name = "segment_sum_in_steps" if steps else f"segment_{operation}"
    return Scalar(f"{cx.helper(name)}({text}{more})", type_, True)


def _lanes(cx: Context, extent: Expression, line: int) -> int:
    given = access.scalar(expressions.value(cx, extent), line).fixed
    if given is None or given & (given - 1) or not 1 <= given <= _WARP:
        raise Refusal(line, "the width of a reduction over lanes is not a known power of two")
    return int(given)


def _wide(cx: Context, value: Scalar) -> tuple[str, Arithmetic]:
    """A value with an element a thread; 16-bit floats as float32, in which they are added and compared."""
    assert isinstance(value.type, Arithmetic)
    if value.type.is_narrow:
        value = cast_text(value, FLOAT)
    return _tensor(cx, value)


def _tensor(cx: Context, value: Scalar) -> tuple[str, Arithmetic]:
    assert isinstance(value.type, Arithmetic)
    if value.varying:
        return value.within(ATOM).removeprefix("(").removesuffix(")") if value.is_name else value.text, value.type
    return f"tl.full([{cx.block}], {value.text}, {value.type.triton})", value.type


def _neutral(operation: str, type_: Arithmetic) -> str:
    if operation in {"sum", "or", "xor"}:
        return "0.0" if type_.is_float else "0"
    if operation == "product":
        return "1.0" if type_.is_float else "1"
    if operation == "and":
        return str(-1 if type_.kind == "int" else type_.high)
    if type_.is_float:
        return 'float("-inf")' if operation == "max" else 'float("inf")'
    return str(type_.low if operation == "max" else type_.high)

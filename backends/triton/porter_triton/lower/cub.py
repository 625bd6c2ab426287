"""CUB's collectives for a block or a warp, as Triton's own reductions and scans."""

from __future__ import annotations

from porter.source.qualified import unqualified
from porter.syntax.nodes import Binary, Call, Expression, Member, Name, TypeName
from porter_triton.lower import access, block_fold, block_io, expressions, lvalues, resolve, warp
from porter_triton.lower.context import Context
from porter_triton.lower.conversions import convert, settled
from porter_triton.lower.own_operations import own_operation
from porter_triton.lower.types import Arithmetic
from porter_triton.lower.values import ATOM, SUM, Collective, Nothing, Scalar, Value
from porter_triton.refusal import Refusal

_KINDS = {
    "BlockReduce": "reduce",
    "WarpReduce": "warp",
    "BlockScan": "scan",
    "BlockLoad": "load",
    "BlockStore": "store",
}
_OPERATIONS = {"Sum": "sum", "Max": "max", "Min": "min", "plus": "sum", "maximum": "max", "minimum": "min"}
_WIDTHS = {"reduce": 0, "warp": 32}  # threads that reduce together; 0 for those of a block
_OF_WARP = {"sum": "add", "max": "max", "min": "min"}


def collective(cx: Context, name: TypeName) -> Collective | None:
    """The collective that a type is, aliases followed; None for any other type."""
    seen = name
    for _ in range(8):
        plain = unqualified(seen.name)
        if seen.name.startswith("cub::") and plain in _KINDS:
            striped = any("_STRIPED" in str(getattr(a, "name", "")) for a in seen.arguments)
            element = seen.arguments[0] if seen.arguments else None
            return Collective(_KINDS[plain], striped, element if isinstance(element, TypeName) else None)
        bound = cx.find(seen.name)
        if not isinstance(bound, TypeName):
            found = [a.type for a in cx.unit.aliases if a.name == seen.name and not a.template]
            bound = found[-1] if found else None
        if bound is None or bound == seen:
            return None
        seen = bound
    return None


def is_storage(cx: Context, name: TypeName) -> bool:
    """Returns whether a type is what a collective asks shared memory for; registers need none."""
    owner, _, member = name.name.rpartition("::")
    return member == "TempStorage" and collective(cx, TypeName(owner, name.arguments)) is not None


def method(cx: Context, used: Collective, callee: Member, node: Call) -> Value:
    """`BlockReduce(storage).Sum(v)` and its like."""
    if used.kind in {"load", "store"}:
        return block_io.method(cx, used, callee, node)
    own = _own(cx, used, callee, node)
    if callee.name == "Reduce" and used.kind in _WIDTHS and not own and not _operation(cx, node.arguments[1]):
        return block_fold.fold(cx, node, _WIDTHS[used.kind])
    value = settled(expressions.scalar(cx, node.arguments[0]))
    if not isinstance(value.type, Arithmetic):
        raise Refusal(node.line, "a collective on pointers")
    if used.kind == "scan":
        return _scanned(cx, callee.name, value, node)
    needed = {"Sum": 1, "Reduce": 2}.get(callee.name, len(node.arguments) + 1)
    count = node.arguments[needed] if len(node.arguments) == needed + 1 else None
    if len(node.arguments) != needed and (count is None or used.kind == "warp"):
        raise Refusal(node.line, f"`{callee.name}` of a collective for so many arguments")
    operation = own or _operation(cx, node.arguments[1]) if callee.name == "Reduce" else "sum"
    if own and used.element is not None:
        element = resolve.type_of(cx, used.element, node.line)
        assert isinstance(element, Arithmetic)
        value = convert(value, element)
    if used.kind == "warp":
        return warp.reduce(cx, _OF_WARP[operation], None, value)
    if count is None:
        return _reduced(cx, operation, value)
    with cx.where(expressions.truth(cx, Binary("<", block_io.threads_number(), count, node.line))):
        return _reduced(cx, operation, value)


def _own(cx: Context, used: Collective, callee: Member, node: Call) -> str:
    """The word for the source's own operation on what a collective is of; empty where it has none."""
    if callee.name != "Reduce" or used.element is None:
        return ""
    return own_operation(cx, node.arguments[1], resolve.type_of(cx, used.element, node.line))


def _operation(cx: Context, node: Expression) -> str:
    """Returns what Triton has for an operation of CUB's or C++'s own; empty for one of the source's."""
    name = ""
    if isinstance(node, Call) and isinstance(node.callee, Name):
        name = node.callee.name
    elif isinstance(getattr(node, "type", None), TypeName):
        name = node.type.name  # type: ignore[union-attr]
    return "" if cx.unit.struct(name) else _OPERATIONS.get(unqualified(name), "")


def _neutral(operation: str, type_: Arithmetic) -> str:
    if operation == "sum":
        return "0.0" if type_.is_float else "0"
    if type_.is_float:
        return 'float("-inf")' if operation == "max" else 'float("inf")'
    return str(type_.low if operation == "max" else type_.high)


def _spread(cx: Context, operation: str, value: Scalar) -> str:
    """A value of each thread, neutral in those that do not run."""
    assert isinstance(value.type, Arithmetic)
    text = value.text if value.varying else f"tl.full([{cx.block}], {value.text}, {value.type.triton})"
    if cx.mask is not None:
        text = f"tl.where({cx.mask.text}, {text}, {_neutral(operation, value.type)})"
    return text


def _reduced(cx: Context, operation: str, value: Scalar) -> Scalar:
    """Only the first thread may use the result, so all may have it."""
    assert isinstance(value.type, Arithmetic)
    text = f"tl.{operation}({_spread(cx, operation, value)}, axis=0)"
    if value.type.bits < 32:
        text = f"{text}.to({value.type.triton})"
    return cx.temporary(Scalar(text, value.type), "total")


def _scanned(cx: Context, name: str, value: Scalar, node: Call) -> Value:
    if name not in {"InclusiveSum", "ExclusiveSum"} or len(node.arguments) not in {2, 3}:
        raise Refusal(node.line, f"`{name}` of a block's scan")
    assert isinstance(value.type, Arithmetic)
    each = cx.temporary(Scalar(_spread(cx, "sum", value), value.type, True), "each").text
    text, level = f"tl.cumsum({each}, axis=0)", ATOM
    if name == "ExclusiveSum":
        text, level = f"{text} - {each}", SUM
    total = None
    if len(node.arguments) == 3:
        total = cx.temporary(Scalar(f"tl.sum({each}, axis=0)", value.type), "total")
    scanned = cx.temporary(Scalar(text, value.type, True, level), "scanned")
    for target, result in zip(node.arguments[1:], (scanned, total), strict=False):
        if result is not None:
            place = lvalues.place(cx, target)
            held = access.place_type(place)
            access.store(cx, place, convert(result, held) if isinstance(held, Arithmetic) else result, node.line)
    return Nothing()

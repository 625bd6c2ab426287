"""CUB's loads and stores of a block: `Load(pointer, items)` as the loop over each thread's items that it is."""

from __future__ import annotations

from collections.abc import Callable

from porter.syntax.nodes import (
    Assign,
    Binary,
    Block,
    Call,
    Declare,
    Evaluate,
    Expression,
    For,
    If,
    Literal,
    Member,
    Name,
    Statement,
    Subscript,
    TypeName,
    Update,
    Variable,
)
from porter_triton.lower import lvalues, statements
from porter_triton.lower.context import Context
from porter_triton.lower.places import LocalArray, Slot
from porter_triton.lower.values import Collective, Nothing
from porter_triton.refusal import Refusal

_ITEM, _AT = "cub_item", "cub_at"


def method(cx: Context, collective: Collective, callee: Member, node: Call) -> Nothing:
    """`BlockLoad(storage).Load(...)` and `BlockStore(storage).Store(...)`."""
    loads = collective.kind == "load"
    count = _items(cx, node.arguments[1], node.line)
    if callee.name != ("Load" if loads else "Store") or not 2 <= len(node.arguments) <= (4 if loads else 3):
        raise Refusal(node.line, f"`{callee.name}` of a block's {collective.kind}")
    make: Callable[[], Statement] = lambda: _loop(node, count, loads, collective.striped)  # noqa: E731
    statements.statement(cx, cx.rewritten(node, make))
    return Nothing()


def _items(cx: Context, node: Expression, line: int) -> int:
    """Returns how many items a thread has: the size of its array."""
    place = lvalues.place(cx, node)
    if isinstance(place, LocalArray):
        return place.count
    if isinstance(place, Slot) and isinstance(place.array, LocalArray) and len(place.extents) == 1:
        return place.extents[0]
    raise Refusal(line, "the items of a collective are not an array of the thread's own")


def _loop(node: Call, count: int, loads: bool, striped: bool) -> Statement:
    """`for (int item = 0; item < count; ++item) items[item] = pointer[at];`, within bounds where some are given."""
    line = node.line
    pointer, items, *rest = node.arguments
    item, at = Name(_ITEM, (), line), Name(_AT, (), line)
    ours, theirs = Subscript(items, item, line), Subscript(pointer, at, line)
    copy = _set(ours, theirs) if loads else _set(theirs, ours)
    if rest:
        otherwise = Block((_set(ours, rest[1]),), line) if len(rest) > 1 else None
        copy = If(Binary("<", at, rest[0], line), Block((copy,), line), otherwise, line=line)
    first = Binary("*", threads_number(), Literal(1 if striped else count, "int", line), line)
    step = Binary("*", item, blocks_threads(), line) if striped else item
    place = _integer(_AT, Binary("+", first, step, line), line)
    condition = Binary("<", item, Literal(count, "int", line), line)
    body = Block((place, copy), line)
    return For((_integer(_ITEM, Literal(0, "int", line), line),), condition, Update("++", item, True, line), body,
               line=line)  # fmt: skip


def _axis(owner: str, *axes: str) -> tuple[Expression, ...]:
    return tuple(Member(Name(owner), axis) for axis in axes)


def blocks_threads() -> Expression:
    """Returns how many threads a block has."""
    x, y, z = _axis("blockDim", "x", "y", "z")
    return Binary("*", Binary("*", x, y), z)


def threads_number() -> Expression:
    """The thread's number in the block."""
    threads = _axis("blockDim", "x", "y")
    x, y, z = _axis("threadIdx", "x", "y", "z")
    return Binary("+", x, Binary("*", threads[0], Binary("+", y, Binary("*", threads[1], z))))


def _set(target: Expression, value: Expression) -> Statement:
    return Evaluate(Assign("", target, value, value.line), value.line)


def _integer(name: str, value: Expression, line: int) -> Statement:
    return Declare((Variable(name, TypeName("int"), value=value, line=line),), line)

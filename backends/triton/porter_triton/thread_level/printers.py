"""Lists the printers of operations that are more than arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from porter.ir.simt.ops import Op
from porter.ir.simt.types import Pointer, Scalar, Vector
from porter_triton.thread_level import branches, exchange, loops, memory
from porter_triton.thread_level.arithmetic import where
from porter_triton.thread_level.expressions import Expression, literal
from porter_triton.thread_level.printer import Printer


def _constant(p: Printer, op: Op) -> None:
    type_ = op.result.type
    value = op.attribute("value")
    assert not isinstance(value, str)
    if (spelled := p.spelled.get(op.result)) is not None:
        p.values[op.result] = spelled
        return
    p.values[op.result] = literal(value, type_) if isinstance(type_, Scalar) else _null(type_)


def _null(type_: object) -> Expression:
    assert isinstance(type_, Pointer)
    return Expression("None", type_)


def _undefined(p: Printer, op: Op) -> None:
    type_ = op.result.type
    if isinstance(type_, Vector):
        p.values[op.result] = (literal(0, type_.element),) * type_.count
    elif isinstance(type_, Scalar):
        p.values[op.result] = literal(0, type_)
    else:
        p.values[op.result] = _null(type_)


def _place(p: Printer, op: Op) -> None:
    axis = op.attribute("axis")
    assert isinstance(axis, int)
    p.values[op.result] = p.coordinate(op.kind, axis)


def _pack(p: Printer, op: Op) -> None:
    p.values[op.result] = tuple(p.atom(p.value(operand), "value") for operand in op.operands)


def _extract(p: Printer, op: Op) -> None:
    index = op.attribute("index")
    assert isinstance(index, int)
    p.values[op.result] = p.parts(op.operands[0])[index]


def _select(p: Printer, op: Op) -> None:
    type_ = op.result.type
    if not isinstance(type_, Vector):
        condition, yes, no = (p.value(operand) for operand in op.operands)
        p.hold(op, where(condition, yes, no, type_))
        return
    condition = p.atom(p.value(op.operands[0]), "condition")
    pairs = zip(*(p.parts(operand) for operand in op.operands[1:]), strict=True)
    p.values[op.result] = tuple(p.atom(where(condition, a, b, type_.element), "value") for a, b in pairs)


PRINTERS: Mapping[str, Callable[[Printer, Op], None]] = {
    "constant": _constant,
    "undefined": _undefined,
    "thread_index": _place,
    "block_index": _place,
    "block_extent": _place,
    "grid_extent": _place,
    "pack": _pack,
    "extract": _extract,
    "select": _select,
    "array": memory.reserved,
    "dynamic_shared": memory.reserved,
    "offset": memory.offset,
    "distance": memory.distance,
    "load": memory.load,
    "store": memory.store,
    "atomic": memory.atomic,
    "barrier": exchange.barrier,
    "shuffle": exchange.shuffle,
    "vote": exchange.vote,
    "match": exchange.match,
    "reduce": exchange.reduce,
    "scan": exchange.scan,
    "assert": exchange.check,
    "print": exchange.left_out,
    "if": branches.branch,
    "for": loops.counted,
    "while": loops.repeated,
}

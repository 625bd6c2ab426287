"""Choices for indices: an access to a short array of a thread at an index that is not known is one to each element.

A load is a choice among all elements, a store changes the one that is meant. Then the array is only accessed at known
places, and can be values in registers, where it would be memory that every access waits for.
"""

from __future__ import annotations

from collections.abc import Iterator

from porter.ir.simt.analyses.uses import uses
from porter.ir.simt.ops import Function, Op, Value, walk
from porter.ir.simt.transforms.folding import constant
from porter.ir.simt.transforms.rewriting import Replacement, rewritten
from porter.ir.simt.types import Array, Scalar, Space

_MOST_ELEMENTS = 16
_MOST_CHOICES = 256  # of all accesses to one array


def with_array_choices(function: Function) -> Function:
    """Returns `function` with choices where a thread indexes a short array of its own."""
    numbers = {op.result for op in walk(function.body) if op.kind == "constant"}
    used = uses(function)
    arrays = (op.result for op in walk(function.body) if op.kind == "array")
    short = {array for array in arrays if _is_short(array, used.get(array, ()), numbers)}
    if not short:
        return function

    def rule(op: Op) -> Replacement | None:
        if op.kind not in ("load", "store") or op.operands[0] not in short or op.operands[1] in numbers:
            return None
        return _loaded(op) if op.kind == "load" else _stored(op)

    return rewritten(function, rule)


def _is_short(array: Value, users: tuple[Op, ...], numbers: set[Value]) -> bool:
    """Returns whether an array is a thread's own, of few numbers, and all that is done with it is to load and store."""
    type_ = array.type
    assert isinstance(type_, Array)
    if type_.space is not Space.LOCAL or not isinstance(type_.element, Scalar) or type_.count > _MOST_ELEMENTS:
        return False
    if any(op.kind not in ("load", "store") or array in op.operands[1:] for op in users):
        return False
    return sum(op.operands[1] not in numbers for op in users) * type_.count <= _MOST_CHOICES


def _loaded(op: Op) -> Replacement:
    array, index = op.operands
    ops: list[Op] = []
    found: Value | None = None
    for number in _elements(array, index, ops):
        one = _emitted(ops, Op("load", (array, number), (Value(op.result.type, op.result.name),), (), (), op.location))
        found = one if found is None else _chosen(ops, index, number, (one, found))
    assert found is not None
    return Replacement(tuple(ops), (found,))


def _stored(op: Op) -> Replacement:
    array, index, value = op.operands
    ops: list[Op] = []
    for number in _elements(array, index, ops):
        before = _emitted(ops, Op("load", (array, number), (Value(value.type),), (), (), op.location))
        after = _chosen(ops, index, number, (value, before))
        ops.append(Op("store", (array, number, after), (), (), (), op.location))
    return Replacement(tuple(ops), ())


def _elements(array: Value, index: Value, ops: list[Op]) -> Iterator[Value]:
    """Yields the index of each element, in the type of `index`."""
    assert isinstance(array.type, Array)
    assert isinstance(index.type, Scalar)
    for number in range(array.type.count):
        yield _emitted(ops, constant(index.type, number))


def _chosen(ops: list[Op], index: Value, number: Value, values: tuple[Value, Value]) -> Value:
    """Returns the first of two values where `index` is `number`, else the second."""
    is_meant = _emitted(ops, Op("eq", (index, number), (Value(Scalar.BOOL),)))
    return _emitted(ops, Op("select", (is_meant, *values), (Value(values[0].type, values[0].name),)))


def _emitted(ops: list[Op], op: Op) -> Value:
    ops.append(op)
    return op.result

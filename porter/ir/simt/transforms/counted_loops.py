"""Counted loops: a `while` that compares a variable with a limit, and adds a step to it at its end, becomes a `for`.

Limit and step are values from outside of the loop, and nobody asks afterwards how far it counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

from porter.ir.simt.analyses.uses import uses
from porter.ir.simt.ops import Block, Function, Op, Value, walk
from porter.ir.simt.transforms.rewriting import Replacement, rewritten
from porter.ir.simt.types import Scalar

_COMPARED = ("lt", "le", "gt", "ge")


def with_counted_loops(function: Function) -> Function:
    """Returns `function` with the loops counted that count."""
    used = uses(function)
    return rewritten(function, lambda op: _counted(op, used) if op.kind == "while" else None)


@dataclass(frozen=True, slots=True)
class _Count:
    """The variable number `number` of a loop, which goes on while it compares so with the limit."""

    number: int
    compare: str
    limit: Value
    step: Value


def _counted(op: Op, used: Mapping[Value, tuple[Op, ...]]) -> Replacement | None:
    count = _count(op)
    if count is None or used.get(op.results[count.number]):
        return None
    number = count.number
    body = op.regions[1]
    type_ = op.operands[number].type
    before: tuple[Op, ...] = ()
    step = count.step
    if step.type != type_:
        before = (Op("cast", (step,), (Value(type_),)),)
        step = before[0].result
    counter, others = body.arguments[number], _without(body.arguments, number)
    ended = replace(body.ops[-1], operands=_without(body.ops[-1].operands, number))
    region = Block((counter, *others), (*body.ops[:-1], ended))
    results = tuple(Value(result.type, result.name) for result in _without(op.results, number))
    operands = (op.operands[number], count.limit, step, *_without(op.operands, number))
    loop = Op("for", operands, results, (("compare", count.compare),), (region,), op.location)
    shown = list(results)
    shown.insert(number, op.operands[number])  # which nobody uses
    return Replacement((*before, loop), tuple(shown))


def _without(values: Sequence[Value], number: int) -> tuple[Value, ...]:
    return (*values[:number], *values[number + 1 :])


def _count(op: Op) -> _Count | None:
    """Returns what a loop counts; None where it does not."""
    head, body = op.regions
    if len(head.ops) != 2 or head.ops[0].kind not in _COMPARED or head.ops[1].operands[1:] != head.arguments:
        return None
    compared, limit = head.ops[0].operands
    if head.ops[1].operands[0] is not head.ops[0].result or compared not in head.arguments:
        return None
    number = head.arguments.index(compared)
    inside = _defined(op)
    step = _step(body, number, inside)
    type_ = compared.type
    is_whole = isinstance(type_, Scalar) and type_.is_integer
    if step is None or limit in inside or limit in head.arguments or not is_whole:
        return None
    return _Count(number, head.ops[0].kind, limit, step)


def _defined(op: Op) -> AbstractSet[Value]:
    """Returns the values that are defined within a loop."""
    found: set[Value] = set()
    for region in op.regions:
        found.update(region.arguments)
        for inner in walk(region):
            found.update(inner.results)
            found.update(argument for part in inner.regions for argument in part.arguments)
    return found


def _step(body: Block, number: int, inside: AbstractSet[Value]) -> Value | None:
    """Returns what an iteration adds to a variable, whose bits it may see as a number with or without a sign."""
    makers = {op.result: op for op in body.ops if len(op.results) == 1}

    def plain(value: Value) -> Value:
        maker = makers.get(value)
        if maker is None or maker.kind != "cast" or _bits(maker.operands[0]) != _bits(value):
            return value
        return plain(maker.operands[0])

    added = makers.get(plain(body.ops[-1].operands[number]))
    if added is None or added.kind != "add":
        return None
    for one, step in (added.operands, added.operands[::-1]):
        if plain(one) is body.arguments[number] and step not in inside and _bits(step) == _bits(one):
            return step
    return None


def _bits(value: Value) -> int:
    return value.type.bits if isinstance(value.type, Scalar) and value.type.is_integer else 0

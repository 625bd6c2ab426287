"""Counted loops: a `while` that compares a variable with a limit, and adds a step to it at its end, becomes a `for`.

Limit and step are values from outside of the loop, and nobody asks afterwards how far it counted. A variable with a
sign that begins at 0 or more and grows may be compared with a limit without one, as `int i < gridDim.x` is: it never
wraps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

from porter.ir.simt.analyses.ranges import Range, limits, ranges
from porter.ir.simt.analyses.uses import uses
from porter.ir.simt.ops import Block, Function, Op, Value, walk
from porter.ir.simt.transforms.rewriting import Replacement, rewritten
from porter.ir.simt.types import Scalar

_COMPARED = ("lt", "le", "gt", "ge")


def with_counted_loops(function: Function) -> Function:
    """Returns `function` with the loops counted that count."""
    used, known = uses(function), ranges(function)
    return rewritten(function, lambda op: _counted(op, used, known) if op.kind == "while" else None)


@dataclass(frozen=True, slots=True)
class _Count:
    """The variable number `number` of a loop, which goes on while it compares so with the limit."""

    number: int
    compare: str
    limit: Value
    step: Value


def _counted(op: Op, used: Mapping[Value, tuple[Op, ...]], known: Mapping[Value, Range]) -> Replacement | None:
    count = _count(op, known)
    if count is None or used.get(op.results[count.number]):
        return None
    number = count.number
    body = op.regions[1]
    type_ = op.operands[number].type
    before: list[Op] = []

    def cast(value: Value) -> Value:
        if value.type != type_:
            before.append(Op("cast", (value,), (Value(type_),)))
        return before[-1].result if value.type != type_ else value

    limit, step = cast(count.limit), cast(count.step)
    counter, others = body.arguments[number], _without(body.arguments, number)
    ended = replace(body.ops[-1], operands=_without(body.ops[-1].operands, number))
    region = Block((counter, *others), (*body.ops[:-1], ended))
    results = tuple(Value(result.type, result.name) for result in _without(op.results, number))
    operands = (op.operands[number], limit, step, *_without(op.operands, number))
    loop = Op("for", operands, results, (("compare", count.compare),), (region,), op.location)
    shown = list(results)
    shown.insert(number, op.operands[number])  # which nobody uses
    return Replacement((*before, loop), tuple(shown))


def _without(values: Sequence[Value], number: int) -> tuple[Value, ...]:
    return (*values[:number], *values[number + 1 :])


def _count(op: Op, known: Mapping[Value, Range]) -> _Count | None:
    """Returns what a loop counts; None where it does not."""
    head, body = op.regions
    if len(head.ops) < 2:  # it goes on while a variable says so
        return None
    *casts, comparison, end = head.ops
    if comparison.kind not in _COMPARED or end.operands != (comparison.result, *head.arguments):
        return None
    compared, limit = comparison.operands
    if len(casts) == 1 and casts[0].kind == "cast" and casts[0].result is compared:
        compared = casts.pop().operands[0]
    if casts or compared not in head.arguments:
        return None
    number = head.arguments.index(compared)
    inside = _defined(op)
    step = _step(body, number, inside)
    type_ = compared.type
    is_whole = isinstance(type_, Scalar) and type_.is_integer
    if step is None or limit in inside or limit in head.arguments or not is_whole:
        return None
    if limit.type != type_ and not _is_alike(op.operands[number], step, limit, known):
        return None
    return _Count(number, comparison.kind, limit, step)


def _is_alike(begin: Value, step: Value, limit: Value, known: Mapping[Value, Range]) -> bool:
    """Returns whether a variable that counts is compared with a limit of the other sign as with one of its own."""
    if not isinstance(begin.type, Scalar) or not begin.type.is_signed or _bits(begin) != _bits(limit):
        return False
    whole = limits(begin.type)
    lows = [known.get(value, (-1, 0))[0] for value in (begin, step)]
    return min(lows) >= 0 and whole is not None and known.get(limit, (0, whole[1] + 1))[1] <= whole[1]


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

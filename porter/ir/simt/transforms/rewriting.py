"""Copies functions: operation by operation under a rule, or a block with values of its own."""

from __future__ import annotations

from collections.abc import Callable, MutableMapping, Sequence
from dataclasses import dataclass, replace

from porter.ir.simt.cleanup import changed, without_dead_code
from porter.ir.simt.ops import Block, Function, Op, Value


@dataclass(frozen=True, slots=True)
class Replacement:
    """The operations that take the place of one, and the values that stand for its results."""

    ops: tuple[Op, ...]
    results: tuple[Value, ...]


Rule = Callable[[Op], Replacement | None]
Mapped = MutableMapping[Value, Value]


def rewritten(function: Function, rule: Rule) -> Function:
    """Returns `function` with each operation that `rule` replaces, regions before what holds them, without dead code.

    The rule is given an operation whose operands are those of the new function. It gives None for one that stays.
    """
    body = Block((), rewritten_ops(function.body.ops, {}, rule))
    return without_dead_code(replace(function, body=body))


def rewritten_ops(ops: Sequence[Op], mapped: Mapped, rule: Rule) -> tuple[Op, ...]:
    """Returns operations under a rule; `mapped` has what stands for values, afterwards for theirs, too."""
    found: list[Op] = []
    for op in ops:
        operands = tuple(mapped.get(operand, operand) for operand in op.operands)
        regions = tuple(Block(region.arguments, rewritten_ops(region.ops, mapped, rule)) for region in op.regions)
        current = changed(op, operands, regions)
        replacement = rule(current)
        if replacement is None:
            found.append(current)
        else:
            found += replacement.ops
            mapped.update(zip(op.results, replacement.results, strict=True))
    return tuple(found)


def cloned(ops: Sequence[Op], mapped: Mapped) -> tuple[Op, ...]:
    """Returns copies of operations that define values of their own, which `mapped` has afterwards.

    Before, `mapped` has what stands for values from outside.
    """
    found = []
    for op in ops:
        operands = tuple(mapped.get(operand, operand) for operand in op.operands)
        regions = []
        for region in op.regions:
            arguments = tuple(map(_again, region.arguments))
            mapped.update(zip(region.arguments, arguments, strict=True))
            regions.append(Block(arguments, cloned(region.ops, mapped)))
        results = tuple(map(_again, op.results))
        mapped.update(zip(op.results, results, strict=True))
        found.append(replace(op, operands=operands, results=results, regions=tuple(regions)))
    return tuple(found)


def _again(value: Value) -> Value:
    return Value(value.type, value.name)

"""Unrolling: a loop of a few iterations that are all known is written out.

A loop is run on what is known of its values: as long as what decides whether it goes on is a number, one iteration
follows the other. It pays where iterations index a thread's own memory, which then becomes values, or exchange values
with lanes whose distance is then a number. A loop that computes nothing but numbers which are known is these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from porter.ir.simt.interpret import integers
from porter.ir.simt.interpret.domain import Data
from porter.ir.simt.operations import OPERATIONS
from porter.ir.simt.ops import Function, Op, Value, walk
from porter.ir.simt.transforms.folding import Folding, constant, folded
from porter.ir.simt.transforms.rewriting import Mapped, Replacement, Rule, cloned, rewritten, rewritten_ops
from porter.ir.simt.types import Array, Pointer, Scalar, Space

_MOST_ITERATIONS = 64
_MOST_OPERATIONS = 600  # of a loop that is written out


def unrolled(function: Function) -> Function:
    """Returns `function` with the loops written out that index a thread's own memory or exchange values."""
    return folded(rewritten(folded(function), _Unrolling()))


class _Unrolling:
    """The rule; `_folding` knows which values are numbers."""

    def __init__(self) -> None:
        self._folding = Folding()

    def __call__(self, op: Op) -> Replacement | None:
        """Returns the iterations of a loop; None for what stays."""
        inner = [part for region in op.regions for part in walk(region)]
        pays = any(map(_pays, inner))
        if op.kind in ("for", "while") and (pays or all(map(_is_computed, inner))):
            written = _WrittenOut(self._folding, self, [])
            results = written.loop(op)
            if results is not None and (pays or all(self._folding.known(result) is not None for result in results)):
                return Replacement(tuple(written.ops), results)
        return self._folding(op)


def _is_computed(op: Op) -> bool:
    """Returns whether an operation of a loop computes numbers, which may all be known."""
    return OPERATIONS[op.kind].is_pure or op.kind in ("if", "yield")


def _pays(op: Op) -> bool:
    if op.kind == "shuffle":
        return True
    base = op.operands[0].type if op.operands else None
    is_memory = op.kind in ("load", "store", "atomic", "offset") and isinstance(base, Pointer | Array)
    return is_memory and isinstance(base, Pointer | Array) and base.space is Space.LOCAL


@dataclass
class _WrittenOut:
    """The iterations of one loop so far, in which `rule` writes out loops that have become known."""

    folding: Folding
    rule: Rule
    ops: list[Op]

    def loop(self, op: Op) -> tuple[Value, ...] | None:
        """Returns the results of the loop behind its last iteration; None where that is not known."""
        return self._counted(op) if op.kind == "for" else self._repeated(op)

    def _counted(self, op: Op) -> tuple[Value, ...] | None:
        type_ = op.operands[0].type
        assert isinstance(type_, Scalar)
        limits = [self.folding.known(operand) for operand in op.operands[:3]]
        if not all(isinstance(limit, int) for limit in limits):
            return None
        counter, upper, step = (integers.apply("cast", type_, _number(limit)) for limit in limits)
        carried = op.operands[3:]
        for _ in range(_MOST_ITERATIONS):
            if not bool(integers.apply(str(op.attribute("compare")), Scalar.BOOL, counter, upper)):
                return carried
            named = constant(type_, int(counter))
            self._append((named,))
            made = self._region(op.regions[0].arguments, op.regions[0].ops, (named.result, *carried))
            if made is None:
                return None
            carried, counter = made, integers.apply("add", type_, counter, step)
        return None

    def _repeated(self, op: Op) -> tuple[Value, ...] | None:
        head, body = op.regions
        carried: tuple[Value, ...] | None = op.operands
        for _ in range(_MOST_ITERATIONS):
            made = self._region(head.arguments, head.ops, carried or ())
            if made is None:
                return None
            goes_on = self.folding.known(made[0])
            if goes_on is None:
                return None
            if not goes_on:
                return made[1:]
            carried = self._region(body.arguments, body.ops, made[1:])
            if carried is None:
                return None
        return None

    def _region(
        self, arguments: Sequence[Value], ops: Sequence[Op], given: Sequence[Value]
    ) -> tuple[Value, ...] | None:
        """Runs a region once; returns what it yields, None where the loop gets too long."""
        mapped: Mapped = dict(zip(arguments, given, strict=True))
        *inner, last = _called_like(arguments, cloned(ops, mapped))
        replaced = self._append(inner)
        if len(self.ops) > _MOST_OPERATIONS:
            return None
        return tuple(replaced.get(operand, operand) for operand in last.operands)

    def _append(self, ops: Sequence[Op]) -> Mapped:
        """Appends operations, folded; returns what stands for the values of those that are gone."""
        mapped: Mapped = {}
        self.ops += rewritten_ops(ops, mapped, self.rule)
        return mapped


def _called_like(arguments: Sequence[Value], ops: Sequence[Op]) -> Sequence[Op]:
    """Returns operations in which what is handed on without a name is called like what takes it."""
    handed = ops[-1].operands[len(ops[-1].operands) - len(arguments) :]
    names = {value: argument.name for value, argument in zip(handed, arguments, strict=False) if not value.name}
    mapped: Mapped = {}
    found = []
    for op in ops:
        results = tuple(Value(r.type, names[r]) if r in names else r for r in op.results)
        mapped.update(zip(op.results, results, strict=True))
        found.append(replace(op, results=results))
    return rewritten_ops(found, mapped, lambda _: None)


def _number(limit: object) -> Data:
    return np.array(limit)

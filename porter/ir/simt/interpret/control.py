"""Runs regions: branches and loops, in the lanes that take them.

A condition that is not known is no branch: both sides run under a predicate, stores put what was there where it is
false, and results are selected. A loop on one goes on under it until it is known to be false in every lane.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from porter.ir.simt.interpret import integers
from porter.ir.simt.interpret.domain import Data, Datum, ExecutionError, Mask, is_symbolic, value_type
from porter.ir.simt.interpret.machine import Machine
from porter.ir.simt.ops import Op, Value
from porter.ir.simt.types import Scalar, Type, Vector

_MOST_UNKNOWN = 64  # turns of a loop that data may have ended


def _if(machine: Machine, op: Op) -> None:
    condition = machine.data(op.operands[0])
    if is_symbolic(condition):
        _predicated(machine, op, condition)
        return
    taken = machine.mask & condition
    left = machine.mask & ~condition
    yes, no = op.regions
    if not left.any():
        results = machine.within(yes, taken) if taken.any() else _garbage(machine, op.results)
    elif not taken.any():
        results = machine.within(no, left)
    else:
        pair = zip(op.results, machine.within(yes, taken), machine.within(no, left), strict=True)
        results = [merged(machine, taken, a, b, result.type) for result, a, b in pair]
    machine.values.update(zip(op.results, results, strict=True))


def _predicated(machine: Machine, op: Op, condition: Data) -> None:
    before, of = machine.predicate, machine.domain.apply
    opposite = of("not", Scalar.BOOL, [Scalar.BOOL], [condition])
    true, false = machine.domain.certain(condition)
    sides = []
    for region, holds, excluded in zip(op.regions, (condition, opposite), (false, true), strict=True):
        predicate = holds if before is None else of("and", Scalar.BOOL, [Scalar.BOOL] * 2, [before, holds])
        mask = machine.mask & ~excluded
        runs = mask.any()
        sides.append(machine.within(region, mask, predicate=predicate) if runs else _garbage(machine, op.results))
    for result, yes, no in zip(op.results, *sides, strict=True):
        machine.values[result] = merged(machine, condition, yes, no, result.type)


def _for(machine: Machine, op: Op) -> None:
    counter, upper, step = (machine.settled(operand) for operand in op.operands[:3])
    carried = [machine.values[operand] for operand in op.operands[3:]]
    compare = str(op.attribute("compare"))
    active = machine.mask & integers.apply(compare, Scalar.BOOL, counter, upper)
    while active.any():
        made = machine.within(op.regions[0], active, (counter, *carried))
        carried = _handed(machine, active, made, carried, op.results)
        counter = counter + step
        active = active & integers.apply(compare, Scalar.BOOL, counter, upper)
    machine.values.update(zip(op.results, carried, strict=True))


def _while(machine: Machine, op: Op) -> None:
    head, body = op.regions
    carried = [machine.values[operand] for operand in op.operands]
    active = machine.mask
    while active.any():
        condition, *seen = machine.within(head, active, carried)
        carried = _handed(machine, active, seen, carried, op.results)
        assert not isinstance(condition, tuple)
        if is_symbolic(condition):
            machine.values.update(zip(op.results, _perhaps(machine, op, active, condition, carried), strict=True))
            return
        active = active & condition
        if active.any():
            carried = _handed(machine, active, machine.within(body, active, carried), carried, op.results)
    machine.values.update(zip(op.results, carried, strict=True))


def _perhaps(machine: Machine, op: Op, active: Mask, condition: Data, carried: list[Datum]) -> list[Datum]:
    """Goes on with a loop that goes on where a condition holds that is not known, until it is known not to.

    Returns what the loop carries. Raises `ExecutionError` where that does not come.
    """
    head, body = op.regions
    before = machine.predicate
    holds = condition if before is None else _both(machine, before, condition)
    for _ in range(_MOST_UNKNOWN):
        active = active & (~machine.domain.certain(holds)[1] if is_symbolic(holds) else holds)
        if not active.any():
            return carried
        made = machine.within(body, active, carried, predicate=holds)
        carried = _picked(machine, active, holds, made, carried, op.results)
        again, *seen = machine.within(head, active, carried, predicate=holds)
        assert not isinstance(again, tuple)
        carried = _picked(machine, active, holds, seen, carried, op.results)
        holds = _both(machine, holds, again)
    raise ExecutionError("a value of the data decides how often a loop runs")


def _both(machine: Machine, one: Data, other: Data) -> Data:
    return machine.domain.apply("and", Scalar.BOOL, [Scalar.BOOL] * 2, [one, other])


def _picked(  # noqa: PLR0917 - two ways of each value, and where which is taken
    machine: Machine, active: Mask, holds: Data, new: Sequence[Datum], old: Sequence[Datum], results: Sequence[Value]
) -> list[Datum]:
    """Returns the new values in lanes of `active` where `holds`, else the old ones."""
    made = [merged(machine, holds, a, b, r.type) for a, b, r in zip(new, old, results, strict=True)]
    return _handed(machine, active, made, old, results)


CONTROL: Mapping[str, Callable[[Machine, Op], None]] = {"if": _if, "for": _for, "while": _while}


def _handed(
    machine: Machine, active: Mask, new: Sequence[Datum], old: Sequence[Datum], results: Sequence[Value]
) -> list[Datum]:
    """Returns what a loop carries on: the new values in the lanes that went through it."""
    if active is machine.mask or np.array_equal(active, machine.mask):
        return list(new)
    return [merged(machine, active, a, b, r.type) for a, b, r in zip(new, old, results, strict=True)]


def merged(machine: Machine, condition: Data, yes: Datum, no: Datum, type_: Type) -> Datum:
    """Returns `yes` where `condition` is true, else `no`."""
    if isinstance(type_, Vector):
        pairs = zip(yes, no, strict=True)
        return tuple(_merged(machine, condition, a, b, type_.element) for a, b in pairs)
    assert not isinstance(yes, tuple)
    assert not isinstance(no, tuple)
    return _merged(machine, condition, yes, no, value_type(type_))


def _merged(machine: Machine, condition: Data, yes: Data, no: Data, type_: Scalar) -> Data:
    if is_symbolic(condition) or is_symbolic(yes) != is_symbolic(no):
        return machine.domain.select(condition, yes, no, type_)
    return np.where(condition, yes, no)


def _garbage(machine: Machine, results: Sequence[Value]) -> list[Datum]:
    """Returns values for lanes that do not run."""
    return [
        (machine.domain.undefined(result.type.element),) * result.type.count
        if isinstance(result.type, Vector)
        else machine.domain.undefined(value_type(result.type))
        for result in results
    ]

"""Arrays of columns: an array of structs or vectors that a block shares becomes an array for each of their numbers.

Whichever types addresses within it lead to, they are told in bytes: sums of what is not known, each times a number.
Where all of these are multiples of the size of a struct, what is left over is the field; the rest is the index in its
array.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from math import gcd

from porter.ir.simt.analyses.uses import makers, uses
from porter.ir.simt.ops import Function, Op, Value, walk
from porter.ir.simt.transforms.folding import constant
from porter.ir.simt.transforms.rewriting import Replacement, rewritten
from porter.ir.simt.types import Array, Pointer, Scalar, Space, Vector

_I32 = Scalar.I32


@dataclass(frozen=True, slots=True)
class Sum:
    """A whole number: the sum of values, each times a number, and of `rest`."""

    terms: Mapping[Value, int] = field(default_factory=dict)
    rest: int = 0

    def plus(self, other: Sum, factor: int = 1) -> Sum:
        """Returns the sum with a multiple of another one."""
        terms = dict(self.terms)
        for value, times in other.terms.items():
            terms[value] = terms.get(value, 0) + times * factor
        return Sum({value: times for value, times in terms.items() if times}, self.rest + other.rest * factor)


def arrays_as_columns(function: Function) -> Function:
    """Returns `function` with the shared arrays of structs and vectors taken apart to arrays of numbers."""
    facts = _Facts(makers(function), uses(function))
    plans = [plan for op in walk(function.body) if op.kind == "array" and (plan := facts.plan(op)) is not None]
    found = {address: plan for plan in plans for address in plan.addresses}
    if not found:
        return function

    replaced: dict[Value, Value] = {}

    def rule(op: Op) -> Replacement | None:
        if op.kind == "array":
            plan = found.get(op.result)
            return None if plan is None else plan.declared(op)
        plan = found.get(op.operands[0]) if op.kind in ("load", "store") else None
        if plan is None:
            return None
        made = plan.accessed(op, facts.place(op, plan.addresses[op.operands[0]]), replaced)
        replaced.update(zip(op.results, made.results, strict=True))
        return made

    return rewritten(function, rule)


@dataclass(frozen=True, eq=False, slots=True)
class _Plan:
    """The way to take one array apart: `step` numbers of `unit` bytes are a row; `columns` has an array for each."""

    addresses: Mapping[Value, Sum]
    unit: int
    step: int
    columns: Mapping[int, Value]

    def declared(self, op: Op) -> Replacement:
        return Replacement((*(Op("array", (), (array,)) for array in self.columns.values()), op), op.results)

    def accessed(self, op: Op, told: Sum, replaced: Mapping[Value, Value]) -> Replacement:
        place = Sum({replaced.get(value, value): times for value, times in told.terms.items()}, told.rest)
        element = _element(op.operands[0])
        count = element.count if isinstance(element, Vector) else 1
        kind = element.element if isinstance(element, Vector) else element
        first = place.rest // self.unit
        ops: list[Op] = []
        if op.kind == "load":
            parts = [self._load(ops, place, first + number, kind) for number in range(count)]
            if isinstance(element, Vector):
                ops.append(Op("pack", tuple(parts), (Value(element, op.result.name),)))
                parts = [ops[-1].result]
            return Replacement(tuple(ops), tuple(parts))
        for number in range(count):
            value = op.operands[2]
            if isinstance(element, Vector):
                ops.append(Op("extract", (value,), (Value(kind),), (("index", number),)))
                value = ops[-1].result
            self._store(ops, place, first + number, value, op)
        return Replacement(tuple(ops), ())

    def _load(self, ops: list[Op], place: Sum, number: int, kind: Scalar) -> Value:
        array = self.columns[number % self.step]
        ops.append(Op("load", (array, self._row(ops, place, number)), (Value(_scalar(array)),)))
        if _scalar(array) is not kind:
            ops.append(Op("bitcast", (ops[-1].result,), (Value(kind),)))
        return ops[-1].result

    def _store(self, ops: list[Op], place: Sum, number: int, value: Value, op: Op) -> None:
        array = self.columns[number % self.step]
        if value.type is not _scalar(array):
            ops.append(Op("bitcast", (value,), (Value(_scalar(array)),)))
            value = ops[-1].result
        row = self._row(ops, place, number)
        ops.append(replace(op, operands=(array, row, value)))

    def _row(self, ops: list[Op], place: Sum, number: int) -> Value:
        """Returns the index in a column."""
        ops.append(constant(_I32, number // self.step))
        total = ops[-1].result
        for value, times in place.terms.items():
            part = value
            if value.type is not _I32:
                ops.append(Op("cast", (value,), (Value(_I32),)))
                part = ops[-1].result
            if (factor := times // (self.unit * self.step)) != 1:
                ops.append(constant(_I32, factor))
                ops.append(Op("mul", (part, ops[-1].result), (Value(_I32),)))
                part = ops[-1].result
            ops.append(Op("add", (part, total), (Value(_I32),)))
            total = ops[-1].result
        return total


@dataclass
class _Facts:
    makers: Mapping[Value, Op]
    uses: Mapping[Value, tuple[Op, ...]]

    def plan(self, root: Op) -> _Plan | None:
        """Returns how an array is taken apart; None for one that stays."""
        type_ = root.result.type
        if not isinstance(type_, Array) or type_.space is not Space.SHARED:
            return None
        addresses: dict[Value, Sum] = {root.result: Sum()}
        accesses = self._accesses(root.result, addresses)
        if not accesses:
            return None
        elements = {_element(op.operands[0]) for op in accesses}
        units = {(e.element if isinstance(e, Vector) else e).bytes for e in elements}
        places = [self.place(op, addresses[op.operands[0]]) for op in accesses]
        unit = min(units)
        is_plain = elements == {type_.element} and not isinstance(type_.element, Vector)
        if len(units) > 1 or any(number % unit for place in places for number in (place.rest, *place.terms.values())):
            return None
        count = type_.element.bytes * type_.count // unit
        step = reduce(gcd, (times // unit for place in places for times in place.terms.values()), 0) or count
        if (step <= 1 and is_plain) or (is_plain and not any(place.terms for place in places)):
            return None
        return _Plan(addresses, unit, step, _columns(root.result, accesses, places, (unit, step, count)))

    def _accesses(self, address: Value, found: dict[Value, Sum]) -> list[Op]:
        """Lists the accesses by an address and those made of it; empty where something else is done with one."""
        accesses: list[Op] = []
        for user in self.uses.get(address, ()):
            if user.kind in ("load", "store") and address not in user.operands[1:]:
                accesses.append(user)
                continue
            if user.kind == "offset":
                found[user.result] = self.place(user, found[address])
            elif user.kind == "bitcast" and isinstance(user.result.type, Pointer):
                found[user.result] = found[address]
            else:
                return []
            inner = self._accesses(user.result, found)
            if not inner and self.uses.get(user.result):
                return []
            accesses += inner
        return accesses

    def place(self, op: Op, base: Sum) -> Sum:
        """Returns the byte that an access or offset leads to, from the array's begin."""
        return base.plus(self._sum(op.operands[1]), _element(op.operands[0]).bytes)

    def _sum(self, value: Value) -> Sum:
        maker = self.makers.get(value)
        if maker is None:
            return Sum({value: 1})
        if maker.kind == "constant":
            return Sum({}, int(maker.attribute("value")))
        if maker.kind == "cast" and _is_whole(maker.operands[0]):
            return self._sum(maker.operands[0])
        if maker.kind in ("add", "sub"):
            one, other = map(self._sum, maker.operands)
            return one.plus(other, 1 if maker.kind == "add" else -1)
        if maker.kind in ("mul", "shl"):
            for given, by in (maker.operands, maker.operands[::-1]):
                factor = self._sum(by)
                if not factor.terms and (maker.kind == "mul" or by is maker.operands[1]):
                    return Sum().plus(self._sum(given), factor.rest if maker.kind == "mul" else 1 << factor.rest)
        return Sum({value: 1})


def _columns(
    root: Value, accesses: Sequence[Op], places: Sequence[Sum], sizes: tuple[int, int, int]
) -> Mapping[int, Value]:
    """Returns the arrays of the columns that are accessed, by their numbers."""
    unit, step, count = sizes
    kinds: dict[int, Scalar] = {}
    for op, place in zip(accesses, places, strict=True):
        element = _element(op.operands[0])
        width = element.count if isinstance(element, Vector) else 1
        for number in range(width):
            kind = element.element if isinstance(element, Vector) else element
            kinds.setdefault((place.rest // unit + number) % step, kind)
    return {
        column: Value(Array(kind, -(-(count - column) // step), Space.SHARED), f"{root.name}_{column}")
        for column, kind in sorted(kinds.items())
    }


def _element(address: Value) -> Scalar | Vector:
    assert isinstance(address.type, Pointer | Array)
    return address.type.element


def _scalar(array: Value) -> Scalar:
    element = _element(array)
    assert isinstance(element, Scalar)
    return element


def _is_whole(value: Value) -> bool:
    return isinstance(value.type, Scalar) and value.type.is_integer

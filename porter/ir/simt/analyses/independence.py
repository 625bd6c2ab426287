"""Independence: loops whose iterations have nothing to do with each other but what they add up or compare.

No iteration reads what another one hands on, each store goes to another place in each iteration of a thread, and a
buffer that the loop writes is touched in it at one index only. So several iterations may be carried out at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from porter.ir.simt.analyses.accesses import Roots
from porter.ir.simt.analyses.ranges import Range
from porter.ir.simt.operations import OPERATIONS, Effect
from porter.ir.simt.ops import Block, Op, Value
from porter.ir.simt.types import Pointer, Scalar, Space

_GATHERING = ("add", "min", "max")
_LINEAR = ("cast", "add", "sub", "mul", "offset")
_Address = tuple[Value, Value]


@dataclass(frozen=True, slots=True)
class Tables:
    """Holds what is known of the function of a loop: what varies, and makers, users, roots and ranges of values."""

    varying: AbstractSet[Value]
    makers: Mapping[Value, Op]
    uses: Mapping[Value, tuple[Op, ...]]
    roots: Mapping[Value, Roots]
    ranges: Mapping[Value, Range]


@dataclass(frozen=True, slots=True)
class Independent:
    """Holds what is known of a loop whose iterations are independent.

    `gathered` says for each number that the loop carries how iterations change it: "add", "min" or "max", or "" where
    none does. `wide` are the values that differ between iterations, `addresses` those among the addresses, `bits` has
    the smallest number that is loaded. `is_masked`: each access is under the condition that the thread's place is in
    front of the limit; `is_bordered`: iterations differ in which threads access memory. `read` and `written` is the
    memory that is touched.
    """

    gathered: tuple[str, ...]
    wide: AbstractSet[Value]
    addresses: tuple[_Address, ...]
    bits: int
    is_masked: bool
    is_bordered: bool
    read: Roots
    written: Roots


def independent(loop: Op, tables: Tables) -> Independent | None:
    """Returns what is known of a `for` on which all threads agree; None where its iterations depend on each other."""
    region = loop.regions[0]
    body = _Body(tables, loop, {region.arguments[0]})
    if not body.block(region, (), is_masked=False) or not body.bits:
        return None
    gathered = tuple(map(body.gathering, region.ops[-1].operands, region.arguments[1:]))
    if None in gathered or not body.writes_apart():
        return None
    return Independent(
        tuple(kind or "" for kind in gathered),
        body.wide,
        tuple(address for address in (*body.loaded, *body.stored) if not body.wide.isdisjoint(address)),
        body.bits,
        body.is_masked and not body.has_open_access,
        body.is_bordered,
        body.roots(body.loaded),
        body.roots(body.stored),
    )


@dataclass(slots=True)
class _Body:
    """The operations of an iteration, one after another."""

    tables: Tables
    loop: Op
    wide: set[Value]
    data: set[Value] = field(default_factory=set)  # what follows from what was loaded
    loaded: list[_Address] = field(default_factory=list)
    stored: list[_Address] = field(default_factory=list)
    bits: int = 0
    is_masked: bool = False
    has_open_access: bool = False
    is_bordered: bool = False

    def block(self, block: Block, conditions: tuple[Value, ...], *, is_masked: bool) -> bool:
        """Returns whether the operations of a block, under these conditions, may run for several iterations at once."""
        return all(self._fits(op, conditions, is_masked=is_masked) for op in block.ops)

    def _fits(self, op: Op, conditions: tuple[Value, ...], *, is_masked: bool) -> bool:
        if op.kind == "if":
            return self._branch(op, conditions, is_masked=is_masked)
        if op.kind in ("load", "store"):
            self.has_open_access |= not is_masked
            self.is_bordered |= not self.wide.isdisjoint(conditions)
            fits = self._load(op, conditions) if op.kind == "load" else self._store(op, conditions)
            self._spread(op, op.operands)
            self.data.update(op.results)
            return fits
        self._spread(op, op.operands)
        return op.kind == "yield" or (not op.regions and OPERATIONS[op.kind].effect is Effect.NONE)

    def _branch(self, op: Op, conditions: tuple[Value, ...], *, is_masked: bool) -> bool:
        condition = op.operands[0]
        if condition not in self.tables.varying:
            return False
        limits = self._limits(condition)
        self.is_masked |= limits
        for number, region in enumerate(op.regions):
            inside = is_masked or (limits and number == 0)
            if not self.block(region, (*conditions, condition), is_masked=inside):
                return False
        handed = [value for region in op.regions for value in region.ops[-1].operands]
        self._spread(op, (condition, *handed))
        return True

    def _limits(self, condition: Value) -> bool:
        """Returns whether a condition is that the thread's place is in front of the limit of the loop."""
        maker = self.tables.makers.get(condition)
        if maker is None or maker.kind != "lt" or maker.operands[1] is not self.loop.operands[1]:
            return False
        place = self.tables.makers.get(maker.operands[0])
        counter = self.loop.regions[0].arguments[0]
        if place is None or place.kind != "add" or counter not in place.operands:
            return False
        other = place.operands[1 if place.operands[0] is counter else 0]
        return self.tables.ranges.get(other, (-1, 0))[0] >= 0  # else a thread may be in front of it behind the last

    def _spread(self, op: Op, operands: tuple[Value, ...]) -> None:
        if not self.wide.isdisjoint(operands):
            self.wide.update(op.results)
        if not self.data.isdisjoint(operands):
            self.data.update(op.results)

    def _load(self, op: Op, conditions: tuple[Value, ...]) -> bool:
        address = op.operands[0], op.operands[1]
        self.loaded.append(address)
        if self._is_uneven(conditions) or not self._is_global(address):
            return False
        if self.wide.isdisjoint(address):
            return self.wide.isdisjoint(conditions)
        element = op.result.type
        if not isinstance(element, Scalar) or op.result not in self.tables.varying:
            return False
        self.bits = min(self.bits or element.bits, max(element.bits, 8))
        return True

    def _store(self, op: Op, conditions: tuple[Value, ...]) -> bool:
        pointer, index, value = op.operands
        self.stored.append((pointer, index))
        if self._is_uneven(conditions) or not self._is_global((pointer, index)) or not isinstance(value.type, Scalar):
            return False
        places = [v for v in (pointer, index) if v in self.wide]
        is_apart = len(places) == 1 and self._is_linear(places[0])
        is_own = not self.tables.varying.isdisjoint((pointer, index))
        return is_apart and is_own and (value not in self.tables.varying or value in self.wide)

    def _is_uneven(self, conditions: tuple[Value, ...]) -> bool:
        """Returns whether data decide element by element on an access, which is one an element then.

        A lane of a tile has several neighbours, so that these accesses lie apart: each touches the memory of all.
        """
        return not self.data.isdisjoint(conditions)

    def _is_global(self, address: _Address) -> bool:
        type_ = address[0].type
        return isinstance(type_, Pointer) and type_.space is Space.GLOBAL

    def _is_linear(self, value: Value) -> bool:
        """Returns whether a value grows by the same with each iteration."""
        if value is self.loop.regions[0].arguments[0]:
            return True
        maker = self.tables.makers.get(value)
        if maker is None or maker.kind not in _LINEAR:
            return False
        moving = [operand for operand in maker.operands if operand in self.wide]
        return len(moving) == 1 and self._is_linear(moving[0])

    def writes_apart(self) -> bool:
        """Returns whether what is written is touched at one index only."""
        for root in self.roots(self.stored):
            if root is None or None in self.roots(self.loaded):
                return False
            touching = {address for address in (*self.loaded, *self.stored)
                        if root in self.tables.roots.get(address[0], frozenset())}  # fmt: skip
            if len(touching) > 1:
                return False
        return True

    def roots(self, addresses: list[_Address]) -> Roots:
        """Returns the memory that addresses lead into."""
        return frozenset[Value | None]().union(*(self.tables.roots.get(a[0], frozenset({None})) for a in addresses))

    def gathering(self, value: Value, carried: Value) -> str | None:
        """Returns how an iteration changes a number that it is handed; None where others need it, or it is another."""
        kind, count = self._gathered(value, carried) or ("", 0)
        is_wide_enough = not kind or (isinstance(carried.type, Scalar) and carried.type.bits >= _LEAST_BITS)
        return kind if is_wide_enough and count == len(self.tables.uses.get(carried, ())) else None

    def _gathered(self, value: Value, carried: Value) -> tuple[str, int] | None:
        """Returns what is done to a number to make a value of it, and how many uses of the number that takes."""
        if value is carried:
            return "", 1
        maker = self.tables.makers.get(value)
        if maker is None or len(self.tables.uses.get(value, ())) != 1:
            return None
        if maker.kind in _GATHERING:
            sides = [self._gathered(operand, carried) for operand in maker.operands]
            known = [side for side in sides if side is not None]
            return (maker.kind, known[0][1]) if len(known) == 1 and known[0][0] in ("", maker.kind) else None
        if maker.kind == "if":
            number = maker.results.index(value)
            ways = [self._gathered(region.ops[-1].operands[number], carried) for region in maker.regions]
            known_ways = [way for way in ways if way is not None]
            kinds = {kind for kind, _ in known_ways} - {""}
            if len(known_ways) == len(ways) and len(kinds) <= 1:
                return next(iter(kinds), ""), sum(count for _, count in known_ways)
        return None


_LEAST_BITS = 32  # sums of fewer round after each step

"""Decides which arrays of a block are values: tensors of the program that lie in registers.

A program without races may not tell the order of its threads between barriers, and here each access is carried out for
all threads before the next one. So a load is `tl.gather`, and a store asks for each element which thread writes it:
that is known where the index is a sum of digits of the thread's number, or told by comparing each element with each
thread where both are few. Atomic sums and extremes are told by such comparisons, too. Arrays that are reached in any
other way stay memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from porter.ir.simt.analyses.uniformity import Uniformity
from porter.ir.simt.ops import Block, Function, Op, Value, walk
from porter.ir.simt.types import Array, Pointer, Scalar, Space
from porter_triton.thread_level.affine import Affine, Digit
from porter_triton.thread_level.thread_digits import Pins, ThreadDigits

_MOST_ELEMENTS = 1 << 14  # of a tensor: 64 of the 255 registers of each of 256 threads
_MOST_COMPARISONS = 1 << 16  # elements times threads
_FEW_ELEMENTS = 32  # of an array whose atomic operations are comparisons in each iteration of a loop
_MOST_VARIABLES = 8
_ACCESSES = ("load", "store", "atomic")
COMBINED = frozenset({"add", "min", "max"})  # atomic operations whose order does not matter


@dataclass(frozen=True, eq=False, slots=True)
class BlockArray:
    """An array of `count` elements of a block, None where the launch decides.

    `variables`: all indices are known and few, so each element is a variable of its own.
    """

    root: Value
    element: Scalar
    count: int | None
    accesses: tuple[Op, ...]
    variables: bool

    @property
    def padded(self) -> int | None:
        """Returns the number of elements that its tensor has."""
        return None if self.count is None else 1 << (self.count - 1).bit_length()


@dataclass(frozen=True, slots=True)
class Place:
    """An address: the sum of `steps` is the index in the array."""

    array: BlockArray
    steps: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Condition:
    """The threads that run an operation: those whose digits are `pins`, with further conditions unless `is_exact`."""

    pins: Pins
    is_exact: bool


@dataclass(frozen=True, slots=True)
class Writers:
    """For each element the thread that stores it: `index` is inverted, with these digits of the thread fixed.

    `is_asked`: whether the thread runs must still be asked.
    """

    index: Affine
    pins: Pins
    is_asked: bool


@dataclass
class BlockArrays:
    """The arrays of one function that are values; `places` are the addresses that lead into them."""

    function: Function
    uniformity: Uniformity
    uses: Mapping[Value, tuple[Op, ...]]
    digits: ThreadDigits
    threads: int | None  # elements of a tensor that has one a thread
    shared_bytes: int | None
    places: dict[Value, Place] = field(default_factory=dict)
    conditions: dict[Op, Condition] = field(default_factory=dict)
    _loops: dict[Op, tuple[Op, ...]] = field(default_factory=dict)
    _order: dict[Op, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._note(self.function.body, Condition((), is_exact=True), ())
        for op in walk(self.function.body):
            if op.kind in ("array", "dynamic_shared"):
                self.places |= self._held(op)

    @property
    def roots(self) -> frozenset[Value]:
        """Returns the arrays, as the function has them."""
        return frozenset(place.array.root for place in self.places.values())

    def place(self, op: Op) -> Place | None:
        """Returns the element that a load or store accesses; None for one in memory."""
        if op.kind not in _ACCESSES or op.operands[0] not in self.places:
            return None
        found = self.places[op.operands[0]]
        return Place(found.array, (*found.steps, op.operands[1]))

    def index(self, place: Place) -> Affine | None:
        """Returns the index of an element as a sum of digits; None where it is not one."""
        total = Affine()
        for step in place.steps:
            part = self.digits.of(step)
            if part is None:
                return None
            total = total.plus(part)
        return total

    def is_own(self, place: Place) -> bool:
        """Returns whether each thread means the element with its own number, of as many as there are threads."""
        index = self.index(place)
        digit = None if index is None else index.digit
        same = self.threads is not None and place.array.padded == self.threads
        return digit is not None and digit.divisor == 1 and digit.top and same

    def is_uniform(self, place: Place) -> bool:
        """Returns whether all threads mean the same element."""
        return not any(step in self.uniformity.varying for step in place.steps)

    def writers(self, op: Op, place: Place) -> Writers | None:
        """Returns which thread stores each element; None where the index does not say that."""
        index = self.index(place)
        if index is None or not _names_each_once(index):
            return None
        condition = self.conditions[op]
        pins = self._useful(index, condition.pins)
        if pins is None:
            return None
        is_exact = condition.is_exact and set(pins) == set(condition.pins)
        return Writers(index, pins, is_asked=not is_exact)

    def is_stored_later(self, load: Op, array: BlockArray) -> bool:
        """Returns whether something may be stored after a load."""
        around = set(self._loops[load])
        return any(
            self._order[op] > self._order[load] or not around.isdisjoint(self._loops[op])
            for op in array.accesses
            if op.kind != "load"
        )

    def _note(self, block: Block, running: Condition, loops: tuple[Op, ...]) -> None:
        for op in block.ops:
            self._order[op] = len(self._order)
            self.conditions[op] = running
            self._loops[op] = loops
            apart = bool(op.regions) and self.uniformity.diverges(op)
            inner = Condition(running.pins, running.is_exact and not apart)
            around = loops if op.kind == "if" else (*loops, op)
            for number, region in enumerate(op.regions):
                if op.kind == "if" and apart and number == 0:
                    pins, is_exact = self.digits.pins(op.operands[0])
                    self._note(region, Condition(running.pins + pins, running.is_exact and is_exact), around)
                else:
                    self._note(region, inner, around)

    def _held(self, root: Op) -> dict[Value, Place]:
        """Returns the addresses that lead into an array; none where it has to be memory."""
        told = _addresses(root, self.uses)
        if told is None:
            return {}
        steps, accesses = told
        element = _element(root, steps)
        count = self._count(root, element)
        if element is None or (count is not None and count > _MOST_ELEMENTS) or not accesses:
            return {}
        order = {op: number for number, op in enumerate(walk(self.function.body))}
        accesses = sorted(accesses, key=lambda op: order[op])
        known = [self._known((*steps[op.operands[0]], op.operands[1])) for op in accesses]
        variables = None not in known and len(set(known)) <= _MOST_VARIABLES
        array = BlockArray(root.result, element, count, tuple(accesses), variables)
        found = {address: Place(array, given) for address, given in steps.items()}
        stores = [op for op in accesses if op.kind != "load"]
        if all(self._may_store(op, Place(array, (*steps[op.operands[0]], op.operands[1]))) for op in stores):
            return found
        return {}

    def _known(self, steps: Sequence[Value]) -> int | None:
        numbers = [self.digits.number(step) for step in steps]
        return None if None in numbers else sum(number for number in numbers if number is not None)

    def known_index(self, place: Place) -> int | None:
        """Returns the index of an element where it is a number."""
        return self._known(place.steps)

    def _count(self, root: Op, element: Scalar | None) -> int | None:
        type_ = root.result.type
        if isinstance(type_, Array):
            return type_.count
        return None if self.shared_bytes is None or element is None else max(1, self.shared_bytes // element.bytes)

    def _may_store(self, op: Op, place: Place) -> bool:
        if op.kind == "atomic":
            return place.array.variables or self._may_combine(op, place.array)
        return (
            place.array.variables
            or self.is_uniform(place)
            or self.writers(op, place) is not None
            or self.may_compare(place.array)
        )

    def _may_combine(self, op: Op, array: BlockArray) -> bool:
        """Returns whether comparing each element with each thread is worth it: once, or for few elements."""
        is_small = array.padded is not None and array.padded <= _FEW_ELEMENTS
        return self.may_compare(array) and (is_small or not self._loops[op])

    def may_compare(self, array: BlockArray) -> bool:
        """Returns whether each element can be compared with each thread."""
        return (
            self.threads is not None
            and array.padded is not None
            and array.padded * self.threads <= _MOST_COMPARISONS
        )  # fmt: skip

    def _useful(self, index: Affine, pins: Pins) -> Pins | None:
        """Returns the pins that fix, with the digits of an index, the whole thread; None where some stay open."""
        asked: list[tuple[Digit, int | None]] = [(digit, None) for digit, _ in index.terms]
        asked += pins
        reached, used, is_whole = 1, [], False
        for digit, value in sorted(asked, key=lambda one: (one[0], one[1] is not None)):
            if digit.divisor < reached:
                if value is None:
                    return None
                continue  # the index fixes it already, and the mask is asked
            if digit.divisor > reached:
                return None
            reached *= digit.modulus
            is_whole |= digit.top
            if value is not None:
                used.append((digit, value))
        extents = self.digits.extents
        count = None if None in extents else _product(extents)
        return tuple(used) if is_whole or (count is not None and reached >= count) else None


def _product(extents: Sequence[int | None]) -> int:
    total = 1
    for extent in extents:
        total *= extent or 1
    return total


def _addresses(
    root: Op, uses: Mapping[Value, tuple[Op, ...]]
) -> tuple[dict[Value, tuple[Value, ...]], list[Op]] | None:
    """Returns the addresses that are made of an array's, with their steps, and all accesses by them.

    None where one is used for anything else.
    """
    type_ = root.result.type
    if not isinstance(type_, Array | Pointer) or type_.space is not Space.SHARED:
        return None
    steps: dict[Value, tuple[Value, ...]] = {root.result: ()}
    accesses: dict[Op, None] = {}
    for address in _growing(steps):
        for user in uses.get(address, ()):
            if _is_access(user, uses) and address not in user.operands[1:]:
                accesses[user] = None
            elif user.kind == "offset" and user.operands[0] is address:
                steps[user.result] = (*steps[address], user.operands[1])
            elif user.kind == "bitcast" and address is root.result and root.kind == "dynamic_shared":
                steps[user.result] = ()
            else:
                return None
    return steps, list(accesses)


def _is_access(op: Op, uses: Mapping[Value, tuple[Op, ...]]) -> bool:
    """Returns whether an operation loads, stores, or adds without asking for the old value."""
    if op.kind == "atomic":
        return op.attribute("op") in COMBINED and not uses.get(op.result)
    return op.kind in ("load", "store")


def _growing(found: Mapping[Value, object]) -> Iterator[Value]:
    """Yields the keys of a table that grows meanwhile."""
    seen: set[Value] = set()
    while more := [value for value in found if value not in seen]:
        seen.update(more)
        yield from more


def _element(root: Op, steps: Mapping[Value, tuple[Value, ...]]) -> Scalar | None:
    """Returns the type of the elements that all addresses of an array lead to; None where there are several."""
    addresses = [value for value in steps if len(steps) == 1 or root.kind == "array" or value is not root.result]
    elements = {value.type.element for value in addresses if isinstance(value.type, Array | Pointer)}
    (only,) = elements if len(elements) == 1 else (None,)
    return only if isinstance(only, Scalar) else None


def _names_each_once(index: Affine) -> bool:
    """Returns whether different digits are different elements."""
    span = 0
    for digit, coefficient in sorted(index.terms, key=lambda term: term[1]):
        if coefficient <= span:
            return False
        span += coefficient * (digit.modulus - 1)
    return True

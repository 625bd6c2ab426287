"""Walks a function of the SIMT IR and writes the lines of its Triton text."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from porter.contract.analysis.records import symbol
from porter.ir.simt.analyses.accesses import Roots, needed_barriers, roots
from porter.ir.simt.analyses.ranges import Extents, ranges
from porter.ir.simt.analyses.uniformity import uniformity
from porter.ir.simt.analyses.uses import makers, uses
from porter.ir.simt.operations import COMPARISONS, OPERATIONS, Effect
from porter.ir.simt.ops import Block, Function, Op, Value, walk
from porter.ir.simt.transforms.dead_memory import needs_order
from porter.ir.simt.types import Pointer, Scalar
from porter_triton.device.helper_calls import HelperCall
from porter_triton.device.source import name_beside
from porter_triton.kernel_records import LoweredParameter, Remark
from porter_triton.refusal import Refusal
from porter_triton.thread_level import arithmetic
from porter_triton.thread_level.block_arrays import BlockArrays
from porter_triton.thread_level.expressions import (
    Expression,
    Level,
    combined,
    element_type,
    infix,
    literal,
    settled,
    to_type,
    type_text,
    variable,
)
from porter_triton.thread_level.lines import Line
from porter_triton.thread_level.names import Names
from porter_triton.thread_level.thread_digits import BlockExtents, ThreadDigits

if TYPE_CHECKING:
    from porter_triton.thread_level.block_array_access import Tensor

_LONGEST = 72  # characters of an expression that becomes part of another one
_BY_SIGN = frozenset({"load", "store", "atomic", "offset", "lt", "le", "gt", "ge", "div", "rem", "shr", "min", "max"})
Held = Expression | tuple[Expression, ...]  # of a vector an expression for each number


@dataclass(frozen=True, slots=True)
class Mask:
    """The threads that run: those of `lanes`, all where there is none.

    `is_certain`: at least one of them runs; `has_first`: the first of the block does; `is_single`: only that one.
    """

    lanes: Expression | None = None
    is_certain: bool = True
    is_single: bool = False
    has_first: bool = True


@dataclass
class Printer:
    """Prints one function. `lines` is its text so far; `values` has the text of each value that is printed by now."""

    function: Function
    names: Names
    threads: str = ""
    extents: Extents = ((1, 1024), (1, 1024), (1, 64))
    sizes: BlockExtents = (None, None, None)
    shared_bytes: int | None = None
    together: bool = True
    host_names: frozenset[str] = frozenset()  # of functions of the module beside it
    spelled: Mapping[Value, Expression] = field(default_factory=dict)  # constants that have a name
    lines: list[Line] = field(default_factory=list)
    parameters: list[LoweredParameter] = field(default_factory=list)
    helpers: set[HelperCall] = field(default_factory=set)
    remarks: list[Remark] = field(default_factory=list)
    values: dict[Value, Held] = field(default_factory=dict)
    coordinates: dict[tuple[str, int], Expression] = field(default_factory=dict)
    pointer_parameters: set[str] = field(default_factory=set)
    null_tested: set[Value] = field(default_factory=set)
    mask: Mask = field(default_factory=Mask)
    depth: int = 1
    touched: bool = False  # memory, since the last barrier
    rows: int = 0  # of the tile of iterations that is printed
    is_barrier_owed: bool = False  # before the next access
    meet: bool = False  # lanes wait for each other, or for what another one does to memory

    def __post_init__(self) -> None:
        self.uniformity = uniformity(self.function)
        self.ranges = ranges(self.function, self.extents)
        self.uses: Mapping[Value, tuple[Op, ...]] = uses(self.function)
        self.makers: Mapping[Value, Op] = makers(self.function)
        self.roots: Mapping[Value, Roots] = roots(self.function)
        digits = ThreadDigits(self.makers, self.uniformity.varying, self.sizes)
        known = [extent or 1 for extent in self.sizes]
        self.padded = None if None in self.sizes else 1 << (math.prod(known) - 1).bit_length()
        self.arrays = BlockArrays(self.function, self.uniformity, self.uses, digits, self.padded, self.shared_bytes)
        self.tensors: dict[Value, Tensor] = {}
        self.others: dict[Value, Expression] = {}  # what threads load that do not run
        self.filled: set[Value] = set()  # loads that have that in them
        self.needed_barriers = needed_barriers(self.function, self.arrays.roots)
        self.is_ordered = needs_order(self.function, self.arrays.roots)
        self.has_fences = any(_is_fence(op) for op in walk(self.function.body))
        self._blocks: dict[Op, Block] = {}
        self._holders: dict[Block, Op] = {}
        self._somes: list[dict[str, Expression]] = [{}]
        self._note_blocks(self.function.body)

    def _note_blocks(self, block: Block) -> None:
        for op in block.ops:
            self._blocks[op] = block
            for region in op.regions:
                self._holders[region] = op
                self._note_blocks(region)

    # What values are.

    def value(self, value: Value) -> Expression:
        """Returns the expression of a value that is no vector."""
        found = self.values[value]
        if isinstance(found, tuple):
            raise Refusal(0, "a vector where a number is needed")
        return found

    def parts(self, value: Value) -> tuple[Expression, ...]:
        """Returns the expressions of the numbers that a value is made of."""
        found = self.values[value]
        return found if isinstance(found, tuple) else (found,)

    def is_below_sign(self, value: Value) -> bool:
        """Returns whether an integer is the same number with and without a sign."""
        assert isinstance(value.type, Scalar)
        found = self.ranges.get(value)
        return found is not None and found[0] >= 0 and found[1] < 1 << value.type.bits - 1

    def coordinate(self, kind: str, axis: int) -> Expression:
        """Returns a coordinate of the thread or block, or an extent."""
        return self.coordinates[kind, axis]

    def is_constexpr(self, value: Expression) -> bool:
        """Returns whether a value is a constexpr parameter or made of one: an extent of the block, say."""
        extents = [held for (kind, _), held in self.coordinates.items() if kind == "block_extent"]
        return value.number is None and any(value.text == one.text for one in (*extents, *self.spelled.values()))

    def is_null(self, value: Value) -> bool:
        """Returns whether a pointer is the null pointer."""
        maker = self.makers.get(value)
        return isinstance(value.type, Pointer) and maker is not None and maker.kind == "constant"

    def spread(self, value: Expression) -> Expression:
        """Returns a value as a tensor with an element a thread."""
        if value.varying:
            return value
        if value.turns:
            text = f"tl.broadcast_to({value.text}, [{self.rows}, {self.threads}])"
            return replace(combined(text, value.type, value), varying=True)
        if value.number is None:
            value = settled(value)
            return replace(
                combined(f"tl.broadcast_to({value.text}, [{self.threads}])", value.type, value), varying=True
            )
        assert isinstance(value.type, Scalar)
        kind = type_text(value.type)
        is_zero = value.number == 0 and math.copysign(1.0, value.number) > 0
        text = f"tl.zeros([{self.threads}], {kind})" if is_zero else f"tl.full([{self.threads}], {value.text}, {kind})"
        return Expression(text, value.type, varying=True)

    def pointer_cast(self, pointer: Expression, target: Pointer) -> Expression:
        """Returns a pointer that leads to numbers of another type."""
        if isinstance(pointer.type, Pointer) and element_type(pointer.type) is element_type(target):
            return replace(pointer, type=target)
        kind = type_text(element_type(target))
        text = f"{pointer.within(Level.ATOM)}.to(tl.pointer_type({kind}), bitcast=True)"
        if isinstance(pointer.type, Scalar):
            text = f"{pointer.within(Level.ATOM)}.to(tl.pointer_type({kind}))"
        return combined(text, target, pointer)

    def is_exchanged(self, value: Value) -> bool:
        """Returns whether threads hand each other a value, or what control makes of it."""
        waiting, seen = [value], {value}
        while waiting:
            held = waiting.pop()
            for user in self.uses.get(held, ()):
                if _hands_over(user) or self.arrays.place(user) is not None:
                    return True
                for result in (*user.results, *self._handed(user, held)):
                    if result not in seen:
                        seen.add(result)
                        waiting.append(result)
        return False

    def _handed(self, end: Op, value: Value) -> Sequence[Value]:
        """Returns what a value becomes that a region hands on."""
        if end.kind != "yield":
            return ()
        holder = self._holders[self._blocks[end]]
        arguments = [argument for region in holder.regions for argument in region.arguments]
        return (*holder.results, *arguments) if value in end.operands else ()

    # What is written.

    def line(self, text: str, *parts: Expression, opens: bool = False) -> None:
        """Writes a line that does something, made of the texts of `parts`; one that `opens` is the head of a suite."""
        self.lines.append(Line(text, self.depth, _reads(parts), opens=opens))

    def lanes_meet(self) -> None:
        """Notes that the written text makes lanes wait for each other; the texts of helpers say so themselves."""
        self.meet = True

    def barrier(self) -> None:
        """Writes a barrier, unless memory was not touched since the last one."""
        if self.touched and self.is_ordered:
            self.lanes_meet()
            self.line("tl.debug_barrier()")
            self.touched = self.is_barrier_owed = False

    def assign(self, name: str, value: Expression, *, acts: bool = False) -> Expression:
        """Writes `name = value`, which stays without a reader only if the value `acts`; returns the variable."""
        self.assign_all((name,), value.text, value, acts=acts)
        return variable(name, value.type, varying=value.varying, loose=value.loose, turns=value.turns)

    def assign_all(self, names: Sequence[str], text: str, *parts: Expression, acts: bool = False) -> None:
        """Writes several variables at once; the text is made of the texts of `parts`."""
        self.lines.append(Line(f"{', '.join(names)} = {text}", self.depth, _reads(parts), () if acts else tuple(names)))

    def declare(self, wanted: str, type_: object, *, varying: bool, turns: bool = False) -> str:
        """Returns a name that nothing else has which is visible here."""
        return self.names.declare(symbol(wanted), (type_, varying, turns))

    def named(self, value: Expression, wanted: str, *, acts: bool = False) -> Expression:
        """Writes an assignment; returns the variable."""
        name = self.declare(wanted, value.type, varying=value.varying, turns=value.turns)
        return self.assign(name, value, acts=acts)

    def atom(self, value: Expression, wanted: str) -> Expression:
        """Returns a value in a form that may be repeated, a variable if it is not one yet."""
        return value if value.is_atom else self.named(value, wanted)

    @contextmanager
    def indented(self) -> Iterator[None]:
        """Indents a suite of Python; nobody else uses its variables."""
        self.depth += 1
        self.touched = True
        self.names.enter()
        self._somes.append({})
        yield
        self._somes.pop()
        self.names.leave()
        self.depth -= 1
        self.touched = True

    @contextmanager
    def under(self, mask: Mask) -> Iterator[None]:
        """Writes what is printed within under the mask of these threads."""
        before, self.mask = self.mask, mask
        yield
        self.mask = before

    def helper(self, name: str) -> str:
        """Returns the name of a function that the module brings along."""
        return self.calls(HelperCall(name))

    def calls(self, helper: HelperCall) -> str:
        """Returns what a helper is called in the module, which brings along what this call of it needs."""
        self.helpers.add(helper)
        return name_beside(helper.name, self.host_names)

    # Masks.

    def narrowed(self, condition: Expression, op: Op | None = None) -> Mask:
        """Returns the threads that run where a condition holds, which is that of the branch `op`."""
        before = self.mask
        if not condition.varying and not condition.turns:
            condition = self.spread(settled(condition))
        lanes = condition
        if before.lanes is not None:
            lanes = infix("&", Level.AND, before.lanes, condition, Scalar.BOOL)
        has_first = op is not None and before.has_first and self._holds_in_first(op.operands[0])
        is_single = has_first and op is not None and self._is_first_thread(op.operands[0])
        return Mask(lanes if is_single else self.atom(lanes, "mask"), has_first, is_single, has_first)

    def _is_first_thread(self, condition: Value) -> bool:
        """Returns whether a condition holds in the thread that is first in its block, and in no other one."""
        axes = {axis for axis in range(3) if self.extents[axis] != (1, 1)}
        return axes != set() and axes == self._first_axes(condition)

    def _holds_in_first(self, condition: Value) -> bool:
        """Returns whether a condition certainly holds in the first thread of a block."""
        maker = self.makers.get(condition)
        if maker is None:
            return False
        if maker.kind == "and":
            return all(map(self._holds_in_first, maker.operands))
        if maker.kind == "lt" and self._axis(maker.operands[0]) is not None:
            return self.ranges.get(maker.operands[1], (0, 0))[0] > 0
        return bool(self._first_axes(condition))

    def _first_axes(self, condition: Value) -> set[int]:
        maker = self.makers.get(condition)
        if maker is None:
            return set()
        if maker.kind == "and":
            found = [self._first_axes(operand) for operand in maker.operands]
            return found[0] | found[1] if all(found) else set()
        if maker.kind != "eq":
            return set()
        zeros = [self.ranges.get(operand) == (0, 0) for operand in maker.operands]
        others = [operand for operand, zero in zip(maker.operands, zeros, strict=True) if not zero]
        axis = self._axis(others[0]) if len(others) == 1 else None
        return set() if axis is None else {axis}

    def _axis(self, value: Value) -> int | None:
        """Returns the axis along which a value is the thread's place; None for any other value."""
        maker = self.makers.get(value)
        if maker is not None and maker.kind == "cast" and self.is_below_sign(maker.operands[0]):
            return self._axis(maker.operands[0])
        if maker is None or maker.kind != "thread_index":
            return None
        return int(maker.attribute("axis"))

    def some(self) -> Expression | None:
        """Returns whether any thread runs; None where one certainly does."""
        lanes = self.mask.lanes
        if lanes is None or self.mask.is_certain:
            return None
        for known in self._somes:
            if lanes.text in known:
                return known[lanes.text]
        found = self.named(any_lane(self, lanes), "some")
        self._somes[-1][lanes.text] = found
        return found

    def some_is_unknown(self) -> bool:
        """Returns whether nothing says yet whether any thread runs."""
        lanes = self.mask.lanes
        return not (lanes is None or self.mask.is_certain or any(lanes.text in known for known in self._somes))

    # The walk.

    def block(self, block: Block) -> Sequence[Held]:
        """Prints the operations of a block; returns what it yields."""
        for op in block.ops:
            if op.kind in ("yield", "return"):
                return [self.values[operand] for operand in op.operands]
            self._op(op)
        return []

    def _op(self, op: Op) -> None:
        from porter_triton.thread_level.printers import PRINTERS  # noqa: PLC0415 - which print regions by this

        if op in self.needed_barriers:
            self.barrier()
        if self.is_barrier_owed and any(inner.kind in ("load", "store", "atomic") for inner in walk(Block((), (op,)))):
            self.barrier()
        if any(result in self.arrays.places for result in op.results):
            return  # an address in an array that is a value
        if (own := PRINTERS.get(op.kind)) is not None:
            own(self, op)
            return
        made = arithmetic.printed(self, op)
        if made is None:
            raise Refusal(op.location.line, f"'{op.kind}' on {_types(op)} has no counterpart", op.location.file)
        self.hold(op, made)

    def hold(self, op: Op, made: Expression) -> None:
        """Makes an expression the value of an operation: a variable where it has a name or several users."""
        result = op.result
        users = self.uses.get(result, ())
        made = self._with_sign(result, made, users)
        effect = OPERATIONS[op.kind].effect
        inline = made.is_atom or not users or made.text.endswith((" is None", " is not None"))
        if not result.name and len(users) == 1 and self._blocks[users[0]] is self._blocks[op]:
            inline = inline or (len(made.text) <= _LONGEST and effect in (Effect.NONE, Effect.EXCHANGE))
        acts = effect is Effect.WRITE
        self.values[result] = made if inline else self.named(made, result.name or _wanted(op), acts=acts)

    def _with_sign(self, result: Value, made: Expression, users: Sequence[Op]) -> Expression:
        """Returns an unsigned integer as one where several users need it so, and it may be above a signed one."""
        if not isinstance(result.type, Scalar) or made.type is result.type or made.number is not None:
            return made
        is_needed = (
            sum(user.kind in _BY_SIGN and (user.kind != "store" or user.operands[1] is result) for user in users) > 1
        )
        is_large = result.type is Scalar.U32 and not self.is_below_sign(result)
        return to_type(made, result.type) if is_needed and is_large else made

    def typed(self, value: Expression, type_: object) -> Expression:
        """Returns a value of just this type, as a variable that control hands on has it."""
        return settled(to_type(value, type_)) if isinstance(type_, Scalar) else value


def _reads(parts: Sequence[Expression]) -> frozenset[str]:
    return frozenset[str]().union(*(part.reads for part in parts))


def any_lane(p: Printer, lanes: Expression) -> Expression:
    """Returns whether a condition holds in some thread."""
    p.lanes_meet()
    axis = "" if lanes.turns else ", axis=0"
    counted = combined(f"tl.max({lanes.within(Level.ATOM)}.to(tl.int32){axis})", Scalar.I32, lanes)
    counted = replace(counted, varying=False, turns=False)
    return infix("!=", Level.COMPARISON, counted, literal(0, Scalar.I32), Scalar.BOOL)


def _hands_over(op: Op) -> bool:
    """Returns whether threads are given what others have, each of them something else."""
    return op.kind in ("shuffle", "scan", "vote", "match") or (op.kind == "reduce" and op.attribute("scope") == "warp")


def _is_fence(op: Op) -> bool:
    return op.kind == "barrier" and op.attribute("scope") in ("fence", "block_fence")


def _types(op: Op) -> str:
    return ", ".join(str(value.type) for value in (*op.operands, *op.results)) or "nothing"


def _wanted(op: Op) -> str:
    """Returns what a value without a name of its own is called."""
    type_ = op.result.type
    if type_ is Scalar.BOOL:
        return "is_" + {"eq": "same", "ne": "other"}.get(op.kind, "inside") if op.kind in COMPARISONS else "condition"
    if isinstance(type_, Pointer):
        return "pointer"
    if isinstance(type_, Scalar) and type_.is_integer and op.kind not in ("load", "atomic"):
        return "index"
    return "value"

"""Several iterations of a loop at a time: a tile with a row for each.

A thread of the source that loads one number an iteration has little on its way; a lane of a device should have 16
bytes, in one access where neighbours lie side by side. So where iterations have nothing to do with each other but what
they add up or compare, the counter becomes a column of several, `[rows, 1]`, and what is made of it has a row for each,
`[rows, threads]`, by Triton's own broadcasting. Each thread's parts are put together behind the loop. Sums of floats
are added in another order, as between any two sizes of a block.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from porter.ir.simt.analyses.independence import Independent, Tables, independent
from porter.ir.simt.ops import Op, Value, walk
from porter.ir.simt.types import Scalar
from porter_triton.thread_level.branches import handed
from porter_triton.thread_level.exchange import neutral_number
from porter_triton.thread_level.expressions import Expression, Level, combined, infix, literal, type_text, variable
from porter_triton.thread_level.printer import Mask

if TYPE_CHECKING:
    from porter_triton.thread_level.printer import Printer

_LANE_BITS = 128  # that a lane should have on their way
_MOST_ROWS = 8
_MOST_ELEMENTS = 2048  # of a tile
_MOST_THREADS = 1024  # of a block
_LARGEST_STEP = 4096  # of which several do not pass the counter's type, unless what it counts to nearly does
_GATHERED = {"add": "tl.sum", "min": "tl.min", "max": "tl.max"}


def tile_of(p: Printer, op: Op) -> tuple[Independent, int] | None:
    """Returns what is known of a loop that all threads count alike, and its rows; None where it stays a loop of one."""
    if (
        op.attribute("compare") != "lt"
        or p.rows
        or any(operand in p.uniformity.doubtful for operand in op.operands[:3])
    ):
        return None
    found = independent(op, Tables(p.uniformity.varying, p.makers, p.uses, p.roots, p.ranges))
    if found is None or not _is_worth_it(p, op, found):
        return None
    if not found.is_masked and "row" not in dict(op.attributes) and not _lie_alike(p, found):
        return None
    if any(
        kind and result not in p.uniformity.varying for kind, result in zip(found.gathered, op.results, strict=True)
    ):
        return None
    row = dict(op.attributes).get("row")
    if isinstance(row, int):
        return found, row
    if not p.together:
        return None
    rows = min(_LANE_BITS // found.bits, _MOST_ROWS, _MOST_ELEMENTS // (p.padded or _MOST_THREADS))
    count = _count(p, op)
    if found.is_bordered and not found.is_masked and (count is None or count & (count - 1)):
        return None  # a window, which is short
    if count is not None:
        rows = min(rows, 1 << max(count - 1, 0).bit_length())
    return (found, rows) if rows > 1 else None


def _is_worth_it(p: Printer, op: Op, found: Independent) -> bool:
    """Returns whether the counter stays within its type, and there may be several iterations."""
    low, high = p.ranges.get(op.operands[2], (0, _LARGEST_STEP + 1))
    type_ = op.operands[0].type
    assert isinstance(type_, Scalar)
    is_short = low >= 1 and high <= _LARGEST_STEP
    return is_short or (type_.bits > Scalar.I32.bits and any(found.gathered))


def _lie_alike(p: Printer, found: Independent) -> bool:
    """Returns whether all that is touched lies alike in memory, so that one layout of the tile suits it."""
    if len({index for _, index in found.addresses}) == 1:
        return True
    indices = [p.arrays.digits.of(index) for _, index in found.addresses]
    return all(i is not None and any(d.divisor == 1 and c == 1 for d, c in i.terms) for i in indices)


def _count(p: Printer, op: Op) -> int | None:
    """Returns how many iterations there are, where that is known."""
    start, stop, step = (p.arrays.digits.number(operand) for operand in op.operands[:3])
    return None if start is None or stop is None or not step else len(range(start, stop, step))


def together(p: Printer, op: Op, found: Independent, rows: int, limits: tuple[Scalar, list[Expression]]) -> None:
    """Prints a loop whose iterations are independent, so many of them at a time."""
    is_shared = _is_touched_elsewhere(p, op, found)
    if is_shared:
        p.barrier()
    _Tile(p, op, found, rows).show(limits)
    p.is_barrier_owed |= is_shared  # a lane has other elements in the tile than elsewhere


@dataclass
class _Tile:
    """A loop that is printed `rows` iterations at a time; `parts` has what each row has of the numbers it carries."""

    p: Printer
    op: Op
    found: Independent
    rows: int
    parts: list[Expression] = field(default_factory=list)

    def show(self, limits: tuple[Scalar, list[Expression]]) -> None:
        """Writes the loop, and the lines before and behind it."""
        p, op, rows = self.p, self.op, self.rows
        held, (start, stop, step) = limits
        self.parts = [self._begun(number, kind) for number, kind in enumerate(self.found.gathered)]
        column = Expression(f"tl.arange(0, {rows})[:, None]", Scalar.I32, turns=True)
        column = infix("*", Level.PRODUCT, column, step, held) if step.text != "1" else replace(column, type=held)
        count = _count(p, op)
        if count == rows:
            counter = column if start.text == "0" else infix("+", Level.SUM, start, column, held)
            self._iteration(counter, None)
        else:
            self._loop((start, stop, step), column, is_even=count is not None and count % rows == 0)
        for number, kind in enumerate(self.found.gathered):
            p.values[op.results[number]] = self._whole(number, kind)

    def _loop(self, limits: tuple[Expression, Expression, Expression], column: Expression, *, is_even: bool) -> None:
        p, rows = self.p, self.rows
        start, stop, step = limits
        ahead = p.named(column, "ahead")
        name = p.declare("tile", column.type, varying=False)
        p.line(f"# line {self.op.location}: {rows} iterations at a time")
        by = str(rows * int(step.number)) if step.number is not None else f"{rows} * {step.within(Level.PRODUCT)}"
        p.line(f"for {name} in range({start.text}, {stop.text}, {by}):", start, stop, step, opens=True)
        with p.indented():
            tile = variable(name, column.type, loose=True)
            counter = infix("+", Level.SUM, tile, ahead, column.type)
            inside = None
            if not self.found.is_masked and not is_even:
                counter = p.named(counter, self.op.regions[0].arguments[0].name or "i")
                inside = infix("<", Level.COMPARISON, counter, stop, Scalar.BOOL)
            self._iteration(counter, inside)

    def _iteration(self, counter: Expression, inside: Expression | None) -> None:
        """Prints the body once, for all rows; `inside` says which rows there are."""
        p, region = self.p, self.op.regions[0]
        argument = region.arguments[0]
        p.values[argument] = p.atom(counter, argument.name or "i")
        p.values.update(zip(region.arguments[1:], self.parts, strict=True))
        p.rows = self.rows
        mask = p.mask
        if inside is not None:
            mask = p.narrowed(inside)
        elif mask.lanes is not None:
            mask = Mask(mask.lanes, is_certain=False, has_first=False)
        with p.under(mask):
            ends = p.block(region)
        for part, end, kind in zip(self.parts, ends, self.found.gathered, strict=True):
            if kind:
                assert isinstance(end, Expression)
                made = handed(p, part, end)
                if inside is not None and mask.lanes is not None:
                    text = f"tl.where({mask.lanes.text}, {made.text}, {part.text})"
                    made = combined(text, part.type, made).reading(mask.lanes, part)
                p.assign(part.text, made)
        p.rows = 0

    def _begun(self, number: int, kind: str) -> Expression:
        """Returns the variable with each row's part of a number that a loop carries; the number if none changes it."""
        p = self.p
        begin, argument = p.value(self.op.operands[3 + number]), self.op.regions[0].arguments[1 + number]
        if not kind:
            return begin
        assert isinstance(argument.type, Scalar)
        name = p.declare(f"{argument.name or 'value'}_rows", argument.type, varying=True, turns=True)
        first = literal(neutral_number(kind, argument.type), argument.type)
        shape = f"[{self.rows}, {p.threads}]"
        fill = f"tl.full({shape}, {first.text}, {type_text(argument.type)})"
        if first.number == 0:
            fill = f"tl.zeros({shape}, {type_text(argument.type)})"
        return p.assign(name, Expression(fill, argument.type, varying=True, turns=True))

    def _whole(self, number: int, kind: str) -> Expression:
        """Returns what a number is behind the loop: a thread's own, or all rows if only that of all threads counts."""
        p, part = self.p, self.parts[number]
        if not kind:
            return part
        begin, result = self.op.operands[3 + number], self.op.results[number]
        users = p.uses.get(result, ())
        if users and all(_reduces(user, kind) for user in users) and _is_neutral(p, begin, kind):
            return part
        p.lanes_meet()
        text = f"{_GATHERED[kind]}({part.text}, axis=0)"
        whole = Expression(text, part.type, varying=True, reads=part.reads)
        if not _is_neutral(p, begin, kind):
            first = p.typed(p.value(begin), part.type)
            if kind == "add":
                whole = infix("+", Level.SUM, first, whole, part.type)
            else:
                whole = combined(f"tl.{kind}imum({first.text}, {whole.text})", part.type, whole).reading(first)
        if p.is_exchanged(result):  # in the tile's layout each warp would exchange the numbers of the whole block
            whole = replace(combined(f"{p.helper('by_thread')}({whole.text})", part.type, whole), varying=True)
        return p.named(whole, result.name or "value")


def _reduces(user: Op, kind: str) -> bool:
    return user.kind == "reduce" and user.attribute("scope") == "block" and user.attribute("op") == kind


def _is_neutral(p: Printer, value: Value, kind: str) -> bool:
    maker = p.makers.get(value)
    assert isinstance(value.type, Scalar)
    number = maker.attribute("value") if maker is not None and maker.kind == "constant" else None
    is_negative_zero = number == 0 and isinstance(number, float) and math.copysign(1.0, number) < 0
    return number == neutral_number(kind, value.type) and not is_negative_zero


def _is_touched_elsewhere(p: Printer, op: Op, found: Independent) -> bool:
    """Returns whether memory that the loop writes is touched elsewhere, or what it reads is written elsewhere."""
    inside = set(walk(op.regions[0]))
    for other in walk(p.function.body):
        if other.kind in ("load", "store", "atomic") and other not in inside:
            touched = p.roots.get(other.operands[0], frozenset({None}))
            if touched & found.written or (other.kind != "load" and touched & found.read):
                return True
    return False

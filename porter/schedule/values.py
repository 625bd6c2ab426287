"""Writes nodes as values of a kernel: values of a whole row are computed before the loop over its columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import inf

from porter.contract.model.dtype import DType
from porter.ir.tensor.expressions import Combine
from porter.ir.tile.expressions import (
    NO_AXES,
    Axes,
    Cast,
    Compute,
    Filled,
    Literal,
    Load,
    Name,
    Value,
    axes,
)
from porter.ir.tile.program import Loop, Statement
from porter.schedule.kernel_writer import ZERO, Block, KernelWriter, Point, Steps, both
from porter.schedule.loops import (
    Apply,
    ArgReduce,
    Guard,
    Node,
    Number,
    Position,
    Read,
    Reduce,
    Scan,
    children,
    free,
    is_fold,
    walk,
)
from porter.schedule.polynomial import NotSchedulableError
from porter.schedule.strength import reduced

OPERATOR = {
    Combine.SUM: "add",
    Combine.PRODUCT: "multiply",
    Combine.MAXIMUM: "maximum",
    Combine.MINIMUM: "minimum",
}
_OF_FLOATS = frozenset(("sqrt", "rsqrt", "exp", "exp2", "log", "log2"))
_TRUTH = frozenset(("less", "equal", "and", "or", "not"))
_WIDER = frozenset((DType.FLOAT16, DType.BFLOAT16))


def identity(combine: Combine) -> Fraction | float:
    """Returns what a reduction is over no elements."""
    match combine:
        case Combine.SUM:
            return Fraction(0)
        case Combine.PRODUCT:
            return Fraction(1)
        case Combine.MAXIMUM:
            return -inf
        case Combine.MINIMUM:
            return inf


@dataclass
class Values:
    """Values within `inner`, the block of a tile; `outer` is the block of a row, which may be the same.

    `folds` and `scans` are those that were computed before; `steps` are those of the current window.
    """

    writer: KernelWriter
    outer: Block
    inner: Block
    columns: frozenset[str]
    folds: Mapping[Node, Value]
    eviction: str = ""
    beyond: Fraction | float = Fraction(0)  # the value read outside of a tensor
    uses: Counter[Node] = field(default_factory=Counter)
    steps: Steps | None = None

    def expect(self, nodes: Iterable[Node]) -> None:
        """Counts how often each part of `nodes` is used, so that parts used again get a name."""
        seen: set[Node] = set()

        def count(node: Node) -> None:
            self.uses[node] += 1
            if node not in seen and node not in self.folds and not is_fold(node):
                seen.add(node)
                for child in children(node):
                    count(child)

        for node in nodes:
            count(node)

    def is_of_row(self, node: Node) -> bool:
        """Returns whether a node has one value for the whole row."""
        return not free(node) & self.columns

    def value(self, node: Node) -> Value:
        """Returns the value of a node for each element of the tile, or the one that it has for the row."""
        block = self.outer if self.is_of_row(node) else self.inner
        if node in self.folds:
            return self.folds[node]
        if node not in block.known:
            value = self._made(node, block)
            if self.uses[node] > 1 and isinstance(value, Compute):
                value = self.writer.let(block, "value", value)
            block.known[node] = value
        return block.known[node]

    def named(self, node: Node) -> Value:
        """Returns the value of a node under a name, or as a literal."""
        value = self.value(node)
        if isinstance(value, Name | Literal):
            return value
        block = self.outer if self.is_of_row(node) else self.inner
        block.known[node] = self.writer.let(block, "value", value)
        return block.known[node]

    def _made(self, node: Node, block: Block) -> Value:
        match node:
            case Number(quantity):
                return self.writer.number(quantity)
            case Position(place):
                return self.writer.whole(place)
            case Read():
                return self._read(node, block)
            case Apply("log", (Number(quantity),)) if quantity.constant == 0:
                return Literal(-inf)  # how a formula writes an infinity
            case Apply():
                return self._applied(node, block)
            case Reduce() if not is_fold(node):
                return self._window(node)
            case Reduce() | ArgReduce() | Scan():
                raise NotSchedulableError("a reduction is used before it is computed")

    def _operand(self, node: Node, block: Block) -> Value:
        """Returns an operand of a value in `block`; a value of the row is computed there, under a name."""
        value = self.value(node)
        if block is not self.outer and self.is_of_row(node) and isinstance(value, Compute):
            value = self.writer.let(self.outer, "factor", value)
            self.outer.known[node] = value
        return value

    def _applied(self, node: Apply, block: Block) -> Value:
        simpler = reduced(node, self.is_of_row)
        if simpler != node:
            if isinstance(simpler, Apply) and simpler.op == "multiply" and len(set(simpler.operands)) == 1:
                self.uses[simpler.operands[0]] += 1
            return self._made(simpler, block)
        operands = self._factors(node.operands) if node.op == "multiply" else list(node.operands)
        if node.op == "add":
            return self._sum(operands, block)
        if node.op == "select" and not _is_truth(operands[0]):
            zero = ZERO
            condition = Compute("not", (Compute("equal", (self._operand(operands[0], block), zero)),))
            return Compute("select", (condition, *(self._operand(one, block) for one in operands[1:])))
        return Compute(node.op, tuple(self._number(one, block, node.op) for one in operands))

    def _factors(self, operands: Sequence[Node]) -> list[Node]:
        """Returns the factors of a product, in the order in which they are multiplied.

        The elements that a row was reduced from and the result of that reduction come first, then all others; where
        nothing is reduced the factors of one element come first. So an element near the largest number first meets its
        norm, or the gate that it is shut by: times a weight, or times another element, it might be infinite.
        """
        folds = [part for one in operands if self.is_of_row(one) for part in walk(one) if is_fold(part)]
        if not folds:
            return by_element([factor for one in operands for factor in self._spread(one)])
        reduced_from = {part.tensor for fold in folds for part in walk(fold) if isinstance(part, Read)}

        def order(one: Node) -> int:
            reads = {part.tensor for part in walk(one) if isinstance(part, Read)}
            return 1 if self.is_of_row(one) else 0 if reads & reduced_from else 2

        return sorted(operands, key=order)

    def _spread(self, node: Node) -> Sequence[Node]:
        """Returns the factors of a product that is used once, else `node`."""
        is_once = isinstance(node, Apply) and node.op == "multiply" and self.uses[node] <= 1
        return [one for part in children(node) for one in self._spread(part)] if is_once else [node]

    def _number(self, node: Node, block: Block, op: str) -> Value:
        value = self._operand(node, block)
        if op in _OF_FLOATS and isinstance(node, Number) and not isinstance(value, Literal):
            return Cast(value, self.writer.precision)  # which may be a whole number of the host's
        is_bare_truth = isinstance(node, Read) and node.dtype is DType.BOOL
        return Cast(value, DType.INT32) if is_bare_truth and op not in (*_TRUTH, "select") else value

    def _sum(self, operands: list[Node], block: Block) -> Value:
        """Returns a sum, in which terms times a negative number are subtracted."""
        plus: list[Value] = []
        minus: list[Value] = []
        for operand in operands:
            match operand:
                case Apply("multiply", (Number(quantity), *rest)) if quantity.constant == -1:
                    left = rest[0] if len(rest) == 1 else Apply("multiply", tuple(rest))
                    minus.append(self._operand(left, block))
                case Apply("negate", (inner,)):
                    minus.append(self._operand(inner, block))
                case _:
                    plus.append(self._number(operand, block, "add"))
        if not plus:
            plus = [ZERO]
        total = plus[0] if len(plus) == 1 else Compute("add", tuple(plus))
        for value in minus:
            total = Compute("subtract", (total, value))
        return total

    def _read(self, read: Read, block: Block) -> Value:
        pointer = self._pointer(read)
        masks = self._masks(axes(pointer), read.guards)
        for gather in read.gathered:
            index = self._operand(gather.value, block)
            stride = self.writer.size(gather.stride)
            index = self.writer.let(block, "index", Cast(index, DType.INT64))
            step = index if gather.stride.constant == 1 else Compute("multiply", (index, stride))
            pointer = Compute("add", (pointer, step))
            inside = Compute("less", (index, self.writer.size(gather.extent)))
            masks.append(both(Compute("not", (Compute("less", (index, ZERO)),)), inside))
        dtype = DType.FLOAT32 if read.dtype in _WIDER else None
        mask = both(*masks) if masks else None
        load = Load(pointer, mask, self.beyond, dtype, self.eviction)
        return self.writer.let(block, read.tensor, load)

    def _pointer(self, read: Read) -> Value:
        if self.steps is None:
            return self.writer.pointer(read.tensor, read.place, self.outer)
        return self.writer.pointer_within(read.tensor, read.place, self.outer, self.steps)

    def _masks(self, own: Axes, guards: Sequence[Guard]) -> list[Value]:
        """Returns the conditions for reading a tile: in a window as many as possible in front of its loops."""
        mask = self.writer.mask(own)
        found = [] if mask is None else [mask]
        if self.steps is None:
            return found + [self.guard(guard) for guard in guards]
        told = [(self.steps.block(name for name, _ in guard.place.terms), self.guard(guard)) for guard in guards]
        for block in (self.steps.before, *(block for _, block in self.steps.levels)):
            here = [condition for own_block, condition in told if own_block is block]
            found += here
            if found and block is not self.inner and not (len(found) == 1 and isinstance(found[0], Name)):
                found = [self.writer.let(block, "inside", both(*found))]
        return found

    def guard(self, guard: Guard) -> Value:
        """Returns whether a place lies inside of its axis."""
        place: Value
        if not guard.place.terms:
            place = self.writer.size(guard.place.constant)
        elif self.steps is None:
            place = self.writer.coordinate(guard.place, self.inner)
        else:
            place = self.writer.coordinate_within(guard.place, self.steps)
        below = Compute("less", (place, self.writer.size(guard.extent)))
        factors = (
            factor for part in (guard.place.constant, *(f for _, f in guard.place.terms)) for _, factor in part.terms
        )
        if all(factor > 0 for factor in factors):
            return below
        return both(Compute("not", (Compute("less", (place, ZERO)),)), below)

    def _window(self, window: Reduce) -> Value:
        """Returns the reduction of the elements around each point, one after the other."""
        own = self._axes_of(window)
        start = Filled(identity(window.combine), own, window.precision)
        total = self.writer.let(self.inner, "total", start)
        names = [self.writer.fresh("step") for _ in window.loops]
        for name, loop in zip(names, window.loops, strict=True):
            self.writer.points[loop.name] = Point(Name(name), is_constant=True)
        blocks = [Block() for _ in window.loops]
        steps = Steps(self.inner, tuple(zip((loop.name for loop in window.loops), blocks, strict=True)))
        within = Values(self.writer, self.outer, blocks[-1], self.columns | steps.names, self.folds, self.eviction)
        within.steps = steps
        within.beyond = identity(window.combine)
        body = within.value(window.body)
        if not (isinstance(window.body, Read) and set(window.guards) <= set(window.body.guards)):
            guards = [within.guard(guard) for guard in window.guards]
            body = Compute("select", (both(*guards), body, Literal(within.beyond)))
        self.writer.again(within.inner, total, Compute(OPERATOR[window.combine], (total, body)))
        statements: tuple[Statement, ...] = ()
        for name, loop, block in zip(reversed(names), reversed(window.loops), reversed(blocks), strict=True):
            stop, body_of = self.writer.constant(loop.extent), (*block.body, *statements)
            statements = (Loop(name, ZERO, stop, Literal(Fraction(1)), body_of, is_unrolled=True),)
        self.inner.statements += statements
        return total

    def _axes_of(self, node: Node) -> Axes:
        lanes = (self.writer.points[name].lanes for name in free(node))
        return NO_AXES.union(*(axes(one) for one in lanes if one is not None))


def by_element(factors: Sequence[Node]) -> list[Node]:
    """Returns factors in their order, each behind the first that depends on the same elements or on some of them."""
    left = [(one, frozenset(part for part in walk(one) if isinstance(part, Read))) for one in factors]
    found: list[Node] = []
    while left:
        first, reads = left.pop(0)
        alike = [pair for pair in left if reads and pair[1] and (pair[1] <= reads or reads <= pair[1])]
        left = [pair for pair in left if pair not in alike]
        found += [first, *(one for one, _ in alike)]
    return found


def vanishes(node: Node) -> bool:
    """Returns whether a node is 0 where all that is read is 0."""
    match node:
        case Read():
            return True
        case Apply("multiply", operands):
            return any(map(vanishes, operands))
        case Apply("add" | "subtract" | "negate" | "absolute" | "sqrt" | "maximum" | "minimum" | "tanh", operands):
            return all(map(vanishes, operands))
        case Apply("power", (base, Number(quantity))):
            return vanishes(base) and (quantity.constant or 0) > 0
        case Apply("divide", (above, Number())):
            return vanishes(above)
    return False


def _is_truth(node: Node) -> bool:
    match node:
        case Apply(op):
            return op in _TRUTH
        case Read(dtype=dtype):
            return dtype is DType.BOOL
    return False

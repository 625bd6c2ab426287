"""Makes loops uniform whose threads begin apart: `for (i = u + t; i < n; i += s)` counts `u, u + s, ...` for all.

`u` is what the threads of a block agree on and `t`, which is not negative, the rest. An iteration is one where
`u + t` is still in front of `n`; in a thread's last round it may have none.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from porter.ir.simt.analyses.divisibility import trailing_zeros
from porter.ir.simt.analyses.ranges import ANY_BLOCK, Extents, limits, ranges
from porter.ir.simt.analyses.uniformity import uniformity
from porter.ir.simt.analyses.uses import makers
from porter.ir.simt.ops import Block, Function, Op, Value
from porter.ir.simt.transforms.folding import constant
from porter.ir.simt.transforms.rewriting import Replacement, rewritten
from porter.ir.simt.types import Scalar, Type


def with_uniform_loops(function: Function, block: Extents = ANY_BLOCK) -> Function:
    """Returns `function`, for blocks of these extents, with uniform loops where threads only begin apart."""
    return rewritten(function, _Rule(function, block))


@dataclass(frozen=True, slots=True)
class _Begin:
    """A sum of a uniform value, None for 0, and one that varies and is not negative."""

    uniform: Value | None
    varying: Value


class _Rule:
    def __init__(self, function: Function, block: Extents) -> None:
        self._uniformity, self._ranges = uniformity(function), ranges(function, block)
        self._makers = makers(function)

    def __call__(self, op: Op) -> Replacement | None:
        """Returns the loop that all threads count alike; None for what stays."""
        if op.kind != "for" or op.attribute("compare") != "lt":
            return None
        varying = self._uniformity.varying
        if op.operands[0] not in varying or any(operand in varying for operand in op.operands[1:3]):
            return None
        begin = self._begin(op.operands[0])
        if begin is None or not self._is_ahead(begin.varying, op.operands[0].type) or not self._counts_up(op, begin):
            return None
        return _rewritten(op, begin)

    def _counts_up(self, op: Op, begin: _Begin) -> bool:
        """Returns whether the step adds to the counter, and no thread wraps around before the others.

        A counter with a sign does not wrap around. One without does so for all threads at once where what they begin
        apart by stays below a power of two that divides all that they agree on. A step that is not known is none that a
        loop would end with, unless it adds.
        """
        type_ = op.operands[0].type
        step = self._ranges.get(op.operands[2])
        if not isinstance(type_, Scalar) or (step is not None and step[1] <= 0):
            return False
        return type_.is_signed or self._wraps_together(op, begin)

    def _wraps_together(self, op: Op, begin: _Begin) -> bool:
        agreed = [op.operands[2], *([begin.uniform] if begin.uniform is not None else [])]
        zeros = min(trailing_zeros(value, self._makers, self._ranges) for value in agreed)
        apart = self._ranges.get(begin.varying)
        return apart is not None and apart[1] < 1 << zeros

    def _begin(self, value: Value) -> _Begin | None:
        varying = self._uniformity.varying
        maker = self._makers.get(value)
        if maker is not None and maker.kind == "add":
            for one, other in (maker.operands, maker.operands[::-1]):
                if one not in varying and self._is_positive(other):
                    return _Begin(one, other)
        if maker is not None and maker.kind == "cast" and _has_its_bits(maker):
            inner = self._begin(maker.operands[0])
            if inner is not None and (inner.uniform is not None or not self._is_positive(value)):
                return inner
        return _Begin(None, value) if self._is_positive(value) else None

    def _is_ahead(self, value: Value, counter: Type) -> bool:
        """Returns whether a value is not negative as a counter of that type either."""
        found, held = self._ranges.get(value), limits(counter)
        return found is not None and held is not None and found[0] >= 0 and found[1] <= held[1]

    def _is_positive(self, value: Value) -> bool:
        found = self._ranges.get(value)
        return found is not None and found[0] >= 0


def _has_its_bits(cast: Op) -> bool:
    source, target = cast.operands[0].type, cast.result.type
    return isinstance(source, Scalar) and isinstance(target, Scalar) and source.bits == target.bits


def _rewritten(op: Op, begin: _Begin) -> Replacement:
    type_ = op.operands[0].type
    assert isinstance(type_, Scalar)
    before: list[Op] = []

    def cast(value: Value) -> Value:
        if value.type == type_:
            return value
        before.append(Op("cast", (value,), (Value(type_),)))
        return before[-1].result

    if begin.uniform is None:
        before.append(constant(type_, 0))
        start = before[-1].result
    else:
        start = cast(begin.uniform)
    varying = cast(begin.varying)
    (region,) = op.regions
    own, *carried = region.arguments
    counter = Value(type_, "start")
    inside = Value(Scalar.BOOL, "mask")
    results = tuple(Value(argument.type, argument.name) for argument in carried)
    kept = Block((), (replace(region.ops[-1], operands=tuple(carried)),))
    body = (
        Op("add", (counter, varying), (own,), (), (), op.location),
        Op("lt", (own, op.operands[1]), (inside,)),
        Op("if", (inside,), results, (), (Block((), region.ops), kept), op.location),
        Op("yield", results),
    )
    loop = replace(op, operands=(start, *op.operands[1:]), regions=(Block((counter, *carried), body),))
    return Replacement((*before, loop), op.results)

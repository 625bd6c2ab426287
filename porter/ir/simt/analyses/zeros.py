"""Zeros: which floats are certainly no negative zero, so that adding 0 to them changes nothing.

A sum is -0 only where both of its operands are (IEEE 754, section 6.3, rounding to nearest), so what begins as a number
other than -0 and is only added to never is.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet

from porter.ir.simt.ops import Block, Function, Op, Value
from porter.ir.simt.types import Scalar

_Sources = tuple[Value, Sequence[Value]]


def without_negative_zero(function: Function) -> AbstractSet[Value]:
    """Returns the numbers that are certainly not -0; all integers are among them."""
    flows = list(_flows(function.body))
    safe = {value for value, _ in flows} | set(_begun(function.body))
    while True:
        lost = {value for value, sources in flows if value in safe and not all(source in safe for source in sources)}
        lost |= {op.result for op in _additions(function.body) if op.result in safe and safe.isdisjoint(op.operands)}
        if not lost:
            return safe
        safe -= lost


def _begun(block: Block) -> Iterator[Value]:
    """Yields the constants other than -0, integers, and sums of floats, which others may still take out."""
    for op in block.ops:
        for region in op.regions:
            yield from _begun(region)
        for result in op.results:
            is_whole = isinstance(result.type, Scalar) and result.type.is_integer
            if is_whole or op.kind == "add" or (op.kind == "constant" and not _is_negative_zero(op)):
                yield result


def _is_negative_zero(op: Op) -> bool:
    value = op.attribute("value")
    return isinstance(value, float) and value == 0 and math.copysign(1.0, value) < 0


def _additions(block: Block) -> Iterator[Op]:
    for op in block.ops:
        for region in op.regions:
            yield from _additions(region)
        if op.kind == "add" and isinstance(op.result.type, Scalar) and op.result.type.is_float:
            yield op


def _flows(block: Block) -> Iterator[_Sources]:
    """Yields the values that are one of several others, which control hands on."""
    for op in block.ops:
        for region in op.regions:
            yield from _flows(region)
        if op.kind == "select":
            yield op.result, op.operands[1:]
        if not op.regions:
            continue
        begin = {"for": op.operands[3:], "while": op.operands}.get(op.kind, ())
        ends = [r.ops[-1].operands[1 if op.kind == "while" and n == 0 else 0 :] for n, r in enumerate(op.regions)]
        sources = [*([begin] if op.kind != "if" else []), *ends]
        for n, result in enumerate(op.results):
            yield result, [source[n] for source in sources]
        for region in op.regions if op.kind != "if" else ():
            for n, argument in enumerate(region.arguments[1 if op.kind == "for" else 0 :]):
                yield argument, [source[n] for source in sources]

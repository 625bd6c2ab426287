"""CUB's reduction of a block or a warp by an operation of the source's own: neighbours first, which keeps the order."""

from __future__ import annotations

from porter.syntax.nodes import (
    Assign,
    Binary,
    Block,
    Call,
    Declare,
    Evaluate,
    Expression,
    For,
    If,
    Lambda,
    Literal,
    Name,
    Statement,
    TypeName,
    Variable,
)
from porter_triton.lower import access, expressions, lvalues, statements, views
from porter_triton.lower.block_io import blocks_threads, threads_number
from porter_triton.lower.context import Context
from porter_triton.lower.conversions import settled
from porter_triton.lower.types import INT, Arithmetic
from porter_triton.lower.values import PRODUCT, Bits, Fields, Scalar, Value
from porter_triton.refusal import Refusal

SHIFTED = "porter::shifted"
_TOTAL, _OTHER, _STEP, _ACT = (Name(f"cub_{word}") for word in ("total", "other", "step", "act"))


def fold(cx: Context, node: Call, width: int = 0) -> Value:
    """The value of `Reduce(value, act)` or `Reduce(value, act, count)`: in the first thread that of all.

    With a `width` it is that of so many neighbours, in the first of them.
    """
    steps = cx.rewritten(node, lambda: _steps(node, width))
    cx.changes.append(cx.changes[-1] | cx.assigned(steps))
    with cx.scope():
        statements.run(cx, steps.statements)
        total = access.load(cx, lvalues.place(cx, _TOTAL), node.line)
    cx.changes.pop()
    return total


def _steps(node: Call, width: int) -> Block:
    """`for (int step = 1; step < threads; step *= 2) if (...) total = act(total, other);`"""
    value, act, *rest = node.arguments
    line = node.line
    begin = [_declared(_TOTAL, value, line)]
    if isinstance(act, Lambda):
        begin.append(_declared(_ACT, act, line))
        act = _ACT
    thread, threads = threads_number(), blocks_threads()
    exists = Binary("<", Binary("+", thread, _STEP), threads)
    if width:
        thread, threads = Binary("%", thread, Literal(width, "int")), Literal(width, "int")
    first = Binary("==", Binary("%", thread, Binary("*", Literal(2, "int"), _STEP)), Literal(0, "int"))
    there = Binary("<", Binary("+", thread, _STEP), rest[0] if rest else threads)
    one = Evaluate(Assign("", _TOTAL, Call(act, (_TOTAL, _OTHER), line), line), line)
    body = Block(
        (
            _declared(_OTHER, Call(Name(SHIFTED), (_TOTAL, _STEP), line), line),
            If(
                Binary("&&", first, Binary("&&", there, exists) if width else there),
                Block((one,), line),
                None,
                line=line,
            ),
        ),
        line,
    )
    start = Declare((Variable(_STEP.name, TypeName("int"), value=Literal(1, "int"), line=line),), line)
    step = Assign("*", _STEP, Literal(2, "int"), line)
    loop = For((start,), Binary("<", _STEP, threads), step, body, line=line)
    return Block((*begin, loop), line)


def _declared(name: Name, value: Expression, line: int) -> Statement:
    return Declare((Variable(name.name, TypeName("auto"), value=value, line=line),), line)


def shifted(cx: Context, node: Call) -> Value:
    """The value that the thread so many further on has; round the end of the block."""
    value, step = (expressions.value(cx, argument) for argument in node.arguments)
    by = access.scalar(step, node.line)
    partner = Scalar(f"({cx.thread} + {by.text}) % {cx.block}", INT, True, PRODUCT)
    return _taken(cx, value, cx.temporary(partner, "partner").text, node.line)


def _taken(cx: Context, value: Value, partner: str, line: int) -> Value:
    if isinstance(value, Bits):
        value = views.interpreted(value, line)
    if isinstance(value, Fields):
        return Fields(value.type, tuple((name, _taken(cx, part, partner, line)) for name, part in value.values))
    if not isinstance(value, Scalar) or not isinstance(value.type, Arithmetic):
        raise Refusal(line, "a collective on pointers")
    held = settled(value)
    if not held.varying:
        return held
    tile = held.text if held.is_name else cx.temporary(held).text
    return Scalar(f"tl.gather({tile}, {partner}, 0)", value.type, True)

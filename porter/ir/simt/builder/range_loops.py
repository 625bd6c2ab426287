"""Loops over ranges, `for (T x : range)`: over the elements of an array, or with the iterators of a struct."""

from __future__ import annotations

from dataclasses import replace

from porter.ir.simt.builder import access, expressions, inlining, loops
from porter.ir.simt.builder.c_types import ArrayOf, Record
from porter.ir.simt.builder.state import Builder
from porter.syntax.nodes import (
    Binary,
    Block,
    Call,
    Declare,
    Expression,
    For,
    ForEach,
    Literal,
    Member,
    Name,
    Statement,
    Subscript,
    TypeName,
    Unary,
    Update,
    Variable,
)


def each(b: Builder, node: ForEach) -> None:
    """The loop over what `begin()` and `end()` say, or that of an index."""
    line = node.line
    over, at, end = (Name(f"{node.variable.name}__{part}", (), line) for part in ("range", "at", "end"))
    held = expressions.place(b, node.range)
    type_ = access.place_type(held)
    with b.scope():
        b.bind(over.name, held)
        b.mutable.append(b.mutable[-1] | {at.name})
        try:
            if isinstance(type_, ArrayOf):
                first, last = Literal(0, "int", line), Literal(type_.extents[0], "int", line)
                begin = Declare((Variable(at.name, TypeName("int"), value=first, line=line),), line)
                _run(b, node, (begin,), Binary("<", at, last, line), Subscript(over, at, line))
            elif isinstance(type_, Record) and all(inlining.methods(b, type_, name) for name in ("begin", "end")):
                ends = (_deduced(at, over, "begin"), _deduced(end, over, "end"))
                _run(b, node, ends, Binary("!=", at, end, line), Unary("*", at, line))
            else:
                raise b.problem("a loop over what is no array and has no begin() and end()", line)
        finally:
            b.mutable.pop()


def _deduced(name: Name, over: Name, method: str) -> Declare:
    """`auto name = over.method();`."""
    asked = Call(Member(over, method, False, (), name.line), (), name.line)
    return Declare((Variable(name.name, TypeName("auto"), value=asked, line=name.line),), name.line)


def _run(b: Builder, node: ForEach, start: tuple[Statement, ...], goes_on: Binary, element: Expression) -> None:
    """`for (start; goes_on; ++at) { T x = element; body }`."""
    own = Declare((replace(node.variable, value=element),), node.line)
    body = Block((own, *node.body.statements), node.line)
    step = Update("++", goes_on.left, True, node.line)
    loops.for_loop(b, For(start, goes_on, step, body, None, node.line))

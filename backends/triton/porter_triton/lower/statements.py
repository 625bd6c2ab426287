"""Statements one by one, and what follows those that may leave."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from porter.syntax.nodes import (
    Alias,
    Asm,
    Block,
    Break,
    Continue,
    Declare,
    Evaluate,
    For,
    ForEach,
    If,
    Return,
    Skipped,
    Statement,
    Switch,
    Throw,
    Unread,
    Update,
    While,
)
from porter_triton.lower import access, branches, declarations, expressions, leaving, loops, ptx, switches
from porter_triton.lower.context import Context
from porter_triton.lower.emit import Comment
from porter_triton.lower.flow import always_leaves, leaves
from porter_triton.refusal import Refusal


def block(cx: Context, node: Block) -> None:
    """A block with a scope of its own."""
    with cx.scope():
        run(cx, node.statements)


def run(cx: Context, statements: Sequence[Statement]) -> None:
    """Statements in order; what follows one that may leave runs only in the lanes that have not."""
    for i, node in enumerate(statements):
        rest = statements[i + 1 :]
        ways = leaves(node)
        if isinstance(node, If) and ways and branches.leaving_branch(cx, node, rest):
            return
        statement(cx, node)
        if always_leaves(node):
            return
        if ways and rest:
            branches.guarded(cx, ways, partial(run, cx, rest))
            return


def statement(cx: Context, node: Statement) -> None:
    """One statement."""
    handler = _STATEMENTS.get(type(node))
    if handler is None:
        raise Refusal(node.line, f"a statement of this kind ({type(node).__name__})")
    _comment(cx, node)
    handler(cx, node)


def _comment(cx: Context, node: Statement) -> None:
    """Say which lines of the source come next: those of a loop, or of the statements up to one."""
    if cx.python_depth or cx.calls or not node.line or isinstance(node, If | Block | Skipped):
        return
    is_loop = isinstance(node, For | While | Switch)
    cx.suite.nodes.append(Comment(cx.kernel.file, node.line, cx.last_line(node), is_loop))


def _evaluate(cx: Context, node: Evaluate) -> None:
    expression = node.expression
    if isinstance(expression, Update) and not expression.prefix:
        expression = replace(expression, prefix=True)  # nobody asks for the old value
    cx.discarded = expression
    expressions.value(cx, expression)


def _return(cx: Context, node: Return) -> None:
    target = leaving.target_of(cx, "return", node.line)
    if node.value is not None:
        if target.result is None:
            expressions.value(cx, node.value)
        else:
            type_ = access.place_type(target.result)
            assert type_ is not None
            access.store(cx, target.result, declarations.initial(cx, type_, node.value, node.line), node.line)
    leaving.leave(cx, "return", node.line)


def _refused(_: Context, node: Statement) -> None:
    reason = {Throw: "an exception is thrown", ForEach: "a loop over a range"}.get(type(node), "")
    if isinstance(node, Unread):
        reason = f"not understood ({node.reason}): {node.text}"
    raise Refusal(node.line, reason)


def _nothing(cx: Context, node: Statement) -> None:
    """No statement of Triton."""


def _declare(cx: Context, node: Declare) -> None:
    declarations.declare(cx, node)


def _alias(cx: Context, node: Alias) -> None:
    declarations.alias(cx, node)


def _for(cx: Context, node: For) -> None:
    loops.for_(cx, node)


def _while(cx: Context, node: While) -> None:
    loops.while_(cx, node)


def _if(cx: Context, node: If) -> None:
    branches.if_(cx, node)


def _switch(cx: Context, node: Switch) -> None:
    switches.switch(cx, node)


def _asm(cx: Context, node: Asm) -> None:
    ptx.statement(cx, node)


_STATEMENTS: dict[type, Callable[..., None]] = {
    Declare: _declare,
    Alias: _alias,
    Evaluate: _evaluate,
    Block: block,
    If: _if,
    For: _for,
    While: _while,
    Switch: _switch,
    Return: _return,
    Break: lambda cx, node: leaving.leave(cx, "break", node.line),
    Continue: lambda cx, node: leaving.leave(cx, "continue", node.line),
    Skipped: _nothing,
    Throw: _refused,
    Asm: _asm,
    ForEach: _refused,
    Unread: _refused,
}

"""`switch` as branches."""

from __future__ import annotations

from porter.syntax.nodes import (
    Block,
    Break,
    Call,
    Case,
    Evaluate,
    Name,
    Return,
    Skipped,
    Statement,
    Switch,
    Throw,
)
from porter_triton.host import expressions, known, statements
from porter_triton.host.scope import Context
from porter_triton.refusal import Refusal


def switch(cx: Context, node: Switch) -> None:
    """Emits `switch` as a chain of branches; each case must end by itself."""
    subject = expressions.expression(cx, node.value)
    cases = _with_default_last(node)
    if subject.constant is not None:
        _known_case(cx, node, subject.constant)
        return
    for i, case in enumerate(cases):
        body = _closed(case, last=case is node.cases[-1])
        values = []
        if case.default:
            head = "else:"
        else:
            values = [expressions.expression(cx, v) for v in case.values]
            one = f"{subject.text} == {values[0].text}"
            several = f"{subject.text} in ({', '.join(v.text for v in values)})"
            head = f"{'el' if i else ''}if {one if len(values) == 1 else several}:"
        with cx.suite(head if i or not case.default else "if True:"):
            if len(values) == 1:
                known.equal(cx, node.value, values[0])
            for item in body:
                statements.statement(cx, item)


def _with_default_last(node: Switch) -> list[Case]:
    return sorted(node.cases, key=lambda c: c.default)


def _known_case(cx: Context, node: Switch, value: float) -> None:
    """Emits only the case that a known value takes."""
    for case in node.cases:
        if any(expressions.expression(cx, v).constant == value for v in case.values):
            break
    else:
        case = next((c for c in node.cases if c.default), Case((), True, Block(())))
    for item in _closed(case, last=bool(node.cases) and case is node.cases[-1]):
        statements.statement(cx, item)


def _closed(case: Case, *, last: bool) -> tuple[Statement, ...]:
    """Returns the statements of a case without its `break`; raises `Refusal` where it falls through."""
    body = case.body.statements
    while body and isinstance(body[-1], Skipped):
        body = body[:-1]
    if body and isinstance(body[-1], Block) and not _ends(body[-1].statements[-1:]):
        pass
    elif len(body) == 1 and isinstance(body[0], Block):
        return _closed(Case(case.values, case.default, body[0], case.line), last=last)
    if body and isinstance(body[-1], Break):
        return body[:-1]
    if last or _ends(body[-1:]):
        return tuple(
            Block(tuple(s for s in item.statements if not isinstance(s, Break)), item.line)
            if isinstance(item, Block)
            else item
            for item in body
        )
    raise Refusal(case.line, "a case that falls through to the next has no counterpart in Python")


def _ends(body: tuple[Statement, ...]) -> bool:
    """Returns whether the last statement leaves the switch: a return, a throw, such a block, a failing check."""
    if not body:
        return False
    last = body[-1]
    if isinstance(last, Block):
        return _ends(last.statements[-1:])
    if isinstance(last, Evaluate) and isinstance(last.expression, Call) and isinstance(last.expression.callee, Name):
        return last.expression.callee.name in ("AT_ERROR", "exit", "abort", "TORCH_CHECK")
    return isinstance(last, Return | Throw | Break)

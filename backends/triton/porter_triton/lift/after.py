"""What of a variable is read after a statement, until it is written anew."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from porter.syntax.nodes import (
    Assign,
    Block,
    Continue,
    Declare,
    Evaluate,
    Expression,
    For,
    If,
    Statement,
    Switch,
    While,
)
from porter.syntax.walk import walk

Guards = tuple[Expression, ...]
Ends = Callable[[Statement], bool]


@dataclass(frozen=True, slots=True)
class Reader:
    """An expression that is evaluated later, under the conditions `guards`."""

    node: object
    guards: Guards


def readers(body: Block, last: Statement, ends: Ends) -> tuple[Reader, ...]:
    """Everything that may be evaluated after `last`, in any turn of the loops around it.

    A path ends at a statement for which `ends` holds, which reads nothing of what is asked about.
    """
    found: list[Reader] = []
    _suite(body, last, ends, (), found)
    return tuple(found)


def following(rest: tuple[Statement, ...], ends: Ends) -> tuple[int, tuple[Reader, ...]]:
    """Returns how many of the statements `rest` of a block come before the one where all paths end, and what is
    evaluated.
    """
    found: list[Reader] = []
    for count, statement in enumerate(rest):
        if not _rest((statement,), ends, (), found):
            return count, tuple(found)
    return len(rest), tuple(found)


def _suite(block: Block, last: Statement, ends: Ends, guards: Guards, found: list[Reader]) -> bool | None:
    """Returns whether paths go on behind the block; None where `last` is not in it."""
    for i, statement in enumerate(block.statements):
        alive = True if statement is last else _inside(statement, last, ends, guards, found)
        if alive is not None:
            return alive and _rest(block.statements[i + 1 :], ends, guards, found)
    return None


def _rest(statements: tuple[Statement, ...], ends: Ends, guards: Guards, found: list[Reader]) -> bool:
    """Collect what `statements` evaluate; whether paths go on behind them."""
    for statement in statements:
        if ends(statement):
            return False
        if isinstance(statement, Block):
            if not _rest(statement.statements, ends, guards, found):
                return False
        elif isinstance(statement, If):
            found.append(Reader(statement.condition, guards))
            yes = _rest(statement.yes.statements, ends, (*guards, statement.condition), found)
            no = statement.no is None or _rest(statement.no.statements, ends, guards, found)
            if not (yes or no):
                return False
        else:
            found.append(Reader(statement, guards))
    return True


def _inside(statement: Statement, last: Statement, ends: Ends, guards: Guards, found: list[Reader]) -> bool | None:
    """`_suite` for a statement that may hold `last` somewhere within."""
    if isinstance(statement, Block):
        return _suite(statement, last, ends, guards, found)
    if isinstance(statement, If):
        inner = _suite(statement.yes, last, ends, (*guards, statement.condition), found)
        if inner is None and statement.no is not None:
            inner = _suite(statement.no, last, ends, guards, found)
        return inner
    if isinstance(statement, For | While):
        inner = _suite(statement.body, last, ends, guards, found)
        if inner or (inner is not None and any(isinstance(n, Continue) for n in walk(statement.body))):
            parts = (statement.condition, statement.step) if isinstance(statement, For) else (statement.condition,)
            found.extend(Reader(part, guards) for part in parts if part is not None)
            _rest(statement.body.statements, ends, guards, found)
        # The loop may end right after `last`, whatever a further turn would write.
        return None if inner is None else True
    if isinstance(statement, Switch):
        for case in statement.cases:
            inner = _suite(case.body, last, ends, guards, found)
            if inner is not None:
                return True
    return None


def writes(statement: Statement, name: str) -> bool:
    """Returns whether a statement gives the variable `name` a value without reading it."""
    if isinstance(statement, Evaluate) and isinstance(statement.expression, Assign):
        made = statement.expression
        return not made.operator and getattr(made.target, "name", "") == name and not _reads(made.value, name)
    if isinstance(statement, Declare):
        return any(v.name == name and not _reads(v.value, name) for v in statement.variables)
    return False


def _reads(node: object, name: str) -> bool:
    return any(getattr(n, "name", "") == name for n in walk(node))

"""Holds Python statements as a tree, drops those without a reader, and lays the rest out in lines."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from porter.python_tree import module_tree

_STATEMENTS = 4096  # of which the variables are kept: several passes ask for those of the same ones


@dataclass(frozen=True, slots=True)
class Line:
    """A simple statement; `defines` is the variable it sets, or changes, and does nothing else."""

    text: str
    defines: str = ""


@dataclass(slots=True)
class Suite:
    """A compound statement: `if x:` with the statements under it."""

    head: str
    body: list[Line | Suite] = field(default_factory=list)

    @property
    def follows(self) -> bool:
        """Returns whether it belongs to the `if` before it."""
        return self.head.startswith(("elif ", "else:"))


def pruned(body: list[Line | Suite], result: frozenset[str] = frozenset()) -> list[Line | Suite]:
    """Returns `body` without variables that nobody reads, and without empty suites."""
    while True:
        read = words_read(body) | result
        shorter = _without(body, read)
        if _size(shorter) == _size(body):
            return shorter
        body = shorter


def without_flags(body: list[Line | Suite], names: Iterable[str]) -> list[Line | Suite]:
    """Returns `body` without those of `names` that only say whether the statements that set them ran before."""
    for name in names:
        rest = _without_flag(body, name)
        body = body if name in words_read(rest) else rest
    return body


def _without_flag(body: list[Line | Suite], name: str) -> list[Line | Suite]:
    """Returns `body` without what sets `name`, and without the questions for it that nothing else hangs on."""
    kept: list[Line | Suite] = []
    for item in body:
        if isinstance(item, Line):
            kept += [] if _variables(item.text).given == name else [item]
            continue
        inner = _without_flag(item.body, name)
        if inner or name not in _of_head(item.head).read:
            kept.append(Suite(item.head, inner))
    return kept


def is_set(body: list[Line | Suite], name: str) -> bool:
    """Returns whether a statement of `body` gives the variable `name` a value, and not only an element of it."""
    return any(
        name in _variables(item.text).bound
        if isinstance(item, Line)
        else name in _of_head(item.head).bound or is_set(item.body, name)
        for item in body
    )


def words_read(body: list[Line | Suite]) -> frozenset[str]:
    """Returns all variables that are read, but by the lines that define them: these may read one to change it."""
    found: set[str] = set()
    for item in body:
        if isinstance(item, Suite):
            found |= _of_head(item.head).read | words_read(item.body)
        else:
            variables = _variables(item.text)
            found |= variables.read - ({item.defines} - variables.value)
    return frozenset(found)


@dataclass(frozen=True, slots=True)
class _Variables:
    """The variables of a statement: those it reads, those that the `value` it assigns reads, and those it sets.

    `given` is the one that it gives that value and does nothing else.
    """

    read: frozenset[str] = frozenset()
    value: frozenset[str] = frozenset()
    bound: frozenset[str] = frozenset()
    given: str = ""


@lru_cache(_STATEMENTS)
def _variables(statement: str) -> _Variables:
    found = _Variables()
    for node in module_tree(statement).body:
        value = getattr(node, "value", None)
        only = node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
        found = _Variables(
            found.read | frozenset(_names(node, ast.Load)),
            found.value | frozenset(_names(value, ast.Load) if isinstance(value, ast.AST) else ()),
            found.bound | frozenset(_names(node, ast.Store)),
            only.id if isinstance(only, ast.Name) else "",
        )
    return found


def _of_head(head: str) -> _Variables:
    """Returns the variables of the head of a suite."""
    return _Variables() if head == "else:" else _variables(f"{head.removeprefix('el')} pass")


def _names(node: ast.AST, use: type[ast.expr_context]) -> Iterator[str]:
    return (one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, use))


def _size(body: list[Line | Suite]) -> int:
    return sum(1 + (_size(item.body) if isinstance(item, Suite) else 0) for item in body)


def _without(body: list[Line | Suite], read: frozenset[str]) -> list[Line | Suite]:
    kept: list[Line | Suite] = []
    for i, item in enumerate(body):
        if isinstance(item, Line):
            if not item.defines or (item.defines in read and not _overwritten(body[i + 1 :], item.defines)):
                kept.append(item)
            continue
        kept.append(Suite(item.head, _without(item.body, read)))
    return [s for i, s in enumerate(kept) if isinstance(s, Line) or s.body or _continues(kept, i)]


def _overwritten(following: list[Line | Suite], name: str) -> bool:
    """Returns whether a plain statement sets `name` anew before anything reads it."""
    for item in following:
        if isinstance(item, Suite):
            return False
        variables = _variables(item.text)
        if item.defines == variables.given == name:
            return name not in variables.read
        if name in variables.read | variables.bound:
            return False
    return False


def _continues(body: list[Line | Suite], index: int) -> bool:
    """Returns whether the empty suite at `index` has an `elif` or `else` that is not empty."""
    if body[index].__class__ is Suite and isinstance(s := body[index], Suite) and s.head == "else:":
        return False
    following = body[index + 1] if index + 1 < len(body) else None
    if not isinstance(following, Suite) or not following.follows:
        return False
    return bool(following.body) or _continues(body, index + 1)


def laid_out(body: list[Line | Suite], indent: str) -> list[str]:
    """Returns the lines of `body`, each statement on one."""
    lines: list[str] = []
    for item in body:
        if isinstance(item, Line):
            lines.append(indent + item.text)
        else:
            lines.append(indent + item.head)
            lines.extend(laid_out(item.body or [Line("pass")], indent + "    "))
    return lines

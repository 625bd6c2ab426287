"""Holds Python statements as a tree, drops those without a reader, and lays the rest out in lines."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

_WORD = re.compile(r"[A-Za-z_]\w*")
_ASSIGNED = re.compile(r" [^\w\s]*= ")


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
            kept += [] if item.text.startswith(f"{name} = ") else [item]
            continue
        inner = _without_flag(item.body, name)
        if inner or name not in _WORD.findall(item.head):
            kept.append(Suite(item.head, inner))
    return kept


def is_set(body: list[Line | Suite], name: str) -> bool:
    """Returns whether a statement of `body` gives the variable `name` a value, and not only an element of it."""
    assigns = re.compile(rf"(?<![\w.]){name}(?![\w.\[(])[^=]* (?:[^\w\s]*=|in) ")
    return any(
        assigns.search(f"{item.head if isinstance(item, Suite) else item.text} ") is not None
        or (isinstance(item, Suite) and is_set(item.body, name))
        for item in body
    )


def words_read(body: list[Line | Suite]) -> frozenset[str]:
    """Returns all words that stand anywhere but as the variable a line defines, which it may read to change it."""
    found: set[str] = set()
    for item in body:
        if isinstance(item, Suite):
            found |= set(_WORD.findall(item.head)) | words_read(item.body)
        else:
            found |= set(_WORD.findall(_ASSIGNED.split(item.text, 1)[1] if item.defines else item.text))
    return frozenset(found)


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
        if item.defines == name and item.text.startswith(f"{name} = "):
            return name not in _WORD.findall(item.text.partition(" = ")[2])
        if name in _WORD.findall(item.text):
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

"""Python statements as a tree, what nobody reads left out, laid out in lines."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from porter_triton.layout import WIDTH

_WORD = re.compile(r"[A-Za-z_]\w*")
_STRING = re.compile(r"""\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'""")
_ASSIGNED = re.compile(r" [^\w\s]*= ")
_OPENING = {"(": ")", "[": "]", "{": "}"}


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
    """`body` without variables nobody reads and suites with nothing in them."""
    while True:
        read = words_read(body) | result
        shorter = _without(body, read)
        if _size(shorter) == _size(body):
            return shorter
        body = shorter


def words_read(body: list[Line | Suite]) -> frozenset[str]:
    """All words that stand anywhere but as the variable a line defines, which it may read to change it."""
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
    """Returns whether an `elif` or `else` with something in it hangs on the empty suite at `index`."""
    if body[index].__class__ is Suite and isinstance(s := body[index], Suite) and s.head == "else:":
        return False
    following = body[index + 1] if index + 1 < len(body) else None
    if not isinstance(following, Suite) or not following.follows:
        return False
    return bool(following.body) or _continues(body, index + 1)


def laid_out(body: list[Line | Suite], indent: str) -> list[str]:
    """The lines of `body`."""
    lines: list[str] = []
    for item in body:
        if isinstance(item, Line):
            lines.extend(wrapped(item.text, indent))
        else:
            lines.extend(wrapped(item.head, indent))
            lines.extend(laid_out(item.body or [Line("pass")], indent + "    "))
    return lines


def wrapped(text: str, indent: str) -> list[str]:
    """`text` broken at its last bracket, as `black` does, where it is longer than a line."""
    if len(indent) + len(text) <= WIDTH:
        return [indent + text]
    opening = _last_bracket(text)
    if opening is None:
        return _in_parentheses(text, indent)
    begin, end = opening
    head, inside, tail = text[: begin + 1], text[begin + 1 : end], text[end:]
    inner = indent + "    "
    if len(inner) + len(inside) <= WIDTH:
        return [indent + head, inner + inside, indent + tail]
    items = _split(inside)
    lines = [line for item in items for line in wrapped(item + ("," if len(items) > 1 else ""), inner)]
    return [indent + head, *lines, indent + tail]


def _in_parentheses(text: str, indent: str) -> list[str]:
    """A long right-hand side without brackets, in brackets of its own."""
    target, equals, value = text.partition(" = ")
    if not equals:
        return [indent + text]
    return [f"{indent}{target} = (", f"{indent}    {value}", f"{indent})"]


def _last_bracket(text: str) -> tuple[int, int] | None:
    """The extent of the last bracket at the top of `text` that has something in it, only `:` and `,` behind."""
    text = _without_strings(text)
    end = len(text.rstrip(":,")) - 1
    if end < 0 or text[end] not in _OPENING.values():
        return None
    depth = 0
    for i in range(end, -1, -1):
        depth += (text[i] in _OPENING.values()) - (text[i] in _OPENING)
        if depth == 0:
            return (i, end) if end > i + 1 else None
    return None


def _split(text: str) -> list[str]:
    """The parts of `text` between the commas at its top."""
    parts, depth, begin = [], 0, 0
    for i, c in enumerate(_without_strings(text)):
        depth += (c in _OPENING) - (c in _OPENING.values())
        if c == "," and depth == 0:
            parts.append(text[begin:i].strip())
            begin = i + 1
    last = text[begin:].strip()
    return [*parts, last] if last else parts


def _without_strings(text: str) -> str:
    """`text` with blanks for what stands in quotes, where commas and brackets are only said."""
    return _STRING.sub(lambda found: f'"{" " * (len(found.group()) - 2)}"', text)

"""Tells what one access in a function's text does to the buffer it names: `y[i] = v`, `*p += v`, `FLOAT4(y[i]) = v`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from porter.source.lexer import Token, match_bracket, split_arguments

_ASSIGNMENTS = frozenset(("=", "+=", "-=", "*=", "/=", "|=", "&=", "^=", "%=", "<<=", ">>=", "++", "--"))


@dataclass(frozen=True, slots=True)
class Use:
    """The uses that are made of one parameter.

    `selects` says that its values index something; `indexes` names the indexed parameters, `bounds` the limits of the
    values. `counts` says that the old value which an atomic operation returns matters, as for a counter or a lock.
    `equals` are limits, as expressions of the parameters, of indices that its values are compared with, `numbers` whole
    numbers that they are compared with for equality.
    """

    reads: bool = False
    writes: bool = False
    accumulates: bool = False
    offsets: bool = False
    selects: bool = False
    indexes: frozenset[str] = frozenset()
    bounds: tuple[str, ...] = ()
    counts: bool = False
    equals: tuple[str, ...] = ()
    numbers: tuple[int, ...] = ()

    def joined(self, other: Use) -> Use:
        """Returns both uses together."""
        return Use(
            self.reads or other.reads, self.writes or other.writes, self.accumulates or other.accumulates,
            self.offsets or other.offsets, self.selects or other.selects, self.indexes | other.indexes,
            tuple(dict.fromkeys((*self.bounds, *other.bounds))), self.counts or other.counts,
            tuple(dict.fromkeys((*self.equals, *other.equals))),
            tuple(sorted({*self.numbers, *other.numbers})),
        )  # fmt: skip


def access(words: Sequence[Token], index: int) -> Use:
    """Returns the access at the buffer name `words[index]`, with a subscript behind or a star before it."""
    i = index + 1
    while i < len(words) and words[i].text == "[":
        i = (match_bracket(words, i) or len(words)) + 1
    while i + 1 < len(words) and words[i].text == ".":
        i += 2
    outer = outer_store(words, index)
    if outer:
        return outer[0]
    return _by_operator(words[i].text if i < len(words) else "", words[index - 1].text if index else "")


def _by_operator(after: str, before: str) -> Use:
    if after == "=":
        return Use(writes=True)
    if after in _ASSIGNMENTS or before in ("++", "--"):
        return Use(reads=True, writes=True)
    return Use(reads=True)


def outer_store(words: Sequence[Token], index: int) -> list[Use]:
    """Returns a store through something around the name: `FLOAT4(y[i]) = v`, `((float4*)y)[i] = v`, `*(y + i) = v`."""
    depth = 0
    start = index
    while start > 0 and depth >= 0:
        start -= 1
        text = words[start].text
        depth += (text in (")", "]")) - (text in ("(", "["))
        if text in (";", "{", "}", "=") and depth == 0:
            return []
    close = match_bracket(words, start) if words[start].text == "(" else None
    if close is None or (any(w.text == "," for w in words[start:close]) and len(split_arguments(words, start)) > 1):
        return []
    i = close + 1
    while i < len(words) and words[i].text in ("[", ")"):
        i = (match_bracket(words, i) or len(words)) + 1 if words[i].text == "[" else i + 1
    after = words[i].text if i < len(words) else ""
    head = words[start - 1].text if start else ""
    if after in _ASSIGNMENTS and head not in ("if", "while", "for", "switch"):
        return [_by_operator(after, "")]
    return []

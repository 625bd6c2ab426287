"""Finds the axes of tensors that a kernel indexes with numbers alone, which say how long they are."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from porter.contract.analysis.body import Body
from porter.source.lexer import TokenKind, match_bracket

Axis = tuple[str, int]  # of an accessor


def indexed_by_numbers(body: Body, accessors: Collection[str]) -> Iterator[tuple[Axis, int]]:
    """Yields the axes that numbers alone index, at least two, with how many elements these take."""
    found: dict[Axis, list[int | None]] = {}
    for axis, index, kind in _indices(body, accessors):
        found.setdefault(axis, []).append(int(index) if kind is TokenKind.NUMBER and index.isdigit() else None)
    for axis, indices in found.items():
        numbers = [index for index in indices if index is not None]
        if len(numbers) == len(indices) and max(numbers) > 0:
            yield axis, max(numbers) + 1


def _indices(body: Body, accessors: Collection[str]) -> Iterator[tuple[Axis, str, TokenKind | None]]:
    """Yields each subscript of an accessor: its axis, and the one word in it; no word where there are several."""
    words = body.words
    for i, word in enumerate(words):
        if word.text not in accessors or (i and words[i - 1].text in (".", "->", "::")):
            continue
        at, axis = i + 1, 0
        while at < len(words) and words[at].text == "[" and (close := match_bracket(words, at)) is not None:
            inside = words[at + 1 : close]
            only = inside[0] if len(inside) == 1 else None
            yield (word.text, axis), only.text if only else "", only.kind if only else None
            at, axis = close + 1, axis + 1

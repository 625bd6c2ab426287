"""Edits of a text that keep everything they do not name."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Edit:
    """Replace `text[start:end]` by `replacement`; an insertion has `start == end`."""

    start: int
    end: int
    replacement: str


class OverlappingEditsError(ValueError):
    """Two edits claim the same characters: a bug of the rule that made them."""


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """`text` with all `edits` applied at once; equal edits count once.

    Raises `OverlappingEditsError` when two different edits share a character.
    """
    parts: list[str] = []
    position = 0
    for edit in sorted(set(edits)):
        if edit.start < position:
            raise OverlappingEditsError(f"edit at {edit.start} overlaps one that ends at {position}")
        parts.append(text[position : edit.start])
        parts.append(edit.replacement)
        position = edit.end
    parts.append(text[position:])
    return "".join(parts)

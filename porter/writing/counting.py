"""Writes numbers of things in words: `1 round`, `2 rounds`."""

from __future__ import annotations

from collections.abc import Sequence


def counted(number: int, noun: str, nouns: str = "") -> str:
    """Returns `number` with its noun; `nouns` is the plural where that is not `noun` with an s."""
    return f"{number} {noun if number == 1 else nouns or f'{noun}s'}"


def enumerated(words: Sequence[str], most: int = 0) -> str:
    """Returns `a`, `a and b`, `a, b and c`; of more than `most` the first ones, and how many more there are."""
    if most and len(words) > most:
        return f"{', '.join(words[:most])} and {len(words) - most} more"
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))

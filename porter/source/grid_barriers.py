"""Finds where all blocks of a grid wait for each other, by the tokens of a file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from porter.source.vocabulary import COOPERATIVE

_WAITS = ("sync", "barrier_arrive", "barrier_wait")
_GRID = "this_grid"


def grid_barriers(words: Sequence[str]) -> Iterator[int]:
    """Yields the index of each of `words` that makes the blocks of a grid wait for each other.

    A group of the whole grid that is only asked for ranks and sizes makes nobody wait.
    """
    grids = {_GRID, *_grids(words)}
    for i, word in enumerate(words):
        if word in COOPERATIVE or (word in _WAITS and {_owner(words, i), _argument(words, i)} & grids):
            yield i


def _grids(words: Sequence[str]) -> Iterator[str]:
    """Yields the names that are declared for a grid: `grid_group g`, `auto g = cooperative_groups::this_grid()`."""
    for i, word in enumerate(words):
        if word == "grid_group":
            yield next((name for name in words[i + 1 : i + 4] if name.isidentifier() and name != "const"), "")
        elif word == _GRID:
            start = i
            while words[start - 1 : start] == ["::"]:
                start -= 2
            if words[start - 1 : start] == ["="]:
                yield words[start - 2]


def _owner(words: Sequence[str], at: int) -> str:
    """Returns what the method at `at` is called of: `grid` of `grid.sync()`, `this_grid` of `this_grid().sync()`."""
    if at < 2 or words[at - 1] not in (".", "->"):
        return ""
    called = list(words[max(at - 4, 0) : at - 1])
    return called[0] if called[1:] == ["(", ")"] else called[-1]


def _argument(words: Sequence[str], at: int) -> str:
    """Returns the first argument of the function that is called at `at`, without its namespaces."""
    if words[at + 1 : at + 2] != ["("]:
        return ""
    first = at + 2
    while words[first + 1 : first + 2] == ["::"]:
        first += 2
    return words[first] if first < len(words) else ""

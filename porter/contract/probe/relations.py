"""Relates extents of torch tensors that host code never compares, and that kernels take to be equal all the same."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from porter.contract.model.contract import Contract, EntryKind, ScalarArg
from porter.contract.model.questions import unknown_extents
from porter.contract.model.resized import with_size

_MOST = 6


def relations(contract: Contract) -> Iterator[Contract]:
    """Yields `contract` with its first axes all equal, as batches are, then all axes of a place, then two at a time.

    Axes of a place are first those of tensors of one rank: maps and the data of each of their points.
    """
    if contract.entry.kind is not EntryKind.TORCH:
        return
    unknown = unknown_extents(contract)
    shapes = [t.shape for t in contract.tensors if t not in unknown]
    ranks = list(dict.fromkeys(map(len, shapes)))
    by_rank = [axis for rank in ranks for axis in _by_axis(contract, [s for s in shapes if len(s) == rank])]
    by_axis = _by_axis(contract, shapes)
    same_rank, differing = ([axis for axis in axes if len(axis) > 1] for axes in (by_rank, by_axis))
    batches = [axis for axis in by_axis[:1] if axis in differing]
    pairs = [[list(pair)] for axis in differing for pair in combinations(axis, 2)]
    tried = [batches, same_rank, differing, *pairs[:_MOST]]
    yield from (_alike(contract, groups) for i, groups in enumerate(tried) if groups and groups not in tried[:i])


def agreements(contract: Contract) -> Iterator[str]:
    """Yields conditions by which a number that is passed repeats the length of an axis, last axes first."""
    shapes = {extent for t in contract.tensors for extent in t.shape}
    given = {a.value: a for a in contract.arguments if isinstance(a, ScalarArg) and a.value in contract.symbols}
    axes = [s for s in contract.symbols if s in shapes and s not in given]
    pairs = [(size, axis) for size in given if size not in shapes for axis in reversed(axes)]
    if contract.entry.kind is EntryKind.TORCH:
        yield from (f"{size} == {axis}" for size, axis in pairs[:_MOST])


def _by_axis(contract: Contract, shapes: list[tuple[str, ...]]) -> list[list[str]]:
    """Returns the sizes that the axes of a place have, by place."""
    places = range(max(map(len, shapes), default=0))
    return [list(dict.fromkeys(s[a] for s in shapes if a < len(s) and s[a] in contract.symbols)) for a in places]


def _alike(contract: Contract, groups: list[list[str]]) -> Contract:
    """Returns `contract` with the first of each group in place of the others."""
    for first, *others in groups:
        for size in others:
            contract = with_size(contract, size, first)
    return contract

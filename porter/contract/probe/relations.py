"""Relates extents of torch tensors that host code never compares, and that kernels take to be equal all the same."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations, permutations

from porter.contract.model.contract import Contract, EntryKind, ScalarArg, TensorArg
from porter.contract.model.expressions import names_in
from porter.contract.model.questions import unknown_extents
from porter.contract.model.resized import with_size
from porter.execution.job import FaultKind, Run

_MOST = 6
_RACED = re.compile(r"`argument (\d+)`")


def relations(contract: Contract) -> Iterator[Contract]:
    """Yields `contract` with its first axes all equal, as batches are, then all axes of a place, then two at a time.

    Axes of a place are first those of tensors of one rank: maps and the data of each of their points. Before all that
    is what is `gathered`.
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
    yield from gathered(alike(contract, batches))
    yield from (alike(contract, groups) for i, groups in enumerate(tried) if groups and groups not in tried[:i])


def tied(drafted: Contract, related: Contract) -> list[list[str]]:
    """Returns the groups of sizes of `drafted` in place of which `related` has a single one."""
    groups: dict[str, dict[str, None]] = {}
    for own, other in zip(drafted.tensors, related.tensors, strict=True):
        for size, one in zip(own.shape, other.shape, strict=False):
            if size in drafted.symbols and one in drafted.symbols:
                groups.setdefault(one, {})[size] = None
    return [list(group) for group in groups.values() if len(group) > 1]


def without(groups: list[list[str]], size: str) -> list[list[str]]:
    """Returns the groups with `size` in none of them."""
    rest = [[other for other in group if other != size] for group in groups]
    return [group for group in rest if len(group) > 1]


def gathered(contract: Contract) -> Iterator[Contract]:
    """Yields `contract` with the first axes of one tensor and the last ones of another for the only one of most axes.

    Of `points[b, c, n]` and `idx[b, m, k]` the gathered ones are `[b, c, m, k]`: no other has so many, to agree with.
    """
    tensors = sorted(contract.tensors, key=lambda t: len(t.shape))
    ranks = [len(t.shape) for t in tensors]
    if not tensors or ranks.count(ranks[-1]) > 1 or tensors[-1] not in lone(contract):
        return
    *others, largest = tensors
    rank = ranks[-1]
    for first, last in permutations([t.shape for t in others], 2):
        for count in range(max(1, rank - len(last)), min(rank, len(first) + 1)):
            shape = first[:count] + last[count - rank :]
            if len(set(shape)) == rank:
                yield _shaped(contract, largest, shape)


def lone(contract: Contract) -> list[TensorArg]:
    """Returns the tensors with an extent that is a size of its own, beside others that are not."""
    shapes = [(t, frozenset[str]().union(*map(names_in, t.shape))) for t in contract.tensors]
    given = frozenset[str]().union(*(names_in(a.value) for a in contract.arguments if isinstance(a, ScalarArg)))
    elsewhere = {t.name: given.union(*(names for u, names in shapes if u is not t)) for t, _ in shapes}
    return [t for t, names in shapes if names - elsewhere[t.name] and elsewhere[t.name]]


def overlap(drafted: Contract, run: Run) -> bool:
    """Returns whether threads meet in a tensor that is lone as `drafted`: its rows may be too short for them."""
    messages = (fault.message for fault in run.faults if fault.kind is FaultKind.RACE)
    met = {int(place) for message in messages for place in _RACED.findall(message)}
    return any(a in lone(drafted) for i, a in enumerate(drafted.arguments) if i in met)


def _shaped(contract: Contract, tensor: TensorArg, shape: tuple[str, ...]) -> Contract:
    """Returns `contract` with sizes of `shape` in place of those that `tensor` has by itself."""
    for own, size in zip(tensor.shape, shape, strict=True):
        if own != size and own in contract.symbols:
            contract = with_size(contract, own, size)
    return contract


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


def alike(contract: Contract, groups: list[list[str]]) -> Contract:
    """Returns `contract` with the first of each group in place of the others."""
    for first, *others in groups:
        for size in others:
            contract = with_size(contract, size, first)
    return contract

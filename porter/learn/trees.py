"""Gradient-boosted regression trees on numpy alone: the same data and seed make the same bits.

Features are cut into at most 32 bins at their own quantiles; a tree grows by levels, each node by the cut that lessens
the squared error most (Friedman 2001; histograms as in LightGBM).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
_BINS = 32
_LEAST = 1e-12
_NO_CUT = 1e300  # a node that asks for it sends all rows to its left


@dataclass(frozen=True, slots=True)
class Growth:
    """The way trees grow: each has `depth` levels, counts by `rate`, and sees a drawn `share` of rows and of features.

    A leaf has at least `least_rows` rows; `damping` is added to their number, so that small leaves say little.
    """

    trees: int = 160
    depth: int = 4
    rate: float = 0.08
    share: float = 0.7
    least_rows: int = 5
    damping: float = 2.0


@dataclass(frozen=True, slots=True)
class Tree:
    """A complete binary tree: inner node n asks whether `feature[n]` is above `cut[n]`, and goes on to 2n+1 or 2n+2."""

    feature: tuple[int, ...]
    cut: tuple[float, ...]
    leaf: tuple[float, ...]

    def predicted(self, rows: Floats) -> Floats:
        """Returns the value of each row."""
        node = np.zeros(len(rows), np.int64)
        feature, cut = np.array(self.feature), np.array(self.cut)
        places = np.arange(len(rows))
        for _ in range(_depth(self)):
            node = 2 * node + 1 + (rows[places, feature[node]] > cut[node])
        return np.array(self.leaf)[node - len(self.feature)]


@dataclass(frozen=True, slots=True)
class Forest:
    """The sum of all trees."""

    trees: tuple[Tree, ...]

    def predicted(self, rows: Floats) -> Floats:
        """Returns the value of each row."""
        total = np.zeros(len(rows))
        for tree in self.trees:
            total += tree.predicted(rows)
        return total


def _depth(tree: Tree) -> int:
    return (len(tree.feature) + 1).bit_length() - 1


def grown(rows: Floats, targets: Floats, weights: Floats, growth: Growth, seed: int) -> Forest:
    """Returns the forest that is fitted to `targets`, in which each row counts by its weight."""
    draw = np.random.default_rng(seed)
    binned = _Binned.of(rows)
    left = targets.copy()
    trees = []
    for _ in range(growth.trees):
        chosen = np.sort(draw.permutation(len(rows))[: max(1, round(growth.share * len(rows)))])
        columns = np.sort(draw.permutation(rows.shape[1])[: max(1, round(growth.share * rows.shape[1]))])
        tree = _tree(binned.of_rows(chosen), left[chosen], weights[chosen], columns, growth)
        trees.append(tree)
        left -= tree.predicted(rows)
    return Forest(tuple(trees))


@dataclass(frozen=True, slots=True)
class _Binned:
    """Rows with the number of the bin of each feature, and the borders between the bins."""

    bins: NDArray[np.int64]
    cuts: tuple[Floats, ...]

    @classmethod
    def of(cls, rows: Floats) -> _Binned:
        cuts = tuple(map(_cuts, rows.T))
        return cls(np.stack([np.searchsorted(cut, own) for cut, own in zip(cuts, rows.T, strict=True)], axis=1), cuts)

    def of_rows(self, chosen: NDArray[np.int64]) -> _Binned:
        return _Binned(self.bins[chosen], self.cuts)


def _cuts(column: Floats) -> Floats:
    """Returns the borders between bins: halfway between neighbouring values, or some of these where there are many."""
    values = np.unique(column)
    borders = (values[1:] + values[:-1]) / 2
    if len(borders) < _BINS:
        return borders
    return borders[np.linspace(0, len(borders) - 1, _BINS - 1).round().astype(np.int64)]


def _tree(binned: _Binned, left: Floats, weights: Floats, columns: NDArray[np.int64], growth: Growth) -> Tree:
    inner = (1 << growth.depth) - 1
    feature, cut = [0] * inner, [_NO_CUT] * inner
    node = np.zeros(len(left), np.int64)
    for place in range(inner):
        here = np.flatnonzero(node == place)
        best = _best_cut(binned.bins[here], left[here], weights[here], columns, growth) if len(here) else None
        above = np.zeros(len(here), np.int64)
        if best is not None:
            feature[place], bin_ = best
            cut[place] = float(binned.cuts[feature[place]][bin_])
            above = (binned.bins[here, feature[place]] > bin_).astype(np.int64)
        node[here] = 2 * place + 1 + above
    count = np.bincount(node - inner, weights, inner + 1)
    total = np.bincount(node - inner, weights * left, inner + 1)
    leaf = growth.rate * total / (count + growth.damping)
    return Tree(tuple(feature), tuple(cut), tuple(map(float, leaf)))


def _best_cut(
    binned: NDArray[np.int64], left: Floats, weights: Floats, columns: NDArray[np.int64], growth: Growth
) -> tuple[int, int] | None:
    """Returns the feature and the bin above which rows part best; None where no cut is allowed or helps."""
    many = len(columns)
    bins = (binned[:, columns] + _BINS * np.arange(many)).ravel()  # of all features at once
    each, value = np.repeat(weights, many), np.repeat(weights * left, many)

    def below(counted: Floats | None) -> Floats:
        """Returns for each feature and cut what lies at or below it."""
        sums = np.bincount(bins, counted, many * _BINS).reshape(many, _BINS)
        return np.cumsum(sums, axis=1, dtype=np.float64)[:, :-1]

    number, count, sums = below(None), below(each), below(value)
    all_count, total = float(weights.sum()), float((weights * left).sum())
    whole = total**2 / (all_count + growth.damping)
    gain = sums**2 / (count + growth.damping) + (total - sums) ** 2 / (all_count - count + growth.damping) - whole
    gain[(number < growth.least_rows) | (len(left) - number < growth.least_rows)] = 0.0
    column, place = divmod(int(gain.argmax()), _BINS - 1)
    return (int(columns[column]), place) if gain[column, place] > _LEAST else None

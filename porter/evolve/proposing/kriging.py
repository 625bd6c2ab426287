"""Proposes the candidates that measurements make most promising: Gaussian process regression (kriging) on a space.

The logarithm of the factor is modelled as a random function of the point that differs little where points differ
little; how much a knob matters is fitted to the measurements. The proposal has the greatest expected improvement (Jones
et al. 1998), times a probability that it will be right: a mild one, fitted to all knobs at once.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from random import Random
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from porter.evolve.candidate import Candidate, Origin, Value
from porter.evolve.proposer import Member, Request
from porter.evolve.space import Knob, Point, Space

NAME = "kriging"
Array = NDArray[np.float64]

_TOPS = 6  # points around which it looks
_DRAWN = 150  # points a few knobs from these
_ANYWHERE = 10  # points at random: with 150 the area under benchmarks/evolve's curve was 0.83, with none 0.85
_SCALES = (0.3, 0.7, 1.5, 4.0, 12.0)  # of a knob's whole range, over which factors stay alike
_LEAST_NOISE = 1e-3  # of the variance of what was measured; also what makes the matrices well-conditioned
_MOST_MEMBERS = 250  # the newest; the work grows with the cube


@dataclass(frozen=True, slots=True)
class _Measured:
    """Points, whether they were right, and for right ones the logarithm of the factor and its variance."""

    places: Array
    right: NDArray[np.bool_]
    logs: Array
    variances: Array


class KrigingProposer:
    """Proposes points of one space; it keeps no state."""

    name = NAME

    def __init__(self, space: Space) -> None:
        self._space = space

    def propose(self, request: Request) -> Sequence[Candidate]:
        """Returns at most `count` candidates that the search has not seen, the most promising ones first."""
        random = Random(request.seed)
        known = self._known(request.history)
        tops = sorted((m for m in known if m.scored.score), key=_factor, reverse=True)[:_TOPS]
        if not tops:
            return ()
        pool = self._pool([m.candidate.point for m in tops], {_key(m.candidate.point) for m in known}, random)
        found: dict[str, Candidate] = {}
        for point in self._ordered(pool, known):
            parent = max(tops, key=lambda top: _alike(top.candidate.point, point))
            note = self._space.told(parent.candidate.point, point)
            candidate = self._space.candidate(point, Origin(NAME, (parent.candidate.digest,), note))
            if candidate and candidate.digest not in request.seen:
                found.setdefault(candidate.digest, candidate)
            if len(found) == request.count:
                break
        return tuple(found.values())

    def _known(self, history: Sequence[Member]) -> list[Member]:
        """Returns the newest points of the space, in the order in which they were evaluated."""
        points = (m for m in reversed(history) if self._space.knobs and self._space.legal(m.candidate.point))
        return list(islice(points, _MOST_MEMBERS))[::-1]

    def _pool(self, tops: Sequence[Point], known: set[tuple[Value, ...]], random: Random) -> list[Point]:
        """Returns points that were not evaluated: all around the best, some further off, and some anywhere."""
        drawn = [self._space.mutated(random.choice(tops), random) for _ in range(_DRAWN)]
        anywhere = [self._space.sample(random) for _ in range(_ANYWHERE)]
        near = [point for top in tops for point in self._space.neighbours(top)]
        pool = {_key(point): point for point in (*near, *drawn, *anywhere) if point is not None}
        return [point for key, point in pool.items() if key not in known]

    def _ordered(self, pool: Sequence[Point], known: Sequence[Member]) -> Iterator[Point]:
        if not pool:
            return
        knobs = self._space.knobs
        measured = _measured(knobs, known)
        expected = _expected(measured, _places(knobs, pool), len(knobs))
        yield from (pool[index] for index in np.argsort(-expected, kind="stable"))


def _factor(member: Member) -> float:
    assert member.scored.score is not None
    return member.scored.score.factor


def _key(point: Point) -> tuple[Value, ...]:
    return tuple(point[name] for name in sorted(point))


def _alike(one: Point, other: Point) -> int:
    return sum(one[name] == other[name] for name in one)


def _places(knobs: Sequence[Knob], points: Sequence[Point]) -> Array:
    """Returns points x (2 x knobs): the place of a number among its knob's numbers, 0 to 1; and its word, or none."""
    rows = []
    for point in points:
        numbers = [_number(knob, point[knob.name]) for knob in knobs]
        words = [-1.0 if isinstance(v := point[knob.name], int) else float(knob.values.index(v)) for knob in knobs]
        rows.append(numbers + words)
    return np.array(rows)


def _number(knob: Knob, value: Value) -> float:
    numbers = sorted(v for v in knob.values if isinstance(v, int))
    return numbers.index(value) / max(1, len(numbers) - 1) if isinstance(value, int) else 0.0


def _distances(one: Array, other: Array, knobs: int) -> Array:
    """Returns knobs x points x points: how far numbers are apart, and 0 or 1 between words."""
    apart: Array = np.empty((knobs, len(one), len(other)))
    for knob in range(knobs):
        numbers = np.abs(np.subtract.outer(one[:, knob], other[:, knob]))
        differ = np.not_equal.outer(one[:, knobs + knob], other[:, knobs + knob])
        apart[knob] = np.where(differ, 1.0, numbers)
    return apart


def _measured(knobs: Sequence[Knob], known: Sequence[Member]) -> _Measured:
    scores = [member.scored.score for member in known]
    found = [score for score in scores if score is not None]
    return _Measured(
        _places(knobs, [member.candidate.point for member in known]),
        np.array([score is not None for score in scores]),
        np.array([math.log(score.factor) for score in found]),
        np.array([(math.log(score.high / score.low) / 4) ** 2 for score in found]),
    )


def _expected(measured: _Measured, pool: Array, knobs: int) -> Array:
    """Returns what is expected of each point of the pool, on any scale."""
    right = measured.places[measured.right]
    spread = max(float(measured.logs.std()), 1e-6)
    logs = (measured.logs - measured.logs.mean()) / spread
    noise = np.maximum(measured.variances / spread**2, _LEAST_NOISE)
    scales = _fitted(_distances(right, right, knobs), logs, noise)
    means, deviations = _predicted(
        _alikeness(_distances(right, right, knobs), scales),
        _alikeness(_distances(pool, right, knobs), scales),
        logs,
        noise,
    )
    chances = np.ones(len(pool))
    if not measured.right.all():
        everything = _alikeness(_distances(measured.places, measured.places, knobs), scales)
        toward = _alikeness(_distances(pool, measured.places, knobs), scales)
        lacking = measured.right.astype(np.float64) - 1
        chances += _predicted(everything, toward, lacking, np.full(len(lacking), 0.05))[0]
    improved: Array = _improvement(means - logs.max(), deviations) * np.clip(chances, 0.02, 1.0)
    return improved


def _alikeness(distances: Array, scales: Array) -> Array:
    """Returns the correlation of what two points are worth: a product over knobs, each of which may turn sharply."""
    alike: Array = np.exp(-_apart(distances, scales))
    return alike


def _apart(distances: Array, scales: Array) -> Array:
    return np.asarray(np.tensordot(1 / scales, distances, 1), np.float64)


def _fitted(distances: Array, logs: Array, noise: Array) -> Array:
    """Returns the scale of each knob that makes the measurements most likely, fitted one knob after the other.

    A knob is tried once more only where another one changed since: the answer would be the same.
    """
    scales = np.full(len(distances), 1.5)
    apart = _apart(distances, scales)
    best = _likelihood(apart, logs, noise)
    unchanged = 0
    for knob in (*range(len(scales)), *range(len(scales))):
        others, unchanged = apart - distances[knob] / scales[knob], unchanged + 1
        for scale in _SCALES:
            tried: Array = others + distances[knob] / scale
            if scale != scales[knob] and (likelihood := _likelihood(tried, logs, noise)) > best:
                scales[knob], apart, best, unchanged = scale, tried, likelihood, 0
        if unchanged == len(scales):
            break
    return scales


def _likelihood(apart: Array, logs: Array, noise: Array) -> float:
    """Returns the log-likelihood of the measurements, where points are that far `apart`.

    The last row of the factor solves for `logs`: they are the last row of the matrix, whose corner only has to be large
    enough. Solving separately took a third of a proposal's time.
    """
    count = len(logs)
    whole = np.empty((count + 1, count + 1))
    np.exp(-apart, out=whole[:count, :count])
    whole.flat[: -1 : count + 2] += noise
    whole[count, :count] = logs
    whole[count, count] = 1 + logs @ logs / noise.min()
    factor = np.linalg.cholesky(whole)
    solved = factor[count, :count]
    return float(-0.5 * solved @ solved - np.log(np.diag(factor)[:count]).sum())


def _predicted(within: Array, toward: Array, logs: Array, noise: Array) -> tuple[Array, Array]:
    """Returns means and standard deviations at points with the correlations `toward` to the measured ones."""
    factor = np.linalg.cholesky(within + np.diag(noise))
    solved = np.linalg.solve(factor, toward.T)
    means: Array = solved.T @ np.linalg.solve(factor, logs)
    return means, np.sqrt(np.maximum(1 - (solved**2).sum(axis=0), 1e-9))


def _improvement(gains: Array, deviations: Array) -> Array:
    """Returns the expected improvement of each over the best so far, if there is a best."""
    normal = NormalDist()
    standard = gains / deviations
    return np.array(
        [d * (z * normal.cdf(z) + normal.pdf(z)) for z, d in zip(standard.tolist(), deviations.tolist(), strict=True)]
    )

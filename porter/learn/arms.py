"""Chooses schedules in the study: by draws, in porter's own order, by a model that learnt from other operators."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from random import Random
from typing import Protocol

import numpy as np

from porter.learn.landscape import Landscape
from porter.learn.schedule_features import features
from porter.learn.schedule_model import ScheduleModel
from porter.learn.trees import Floats

Told = tuple[int, float | None]  # the place of a choice, and its time in microseconds; None where it did not run


class Chooser(Protocol):
    """Chooses among the schedules of one operator."""

    def chosen(self, told: Sequence[Told]) -> int:
        """Returns the place of the choice to be tried next; that it was tried before may be."""
        ...


class Arm(Protocol):
    """A way to choose schedules."""

    def begin(self, landscape: Landscape, draw: Random) -> Chooser:
        """Returns who chooses for `landscape`; all that it draws comes from `draw`."""
        ...


@dataclass(frozen=True)
class Drawn:
    """Draws with repetition, all choices alike."""

    def begin(self, landscape: Landscape, draw: Random) -> Chooser:
        """Returns who draws."""
        return _Drawing(len(landscape.choices), draw)


@dataclass(frozen=True)
class _Drawing:
    count: int
    draw: Random

    def chosen(self, told: Sequence[Told]) -> int:  # noqa: ARG002 - it learns nothing
        return self.draw.randrange(self.count)


@dataclass(frozen=True)
class InOrder:
    """Takes the schedules in the order in which porter tries them; those that it would not try come last, drawn."""

    def begin(self, landscape: Landscape, draw: Random) -> Chooser:
        """Returns who goes through the order."""
        rest = [place for place in range(len(landscape.choices)) if place not in landscape.order]
        draw.shuffle(rest)
        return _Listed((*landscape.order, *rest))


@dataclass(frozen=True)
class _Listed:
    places: tuple[int, ...]

    def chosen(self, told: Sequence[Told]) -> int:
        return self.places[len(told) % len(self.places)]


@dataclass(frozen=True)
class Learnt:
    """Takes what a model foretells to be fastest, corrected by what it was told of similar schedules.

    The correction is a Gaussian process over schedules whose mean is what the model foretells. `spread` is how far that
    is off, as the logarithm of a factor, and `reach` how far schedules are alike; of a time the mean counts less
    `daring` deviations. The three were chosen on synthetic landscapes, and on no device.

    `trust` is in porter's own order: for each place that a schedule comes later in it, it counts as slower by that
    share, and one that is not in it as the last.
    """

    model: ScheduleModel
    trust: float = 0.0
    spread: float = 0.3
    reach: float = 4.0
    daring: float = 1.0

    def begin(self, landscape: Landscape, draw: Random) -> Chooser:  # noqa: ARG002 - nothing is drawn
        """Returns who asks the model."""
        schedules = [one.schedule for one in landscape.choices]
        rows = [features(landscape.nest, one) for one in schedules]
        points = np.array([[row[name] for name in row if not name.startswith("nest ")] for row in rows])
        squares = (points**2).sum(axis=1)
        apart = np.maximum(squares[:, None] + squares[None, :] - 2 * points @ points.T, 0.0)
        alike = self.spread**2 * np.exp(-apart / (2 * self.reach**2))
        foretold = self.model.slowdowns(landscape.nest, schedules) + self.trust * _places(landscape)
        return _Correcting(foretold, alike, self.spread, self.daring)


def _places(landscape: Landscape) -> Floats:
    """Returns the place of each choice in porter's own order."""
    places = np.full(len(landscape.choices), float(len(landscape.order)))
    places[list(landscape.order)] = np.arange(len(landscape.order))
    return places


@dataclass(frozen=True)
class _Correcting:
    """`alike` is the covariance of each two choices."""

    foretold: Floats
    alike: Floats
    spread: float
    daring: float

    def chosen(self, told: Sequence[Told]) -> int:
        value = self.foretold + (self._correction(told) if told else 0.0)
        value[[place for place, _ in told]] = np.inf
        return int(value.argmin())

    def _correction(self, told: Sequence[Told]) -> Floats:
        """Returns the mean of the process less `daring` times its deviation, for every choice."""
        known = np.array([place for place, _ in told])
        offset = 1e4 * self.spread**2  # how long the operator takes at all, nothing is known of
        among = offset + self.alike[np.ix_(known, known)] + 1e-4 * np.eye(len(known))
        across = offset + self.alike[:, known]
        weights = np.linalg.solve(among, across.T).T
        variance = offset + np.diag(self.alike) - (across * weights).sum(axis=1)
        mean: Floats = weights @ self._surprises(told)
        deviation: Floats = np.sqrt(np.maximum(variance, 0.0))
        return mean - self.daring * deviation

    def _surprises(self, told: Sequence[Told]) -> Floats:
        """Returns by how much each time was off; what did not run is twice as slow as the worst surprise."""
        ran = [log(us) - self.foretold[place] for place, us in told if us is not None]
        worst = max(ran, default=0.0) + log(2)
        return np.array([worst if us is None else log(us) - self.foretold[place] for place, us in told])

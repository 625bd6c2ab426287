"""The study: how fast each arm finds good schedules of operators that it has not seen.

Every family of operators is held out in turn, or every operator alone: models learn from all others. An operator is
worth, after each evaluation, the least time of all its choices over the least that was found, 0 while nothing ran; its
area is the mean of that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from porter.evolve.stream import stream
from porter.learn.arms import Arm, Drawn, InOrder, Learnt, Told
from porter.learn.landscape import Landscape
from porter.learn.schedule_model import trained
from porter.learn.searching import Searched

_TRUST = 0.02  # of 0.005, 0.01, 0.02 and 0.05 it found the best after ten evaluations, on the table of an H100
MakeArm = Callable[[Sequence[Landscape], int], Arm]  # from the landscapes that may be learnt from, and a seed
ARMS: Mapping[str, MakeArm] = {
    "random": lambda _, __: Drawn(),
    "order": lambda _, __: InOrder(),
    "search": lambda _, __: Searched(),
    "kriging": lambda _, __: Searched(in_order=False),
    "learnt": lambda known, seed: Learnt(trained(known, seed)),
    "both": lambda known, seed: Learnt(trained(known, seed), _TRUST),
}
HELD_OUT: Mapping[str, Callable[[Landscape], str]] = {
    "family": lambda landscape: landscape.family,
    "operator": lambda landscape: landscape.name,
}
_RESAMPLES = 2000
_MOST_DUPLICATES = 50  # proposals of what is known already, one after the other, before it counts as an evaluation


@dataclass(frozen=True, slots=True)
class Played:
    """One arm on one operator with one seed: the worth after each evaluation, and proposals that were known already."""

    landscape: str
    family: str
    seed: int
    worths: tuple[float, ...]
    duplicates: int

    @property
    def area(self) -> float:
        """Returns the mean worth over all evaluations."""
        return fmean(self.worths)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean, and between what it lies with 95 % if other operators were drawn."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Study:
    """The outcome of each arm, in the order of the arms."""

    evaluations: int
    seeds: int
    held_out: str
    played: Mapping[str, tuple[Played, ...]]

    def area(self, arm: str, family: str = "") -> Estimate:
        """Returns the area of an arm over all operators, or those of a family."""
        return _estimate(list(self._areas(arm, family).values()))

    def difference(self, arm: str, other: str, family: str = "") -> Estimate:
        """Returns by how much the area of `arm` is above that of `other` on the same operators."""
        ours, theirs = self._areas(arm, family), self._areas(other, family)
        return _estimate([ours[name] - theirs[name] for name in ours])

    def curve(self, arm: str) -> tuple[float, ...]:
        """Returns the mean worth after each evaluation."""
        return tuple(map(fmean, zip(*(one.worths for one in self.played[arm]), strict=True)))

    def seed_areas(self, arm: str) -> tuple[float, ...]:
        """Returns the area over all operators with each seed."""
        return tuple(fmean(one.area for one in self.played[arm] if one.seed == seed) for seed in range(self.seeds))

    def duplicates(self, arm: str) -> float:
        """Returns the share of proposals that were known already."""
        known = sum(one.duplicates for one in self.played[arm])
        return known / (known + sum(len(one.worths) for one in self.played[arm]))

    def families(self) -> tuple[str, ...]:
        """Returns the families, sorted."""
        return tuple(sorted({one.family for played in self.played.values() for one in played}))

    def _areas(self, arm: str, family: str) -> dict[str, float]:
        found: dict[str, list[float]] = {}
        for one in self.played[arm]:
            if not family or one.family == family:
                found.setdefault(one.landscape, []).append(one.area)
        return {name: fmean(areas) for name, areas in found.items()}


def study(
    landscapes: Sequence[Landscape],
    arms: Mapping[str, MakeArm],
    evaluations: int = 10,
    seeds: int = 3,
    *,
    held_out: str = "family",
    progress: Callable[[str], None] = lambda _: None,
) -> Study:
    """Returns what each of `arms` does on every operator, having learnt from none that is `held_out` with it."""
    group_of = HELD_OUT[held_out]
    played: dict[str, list[Played]] = {name: [] for name in arms}
    for group in sorted({group_of(one) for one in landscapes}):
        known = [one for one in landscapes if group_of(one) != group]
        asked = [one for one in landscapes if group_of(one) == group]
        for seed in range(seeds):
            progress(f"{group} held out, seed {seed}")
            for name, make in arms.items():
                played[name] += _played(make(known, seed), asked, evaluations, seed)
    return Study(evaluations, seeds, held_out, {name: tuple(each) for name, each in played.items()})


def _played(arm: Arm, landscapes: Sequence[Landscape], evaluations: int, seed: int) -> Iterator[Played]:
    for one in landscapes:
        told, duplicates = _told(arm, one, min(evaluations, len(one.choices)), seed)
        worths = _worths(one, told)
        rest = (worths[-1],) * (evaluations - len(worths))  # where all choices are tried
        yield Played(one.name, one.family, seed, (*worths, *rest), duplicates)


def _told(arm: Arm, landscape: Landscape, evaluations: int, seed: int) -> tuple[list[Told], int]:
    chooser = arm.begin(landscape, stream(seed, "study", landscape.name))
    told: list[Told] = []
    duplicates = in_a_row = 0
    while len(told) < evaluations:
        place = chooser.chosen(told)
        if in_a_row < _MOST_DUPLICATES and any(place == known for known, _ in told):
            duplicates, in_a_row = duplicates + 1, in_a_row + 1
            continue
        in_a_row = 0
        told.append((place, landscape.choices[place].microseconds))
    return told, duplicates


def _worths(landscape: Landscape, told: Sequence[Told]) -> tuple[float, ...]:
    worths, best = [], float("inf")
    for _, microseconds in told:
        best = min(best, microseconds or float("inf"))
        worths.append(landscape.best_us / best)
    return tuple(worths)


def _estimate(values: Sequence[float]) -> Estimate:
    """Returns the mean of what operators give, with the interval of means of operators drawn from these (bootstrap)."""
    given = np.array(values)
    drawn = np.random.default_rng(0).integers(0, len(given), (_RESAMPLES, len(given)))
    low, high = np.quantile(given[drawn].mean(axis=1), (0.025, 0.975))
    return Estimate(float(given.mean()), float(low), float(high))

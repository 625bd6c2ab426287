"""The built-in model of schedules: trained from nothing on measured times, it says which schedules to try first.

It foretells how much longer a schedule takes than its own transfers would at full bandwidth, from features that name no
operator. What a schedule moves is reckoned, not learnt: so it may rank algorithms of which it has seen none.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log
from pathlib import Path

import numpy as np

from porter.errors import InputError, unwritable
from porter.learn.landscape import Landscape
from porter.learn.records import plain, record
from porter.learn.schedule_features import TRANSFERS, features
from porter.learn.trees import Floats, Forest, Growth, grown
from porter.schedule.description import NestDescription
from porter.schedule.schedule import Schedule
from porter.whole_file import whole_file

FORMAT, VERSION = "porter schedule model", 1
_SLOWEST = 4.0  # times the best: what is slower still, or does not run, is only known to be bad


@dataclass(frozen=True)
class ScheduleModel:
    """A forest over features by name; `about` says what it was trained on."""

    names: tuple[str, ...]
    forest: Forest
    about: Mapping[str, str]
    format: str = FORMAT
    version: int = VERSION

    def slowdowns(self, nest: NestDescription, schedules: Sequence[Schedule]) -> Floats:
        """Returns for each schedule the logarithm of the factor by which it is slower than what must move, as foretold.

        It is right up to a number that is the same for all schedules.
        """
        rows = [features(nest, schedule) for schedule in schedules]
        table = np.array([[row.get(name, 0.0) for name in self.names] for row in rows])
        moved: Floats = np.log(np.array([row[TRANSFERS] for row in rows]))
        return self.forest.predicted(table) + moved

    def ranked(self, nest: NestDescription, schedules: Sequence[Schedule]) -> tuple[Schedule, ...]:
        """Returns the schedules, the one that is foretold to be fastest first; of equals the one that came first."""
        order = np.argsort(self.slowdowns(nest, schedules), kind="stable")
        return tuple(schedules[place] for place in order.tolist())


@dataclass(frozen=True)
class Examples:
    """Rows of features, with the logarithms of slowdowns as targets. Each operator weighs the same."""

    names: tuple[str, ...]
    rows: Floats
    targets: Floats
    weights: Floats


def examples(landscapes: Sequence[Landscape]) -> Examples:
    """Returns what the choices of `landscapes` teach."""
    found = [features(one.nest, trial.schedule) for one in landscapes for trial in one.choices]
    names = tuple(dict.fromkeys(name for row in found for name in row))
    rows = np.array([[row.get(name, 0.0) for name in names] for row in found]).reshape(len(found), len(names))
    targets = np.concatenate([_targets(one) for one in landscapes])
    mean = len(found) / max(1, len(landscapes))
    weights = np.array([mean / len(one.choices) for one in landscapes for _ in one.choices])
    return Examples(names, rows, targets, weights)


def _targets(landscape: Landscape) -> Floats:
    """Returns for each choice how much longer it takes than its own transfers, as a logarithm; bounded above."""
    needed = max(1, landscape.nest.read_bytes + landscape.nest.written_bytes)
    found = []
    for one in landscape.choices:
        moved = needed * features(landscape.nest, one.schedule)[TRANSFERS]
        found.append(np.inf if one.microseconds is None else log(one.microseconds / moved))
    return np.minimum(found, min(found) + log(_SLOWEST))


def trained(
    landscapes: Sequence[Landscape], seed: int = 0, growth: Growth | None = None, about: Mapping[str, str] | None = None
) -> ScheduleModel:
    """Returns a model of `landscapes`; the same ones and the same seed make the same bits.

    Raises `InputError` where there is nothing to learn from.
    """
    if not landscapes:
        raise InputError("no operator has two schedules that ran: there is nothing to learn from")
    given = examples(landscapes)
    forest = grown(given.rows, given.targets - given.targets.mean(), given.weights, growth or Growth(), seed)
    return ScheduleModel(given.names, forest, dict(about or {}))


def save(model: ScheduleModel, file: Path) -> Path:
    """Write `model` as JSON in place of what is there. Raises `InputError` where it cannot be written."""
    try:
        with whole_file(file) as fresh:
            fresh.write_text(json.dumps(plain(model), separators=(",", ":"), allow_nan=False) + "\n", "utf-8")
    except OSError as error:
        raise unwritable(file, error) from error
    return file


def load(file: Path) -> ScheduleModel:
    """Returns the model that `save` wrote. Raises `InputError` for any other file."""
    try:
        document = json.loads(file.read_text("utf-8"))
        if (document.get("format"), document.get("version")) != (FORMAT, VERSION):
            raise ValueError(f"this porter reads {FORMAT} {VERSION}")
        return record(ScheduleModel, document)
    except (OSError, ValueError, AttributeError) as error:
        raise InputError(f"{file}: no model of schedules: {error}", "`porter train schedules` makes one") from error

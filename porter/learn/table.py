"""A table of measured schedules: operators as nests of loops, and how long each schedule took on one device."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite, prod
from pathlib import Path
from typing import Any

from porter.errors import InputError
from porter.learn.records import plain, record
from porter.schedule.description import NestDescription
from porter.schedule.schedule import Algorithm, Schedule

_HINT = "`python -m benchmarks.schedules.table` says how a table is made"


@dataclass(frozen=True, slots=True)
class Trial:
    """A schedule and its time in microseconds; None where it did not run, or gave something else."""

    schedule: Schedule
    microseconds: float | None


@dataclass(frozen=True, slots=True)
class Baselines:
    """The times in microseconds that others take for the operator, None where unknown; `limit_us` is that of memory."""

    eager_us: float | None
    torch_compile_us: float | None
    limit_us: float | None


@dataclass(frozen=True, slots=True)
class MeasuredOperator:
    """An operator whose schedules were measured: those of its largest nest, while other nests kept their first.

    `order` has the places among `trials` of those that porter would try, the first it would try first.
    """

    name: str
    category: str
    nests: tuple[NestDescription, ...]
    trials: tuple[Trial, ...]
    order: tuple[int, ...]
    baselines: Baselines

    @property
    def nest(self) -> NestDescription:
        """Returns the nest whose schedules were varied: the one with most points."""
        return max(self.nests, key=lambda nest: prod((*nest.rows, *nest.columns)))


@dataclass(frozen=True, slots=True)
class Table:
    """Measured operators, and in words on what and how they were measured."""

    about: Mapping[str, str]
    operators: tuple[MeasuredOperator, ...]


def read_table(file: Path) -> Table:
    """Returns the table in `file`. Raises `InputError`, which names the operator, where it holds none."""
    try:
        document = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{file}: cannot be read as JSON: {error}") from error
    if not isinstance(document, dict) or not isinstance(document.get("operators"), list):
        raise InputError(f"{file}: no table of schedules: it has no list 'operators'", _HINT)
    about = {str(name): str(value) for name, value in dict(document.get("about", {})).items()}
    found = []
    for number, row in enumerate(document["operators"]):
        try:
            found.append(_operator(row))
        except (ValueError, KeyError, TypeError, IndexError) as error:
            name = row.get("name", number) if isinstance(row, dict) else number
            raise InputError(f"{file}: operator {name}: no measured schedules: {error!r}", _HINT) from error
    return Table(about, tuple(found))


def _operator(row: Mapping[str, object]) -> MeasuredOperator:
    nests = tuple(record(NestDescription, nest) for nest in _list(row["nests"]))
    trials = tuple(Trial(schedule_of(one["schedule"]), _time(one["microseconds"])) for one in _list(row["schedules"]))
    order = tuple(dict.fromkeys(map(_place, _list(row.get("order", [])))))
    if not nests or not trials or any(not 0 <= place < len(trials) for place in order):
        raise ValueError("it has no nests or no schedules, or an order of others")
    given = row.get("baselines")
    baselines = given if isinstance(given, dict) else {}
    times = (_time(baselines.get(name)) for name in ("eager_us", "torch_compile_us", "limit_us"))
    return MeasuredOperator(str(row["name"]), str(row["category"]), nests, trials, order, Baselines(*times))


def schedule_of(given: object) -> Schedule:
    """Returns a schedule as a table has it; what that does not say is as it is by default. Raises `ValueError`."""
    if not isinstance(given, dict):
        raise ValueError(f"{given!r:.60} is not a schedule")
    default = plain(Schedule(Algorithm(str(given.get("algorithm")))))
    return record(Schedule, {**default, **given})


def _list(value: object) -> list[Any]:
    if not isinstance(value, list):
        raise ValueError(f"{value!r:.60} is not a list")
    return value


def _place(value: object) -> int:
    if not isinstance(value, int):
        raise ValueError(f"{value!r:.60} is not a place of a schedule")
    return value


def _time(value: object) -> float | None:
    if value is None:
        return None
    if not isinstance(value, int | float) or not isfinite(value) or value <= 0:
        raise ValueError(f"{value!r} is not a time in microseconds")
    return float(value)

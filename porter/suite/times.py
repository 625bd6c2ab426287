"""The times in the document of a migration: of a port, over what it was timed beside, and those that are missing."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from porter.suite.result import Time
from porter.writing.document import Json


@dataclass(frozen=True, slots=True)
class Times:
    """The fields that `porter.suite.result.Result` has of times, by the same names."""

    speedups: Mapping[str, float] = field(default_factory=dict)
    time_us: Time | None = None
    times_us: Mapping[str, Time] = field(default_factory=dict)
    timed: str = ""
    share_of_limit: float | None = None
    untimed: tuple[str, ...] = ()


def times_of(document: Mapping[str, Json]) -> Times:
    """Those in `document`."""
    every = document.get("times")
    named = list(_named([time for time in every if isinstance(time, dict)] if isinstance(every, list) else []))
    measured = {name: time for name, time in named if "timing" in time}
    if not measured:
        return Times(untimed=tuple(_untimed(named)))
    times_us = {name: _time(time["timing"]) for name, time in measured.items()}
    return Times(
        speedups=_speedups(list(measured.values())),
        time_us=next(iter(times_us.values())),
        times_us=times_us,
        timed=str(next(iter(measured.values())).get("fidelity", "")),
        share_of_limit=_share_of_limit(list(measured.values())),
        untimed=tuple(_untimed(named)),
    )


def _named(times: Sequence[Mapping[str, Json]]) -> Iterator[tuple[str, Mapping[str, Json]]]:
    """Each with a name of its own: entries of one name are told apart by where they stand."""
    seen: set[str] = set()
    for place, time in enumerate(times, 1):
        name = " at ".join(str(part) for part in (time.get("entry"), time.get("workload")) if part)
        yield name if name not in seen else f"{name} ({place})", time
        seen.add(name)


def _time(timing: Json) -> Time:
    match timing:
        case {"median_us": float() | int() as median, "interval_us": [float() | int() as low, float() | int() as high]}:
            return Time(median, low, high)
    raise ValueError("no timing")


def _baselines(time: Mapping[str, Json]) -> dict[str, float]:
    found = time.get("baselines")
    records = [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
    return {str(one["name"]): float(str(one["speedup"])) for one in records}


def _speedups(measured: Sequence[Mapping[str, Json]]) -> dict[str, float]:
    """The geometric mean over all workloads, of each baseline that every one of them was timed beside."""
    every = [_baselines(time) for time in measured]
    common = [name for name in every[0] if all(name in one for one in every)]
    return {name: round(statistics.geometric_mean([one[name] for one in every]), 5) for name in common}


def _share_of_limit(measured: Sequence[Mapping[str, Json]]) -> float | None:
    """The geometric mean over all workloads."""
    shares = [float(str(time["share_of_limit"])) for time in measured]
    return round(statistics.geometric_mean(shares), 4) if min(shares) > 0 else None


def _untimed(named: Sequence[tuple[str, Mapping[str, Json]]]) -> Iterator[str]:
    """Yields why there is no time of a workload, or none beside it."""
    for name, time in named:
        if "timing" not in time:
            yield f"{name}: {time.get('because', '')}"
            continue
        without = time.get("without")
        yield from (f"{name}: not beside {because}" for because in (without if isinstance(without, list) else ()))

"""The document of `porter migrate --json` as the result of an operator."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from porter.report.document import Json
from porter.suite.operators import Operator
from porter.suite.result import ERROR, Result, Time


def result_of(document: Mapping[str, Json], operator: Operator, digest: str, seconds: float, run: Path) -> Result:
    """What `document` says came of `operator`; its port lies below the folder `run`."""
    times = [time for time in _objects(document.get("times")) if "timing" in time]
    return Result(
        suite=operator.suite,
        category=operator.category,
        name=operator.name,
        digest=digest,
        outcome=str(document.get("outcome", ERROR)),
        because=_because(document).replace(f"{operator.folder}/", ""),
        fidelity=str(document.get("fidelity", "")),
        findings=tuple(sorted({str(finding.get("code")) for finding in _objects(document.get("findings"))})),
        port=_port(document, run),
        seconds=round(seconds, 1),
        speedups=_speedups(times),
        time_us=_time(times),
        timed=str(times[0].get("fidelity", "")) if times else "",
        device=_device(document),
        share_of_limit=_share_of_limit(times),
        factor=_factor(document),
        measure=_measure(document),
        stages=_stages(document),
    )


def _because(document: Mapping[str, Json]) -> str:
    """Of the entry that decided, or of the error that left none."""
    error = document.get("error")
    if isinstance(error, Mapping):
        return str(error.get("message", ""))
    entries = list(_objects(document.get("entries")))
    decided = [entry for entry in entries if entry.get("outcome") == document.get("outcome")] or entries
    return str(decided[0].get("because", "")) if decided else ""


def _port(document: Mapping[str, Json], run: Path) -> str:
    """The first file written is the port; empty where there is none."""
    outputs = document.get("outputs")
    if not isinstance(outputs, Sequence) or isinstance(outputs, str) or not outputs:
        return ""
    return Path(str(outputs[0])).absolute().relative_to(run.absolute()).as_posix()


def _objects(value: Json) -> Iterator[Mapping[str, Json]]:
    if isinstance(value, list):
        yield from (item for item in value if isinstance(item, dict))


def _speedups(times: Sequence[Mapping[str, Json]]) -> dict[str, float]:
    """The geometric mean over all workloads of the speedup over each baseline, by its name."""
    found: dict[str, list[float]] = {}
    for baseline in (one for time in times for one in _objects(time.get("baselines"))):
        found.setdefault(str(baseline["name"]), []).append(float(str(baseline["speedup"])))
    return {name: round(statistics.geometric_mean(values), 5) for name, values in found.items()}


def _time(times: Sequence[Mapping[str, Json]]) -> Time | None:
    match times[0]["timing"] if times else None:
        case {"median_us": float() | int() as median, "interval_us": [float() | int() as low, float() | int() as high]}:
            return Time(median, low, high)
    return None


def _share_of_limit(times: Sequence[Mapping[str, Json]]) -> float | None:
    """The geometric mean over all workloads."""
    shares = [float(str(time["share_of_limit"])) for time in times]
    return round(statistics.geometric_mean(shares), 4) if shares and min(shares) > 0 else None


def _factor(document: Mapping[str, Json]) -> float | None:
    """How much better the port is than the one that its search began with; None where there was none."""
    search = document.get("search")
    factor = search.get("factor") if isinstance(search, Mapping) else None
    return float(factor) if isinstance(factor, int | float) else None


def _measure(document: Mapping[str, Json]) -> str:
    search = document.get("search")
    return str(search.get("measure") or "") if isinstance(search, Mapping) else ""


def _stages(document: Mapping[str, Json]) -> dict[str, float]:
    stages = document.get("stages")
    return {name: round(float(str(s)), 1) for name, s in stages.items()} if isinstance(stages, Mapping) else {}


def _device(document: Mapping[str, Json]) -> str:
    device = document.get("device")
    return str(device.get("device", "")) if isinstance(device, Mapping) else ""

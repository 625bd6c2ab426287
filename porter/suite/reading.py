"""The document of `porter migrate --json` as the result of an operator."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from porter.errors import MachineError
from porter.suite.operators import Operator
from porter.suite.result import ERROR, MACHINE_FAILED, Result
from porter.suite.times import times_of
from porter.writing.document import Json


def result_of(document: Mapping[str, Json], operator: Operator, digest: str, seconds: float, run: Path) -> Result:
    """Returns what `document` says came of `operator`; its port lies below the folder `run`."""
    times = times_of(document)
    return Result(
        suite=operator.suite,
        category=operator.category,
        name=operator.name,
        digest=digest,
        outcome=_outcome(document),
        because=_because(document).replace(f"{operator.folder}/", ""),
        fidelity=str(document.get("fidelity", "")),
        findings=tuple(sorted({str(finding.get("code")) for finding in _objects(document.get("findings"))})),
        port=_port(document, run),
        seconds=round(seconds, 1),
        speedups=times.speedups,
        time_us=times.time_us,
        timed=times.timed,
        device=_device(document),
        share_of_limit=times.share_of_limit,
        factor=_factor(document),
        measure=_measure(document),
        stages=_stages(document),
        times_us=times.times_us,
        untimed=times.untimed,
    )


def _outcome(document: Mapping[str, Json]) -> str:
    """An error that comes with the exit code of `MachineError` is the machine's."""
    error = document.get("error")
    failed = isinstance(error, Mapping) and error.get("exit_code") == MachineError.exit_code
    return MACHINE_FAILED if failed else str(document.get("outcome", ERROR))


def _because(document: Mapping[str, Json]) -> str:
    """Returns what the outcome says of itself, or the error that left none."""
    error = document.get("error")
    return str(error.get("message", "") if isinstance(error, Mapping) else document.get("because", ""))


def _port(document: Mapping[str, Json], run: Path) -> str:
    """The first file written is the port; empty where there is none."""
    outputs = document.get("outputs")
    if not isinstance(outputs, Sequence) or isinstance(outputs, str) or not outputs:
        return ""
    return Path(str(outputs[0])).absolute().relative_to(run.absolute()).as_posix()


def _objects(value: Json) -> Iterator[Mapping[str, Json]]:
    if isinstance(value, list):
        yield from (item for item in value if isinstance(item, dict))


def _factor(document: Mapping[str, Json]) -> float | None:
    """Returns how much better the port is than the one that its search began with; None where there was none."""
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

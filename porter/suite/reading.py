"""The document of `porter migrate --json` as the result of an operator."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from porter.report.document import Json
from porter.suite.operators import Operator
from porter.suite.result import ERROR, Result


def result_of(document: Mapping[str, Json], operator: Operator, digest: str, seconds: float, run: Path) -> Result:
    """What `document` says came of `operator`; its port lies below the folder `run`."""
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
        speedups=dict(_numbers(document.get("speedups"))),
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


def _numbers(value: Json) -> Iterator[tuple[str, float]]:
    if isinstance(value, dict):
        yield from ((name, number) for name, number in value.items() if isinstance(number, (int, float)))

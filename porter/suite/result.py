"""Keeps what came of the operators of a suite on one target: records, written as they come, and read to resume."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path

from porter.errors import InputError
from porter.evaluate.model.outcome import KernelsVerified, Verified
from porter.whole_file import whole_file
from porter.writing.document import Json, as_record, encode_json

# Names in a run's folder: an operator's result, the whole run, and what of the operator the port is checked against.
RESULT, RUN, ORIGINAL = "result.json", "suite.json", "original"
# Outcomes that no port gives: the source could not even be tried, or nothing answered in time.
ERROR, TIMEOUT = "error", "timeout"
# Outcomes that say nothing of the operator: the machine failed, or a run that is about it has no result for it.
MACHINE_FAILED, MISSING = "machine_failed", "missing"
_MAKES_ONE = "`porter suite run SUITE -o RUN` makes one"
_NO_PORT = frozenset(("refused", "not_built", ERROR, TIMEOUT, MACHINE_FAILED, MISSING))


@dataclass(frozen=True, slots=True)
class Time:
    """A median, and between what the true one lies, in microseconds."""

    median: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Result:
    """The result of one operator. `digest` is that of what went in: files, target, version of porter.

    `fidelity` says how it was proven. `speedups` are times of each baseline over the port's, by baseline, and empty
    where nothing was timed; `timed` says by which fidelity, `device` on what. `time_us` is the port's own in the first
    workload that was timed, `times_us` in each, by its name; `untimed` are the times that are missing, and why.
    `share_of_limit` is how much of the time moving the tensors takes. `port` is the ported file,
    relative to the run; one that was searched for is `factor` times as good as the port that began with, by `measure`.
    `stages` are the seconds that each stage of its migration took.
    """

    suite: str
    category: str
    name: str
    digest: str
    outcome: str
    because: str
    fidelity: str
    findings: tuple[str, ...]
    port: str
    seconds: float
    speedups: Mapping[str, float] = field(default_factory=dict)
    time_us: Time | None = None
    device: str = ""
    timed: str = ""
    share_of_limit: float | None = None
    factor: float | None = None
    measure: str = ""
    stages: Mapping[str, float] = field(default_factory=dict)
    times_us: Mapping[str, Time] = field(default_factory=dict)
    untimed: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """That of its operator."""
        return f"{self.suite}/{self.category}/{self.name}"

    @property
    def is_ported(self) -> bool:
        """Returns whether there is a port, right or not."""
        return self.outcome not in _NO_PORT

    @property
    def is_of_machine(self) -> bool:
        """Returns whether it is about the machine and not the operator: the next run tries that again."""
        return self.outcome == MACHINE_FAILED

    @property
    def is_equal(self) -> bool:
        """Returns whether the port, or its kernels alone, were executed and found right."""
        return self.outcome in (Verified.label, KernelsVerified.label)

    @property
    def is_verified(self) -> bool:
        """Returns whether the port was executed and found right."""
        return self.outcome == Verified.label


@dataclass(frozen=True, slots=True)
class SuiteResult:
    """A run over `operators`, named by their keys, by the version `porter`; one that was stopped lacks results."""

    target: str
    arch: str
    porter: str
    results: tuple[Result, ...]
    operators: tuple[str, ...] = ()

    @property
    def missing(self) -> tuple[Result, ...]:
        """For each operator without a result one that says so."""
        there = {one.key for one in self.results}
        return tuple(missing_result(key) for key in self.operators if key not in there)

    @property
    def devices(self) -> tuple[str, ...]:
        """Those that timed a port, each once."""
        return tuple(dict.fromkeys(one.device for one in self.results if one.device))


def result_document(result: SuiteResult) -> dict[str, Json]:
    """The run as it is written to `suite.json`."""
    return as_record(result)


def write_run(folder: Path, result: SuiteResult) -> Path:
    """`result` in `folder`, from which it can be resumed, reported and replayed."""
    return _write(folder / RUN, result_document(result))


def write_result(folder: Path, result: Result) -> None:
    """One operator's `result` in its own folder."""
    _write(folder / RESULT, as_record(result))


def read_run(path: Path) -> SuiteResult:
    """The run in `path`, its folder or its file. Raises `InputError` for what is no run of a suite."""
    file = path / RUN if path.is_dir() else path
    document = _read(file)
    try:
        results = tuple(_result(record) for record in _records(document["results"]))
        named = {name: str(document[name]) for name in ("target", "arch", "porter")}
        operators = tuple(map(str, _records(document.get("operators", []))))
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{file}: is not a run of a suite", _MAKES_ONE) from error
    return SuiteResult(**named, results=results, operators=operators or tuple(one.key for one in results))


def missing_result(key: str) -> Result:
    """Returns what stands for the operator `key` in a run that has no result for it."""
    suite, category, name = key.split("/")
    return Result(suite, category, name, "", MISSING, "the run has no result for it", "", (), "", 0.0)


def read_result(folder: Path) -> Result | None:
    """Returns what an earlier run left in the operator's `folder`; None where it left nothing whole."""
    try:
        return _result(_read(folder / RESULT))
    except (InputError, KeyError, TypeError, ValueError):
        return None


def _records(value: Json) -> Iterable[Mapping[str, Json]]:
    if not isinstance(value, list):
        raise TypeError("not a list")
    return value


def _result(record: Mapping[str, Json]) -> Result:
    names = {f.name for f in fields(Result)}
    if unknown := record.keys() - names:
        raise ValueError(f"unknown: {sorted(unknown)}")
    given = dict(record)
    lists = {name: tuple(_records(given.pop(name, []))) for name in ("findings", "untimed")}
    time, times = given.pop("time_us"), given.pop("times_us", {})
    if not isinstance(given["speedups"], dict) or not isinstance(time, dict | None) or not isinstance(times, dict):
        raise TypeError("speedups, time_us and times_us")
    time_us, times_us = None if time is None else Time(**time), {name: Time(**one) for name, one in times.items()}
    return Result(time_us=time_us, times_us=times_us, **lists, **given)  # type: ignore[arg-type]


def _read(file: Path) -> dict[str, Json]:
    try:
        document = json.loads(file.read_text("utf-8"))
    except OSError as error:
        raise InputError(f"{file}: {error.strerror}", _MAKES_ONE) from error
    except ValueError as error:
        raise InputError(f"{file}: is not JSON: {error}", _MAKES_ONE) from error
    if not isinstance(document, dict):
        raise InputError(f"{file}: is not a JSON object")
    return document


def _write(path: Path, document: Mapping[str, Json]) -> Path:
    """Whole or not at all: who stops a run finds what was done."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as fresh:
        fresh.write_text(encode_json(document), "utf-8")
    return path

"""A suite brought up: operators migrated by processes of their own, several at once, each result kept as it comes."""

from __future__ import annotations

import hashlib
import os
import shutil
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from porter import __version__
from porter.errors import PorterError, UsageError
from porter.suite.children import Children
from porter.suite.lock import locked
from porter.suite.operators import Operator
from porter.suite.reading import result_of
from porter.suite.result import ORIGINAL, RUN, Result, SuiteResult, read_result, read_run, write_result, write_run
from porter.suite.selection import digest_of

_SEARCH = "kernel.{}.search"
# Of what an operator may take: the rest is for a search and for times, else for starting and for writing what came.
_PROVING, _PROVING_ALONE = 0.6, 0.9
# Of 20 operators that begin at once on 16 cores none was at the device in the first 37 s, where each then needs it for
# about 2 s (kernelbench, H200).
_APART_S = 1.0


class Watcher(Protocol):
    """Hears how a run gets on; `begins` is called by several threads."""

    def begins(self, operator: Operator) -> None:
        """The operator is migrated from now on."""

    def ends(self, result: Result, left: int) -> None:
        """This came of an operator, and `left` are still to come."""


@dataclass(frozen=True, slots=True)
class SuiteOptions:
    """The options of a run: `jobs` operators at once, each within `limit_s` of wall time, kept in `folder`.

    `fresh` runs again what an earlier run in `folder` has a result for; `failed_first` begins with those operators that
    fell short in it. Each port is searched for `rounds` for a better
    one, at most for `seconds`, and no longer than `patience` rounds without any; a search that was cut goes on.
    Ports `follow` what is named, and what the target says where nothing is; they are `timed` where there is a device.
    `models` are the words of a command line that name the models
    which are asked for ports that porter does not have, and in a search. Candidates of searches are evaluated by the
    servers at the URLs `evaluators`, here where there are none.
    """

    target: str
    folder: Path
    arch: str = ""
    jobs: int = 1
    limit_s: float = 600.0
    fresh: bool = False
    rounds: int = 0
    seconds: float | None = None
    patience: int | None = None
    follow: str = ""
    timed: bool = False
    failed_first: bool = False
    models: tuple[str, ...] = ()
    evaluators: tuple[str, ...] = ()

    @property
    def words(self) -> tuple[str, ...]:
        """Returns how `porter migrate` is told of it, and of what ports follow."""
        told = (*(("--follow", self.follow) if self.follow else ()), "--jobs", "1")
        if not self.rounds:
            return told
        seconds = () if self.seconds is None else ("--seconds", str(self.seconds))
        patience = () if self.patience is None else ("--patience", str(self.patience))
        again = ("--resume", *seconds, *patience)
        return (*told, "--rounds", str(self.rounds), *again)


def run_suite(operators: Sequence[Operator], options: SuiteOptions, watcher: Watcher) -> SuiteResult:
    """Runs what `options.folder` has no result for, and tells the watcher.

    Nothing that happens to one operator ends the run. It may be stopped at any time: begun again it goes on. Results of
    other operators that the folder has stay in its list. What the machine failed at is told, and not kept.
    Raises `UsageError` where the folder is in use, or holds a run for another arch.
    """
    with locked(options.folder):
        return _run(operators, options, watcher, _earlier(options))


def _run(operators: Sequence[Operator], options: SuiteOptions, watcher: Watcher, earlier: SuiteResult) -> SuiteResult:
    done: dict[str, Result] = {}
    missing = []
    for operator in operators:
        kept = None if options.fresh else read_result(options.folder / operator.key)
        if kept is not None and kept.digest == _digest(operator, options):
            done[operator.key] = kept
        else:
            missing.append(operator)
    together = max(1, len(os.sched_getaffinity(0)) // 2)
    children = Children(options.jobs, options.limit_s, together, _APART_S if options.timed else 0.0)

    def bring_up(operator: Operator) -> Result:
        watcher.begins(operator)
        return _brought_up(operator, options, children)

    for result in children.each(in_order(missing, earlier, options), bring_up):
        done[result.key] = result
        if not result.is_of_machine:
            write_result(options.folder / result.key, result)
            write_run(options.folder, _merged(earlier, _so_far(operators, done, options)))
        watcher.ends(result, len(operators) - len(done))
    finished = _so_far(operators, done, options)
    write_run(options.folder, _merged(earlier, finished))
    return finished


def _earlier(options: SuiteOptions) -> SuiteResult:
    """Returns the run that the folder holds, with the results that are still there; an empty one where it has none."""
    if not (options.folder / RUN).exists():
        return SuiteResult(options.target, options.arch, __version__, ())
    earlier = read_run(options.folder)
    if earlier.arch != options.arch:
        raise UsageError(f"{options.folder} holds a run for {earlier.arch}", "name another folder with --out")
    kept = tuple(one for one in earlier.results if read_result(options.folder / one.key) is not None)
    return replace(earlier, results=kept)


def _merged(earlier: SuiteResult, now: SuiteResult) -> SuiteResult:
    """Returns `now` with what it has nothing about from `earlier`, in the order of the operators' keys."""
    results = {one.key: one for one in (*earlier.results, *now.results) if not one.is_of_machine}
    operators = tuple(sorted({*earlier.operators, *now.operators}))
    return replace(now, results=tuple(results[key] for key in operators if key in results), operators=operators)


def in_order(missing: Sequence[Operator], earlier: SuiteResult, options: SuiteOptions) -> list[Operator]:
    """Returns those that take longest first, before them, where that is asked for, what fell short in `earlier`."""
    short = {one.key for one in earlier.results if not one.is_verified} if options.failed_first else set()
    return sorted(missing, key=lambda operator: (operator.key in short, _turns(operator)), reverse=True)


def _turns(operator: Operator) -> int:
    """Returns how often it is built, executed and timed, by which those that take longest come first."""
    with suppress(PorterError):  # which its migration tells
        return sum(len(contract.workloads) for contract in operator.contracts())
    return 0


def _so_far(operators: Sequence[Operator], done: Mapping[str, Result], options: SuiteOptions) -> SuiteResult:
    """Returns what a report can be made of, at any time."""
    results = tuple(done[operator.key] for operator in operators if operator.key in done)
    return SuiteResult(options.target, options.arch, __version__, results, tuple(one.key for one in operators))


def _brought_up(operator: Operator, options: SuiteOptions, children: Children) -> Result:
    """The operator migrated into its folder of the run, with what the port was checked against beside it."""
    begin = time.monotonic()
    folder = options.folder / operator.key
    part = _PROVING if options.rounds or options.timed else _PROVING_ALONE
    limit = ("--limit", str(max(part * options.limit_s, 1.0)))
    contract = () if operator.module else ("--contract", str(operator.contract))
    has_reference = not operator.module and operator.reference.is_file()
    reference = ("--reference", str(operator.reference)) if has_reference else ()
    if options.fresh or not options.rounds:
        shutil.rmtree(folder / _SEARCH.format(options.target), ignore_errors=True)
    document = children.ask(
        *("porter", "migrate", str(operator.source), *contract, *limit, "-o", str(folder)),
        *(
            "--target",
            options.target,
            "--arch",
            options.arch,
            *reference,
            *options.words,
            *options.models,
            *(word for url in options.evaluators for word in ("--evaluator", url)),
            "--json",
            "--force",
        ),
    )
    result = result_of(document, operator, _digest(operator, options), time.monotonic() - begin, options.folder)
    if not result.is_of_machine:
        shutil.rmtree(folder / ORIGINAL, ignore_errors=True)
        for file in operator.files:
            kept = folder / ORIGINAL / file.relative_to(operator.folder)
            kept.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, kept)
    return result


def _digest(operator: Operator, options: SuiteOptions) -> str:
    parts = (digest_of(operator), options.target, options.arch, __version__, *options.words, *options.models)
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()

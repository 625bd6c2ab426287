"""A suite brought up: operators migrated by processes of their own, several at once, each result kept as it comes."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from signal import SIGKILL

from porter import __version__
from porter.report.document import Json
from porter.suite.operators import Operator
from porter.suite.reading import result_of
from porter.suite.result import ERROR, ORIGINAL, TIMEOUT, Result, SuiteResult, read_result, write_result, write_run
from porter.suite.selection import digest_of

Told = Callable[[Result, int], None]


@dataclass(frozen=True, slots=True)
class SuiteOptions:
    """What a run is to do: `jobs` operators at once, each within `limit_s` of wall time, kept in `folder`.

    `fresh` runs again what an earlier run in `folder` has a result for.
    """

    target: str
    folder: Path
    arch: str = ""
    jobs: int = 1
    limit_s: float = 600.0
    fresh: bool = False


def run_suite(operators: Sequence[Operator], options: SuiteOptions, told: Told) -> SuiteResult:
    """Run what `options.folder` has no result for; `told` gets each result and how many are still to come.

    Nothing that happens to one operator ends the run. It may be stopped at any time: begun again it goes on.
    """
    runner = _Runner(options)
    done: dict[str, Result] = {}
    try:
        for result in runner.results(operators):
            done[result.key] = result
            told(result, len(operators) - len(done))
    finally:
        runner.stop()
    finished = SuiteResult(
        options.target, options.arch, __version__, runner.device, tuple(done[o.key] for o in operators)
    )
    write_run(options.folder, finished)
    return finished


@dataclass
class _Runner:
    """The processes under way."""

    options: SuiteOptions
    running: dict[str, subprocess.Popen[str]] = field(default_factory=dict)
    device: str = ""
    stopped: bool = False

    def results(self, operators: Sequence[Operator]) -> Iterator[Result]:
        """Those that an earlier run left first, the others as they come."""
        missing = []
        for operator in operators:
            kept = None if self.options.fresh else read_result(self._folder(operator))
            if kept is not None and kept.digest == self._digest(operator):
                yield kept
            else:
                missing.append(operator)
        with ThreadPoolExecutor(self.options.jobs) as pool:
            waiting: set[Future[Result]] = {pool.submit(self._result, operator) for operator in missing}
            while waiting:
                ended, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                yield from (future.result() for future in ended)

    def stop(self) -> None:
        """End what is under way, whole process groups at once, and begin nothing more."""
        self.stopped = True
        for process in list(self.running.values()):
            _kill(process)

    def _result(self, operator: Operator) -> Result:
        begin = time.monotonic()
        document = self._migrated(operator) if not self.stopped else _error(ERROR, "the run was stopped")
        seconds = time.monotonic() - begin
        result = result_of(document, operator, self._digest(operator), seconds, self.options.folder)
        if not self.stopped:
            _keep_original(operator, self._folder(operator) / ORIGINAL)
            write_result(self._folder(operator), result)
        return result

    def _migrated(self, operator: Operator) -> dict[str, Json]:
        """What `porter migrate --json` says of the operator."""
        process = subprocess.Popen(
            self._command(operator), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
        )
        self.running[operator.key] = process
        try:
            stdout, stderr = process.communicate(timeout=self.options.limit_s)
        except subprocess.TimeoutExpired:
            return _error(TIMEOUT, f"no answer in {self.options.limit_s:.0f} s")
        finally:
            _kill(process)
            del self.running[operator.key]
        try:
            document = json.loads(stdout)
        except ValueError:
            return _error(
                ERROR, (stderr.strip().splitlines() or [f"ended with {process.returncode}, without a word"])[-1]
            )
        return document if isinstance(document, dict) else _error(ERROR, "its document is no object")

    def _command(self, operator: Operator) -> list[str]:
        options = self.options
        return [
            *(sys.executable, "-m", "porter", "migrate", str(operator.kernel), "--json", "--force"),
            *("--target", options.target, "--contract", str(operator.contract), "-o", str(self._folder(operator))),
            *(("--arch", options.arch) if options.arch else ()),
        ]

    def _folder(self, operator: Operator) -> Path:
        return self.options.folder / operator.key

    def _digest(self, operator: Operator) -> str:
        parts = (digest_of(operator), self.options.target, self.options.arch, __version__)
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _keep_original(operator: Operator, folder: Path) -> None:
    """What the port is held to, beside it: a run can be replayed wherever it is taken."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(operator.folder, folder, ignore=shutil.ignore_patterns("__pycache__", ".*"))


def _kill(process: subprocess.Popen[str]) -> None:
    """The process and all it started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, SIGKILL)
    process.wait()


def _error(outcome: str, message: str) -> dict[str, Json]:
    return {"outcome": outcome, "error": {"message": message}}

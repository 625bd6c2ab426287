"""Processes of porter that each answer with one JSON document, several at once, all gone when their user is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import dataclass, field
from signal import SIGKILL
from typing import TypeVar

from porter.errors import FELL_SHORT, MachineError
from porter.suite.result import ERROR, TIMEOUT
from porter.writing.document import Json

Work = TypeVar("Work")
Done = TypeVar("Done")


@dataclass
class Children:
    """`jobs` processes at once, each within `limit_s` of wall time."""

    jobs: int
    limit_s: float
    running: set[subprocess.Popen[str]] = field(default_factory=set)
    stopped: bool = False

    def each(self, work: Sequence[Work], do: Callable[[Work], Done]) -> Iterator[Done]:
        """Yields what `do`, which asks, gives for each, as it comes. Whoever stops listening ends all that is under
        way.
        """
        pool = ThreadPoolExecutor(self.jobs)
        try:
            for future in as_completed([pool.submit(do, one) for one in work]):
                yield future.result()
        finally:
            self.stopped = True
            for process in list(self.running):
                _kill(process)
            pool.shutdown(cancel_futures=True)

    def ask(self, *arguments: str) -> dict[str, Json]:
        """The document that `python -m ARGUMENTS` prints; one that names the error where it prints none."""
        if self.stopped:
            return _failed(ERROR, "the run was stopped")
        process = subprocess.Popen(
            (sys.executable, "-m", *arguments),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.running.add(process)
        try:
            stdout, stderr = process.communicate(timeout=self.limit_s)
        except subprocess.TimeoutExpired:
            return _failed(TIMEOUT, f"no answer in {self.limit_s:.0f} s")
        finally:
            _kill(process)
            self.running.discard(process)
        if process.returncode == -SIGKILL:  # it kills no process of porter's own: the machine ran out of memory
            return _failed(ERROR, "killed: most likely the machine ran out of memory", MachineError.exit_code)
        return _document(stdout) or _failed(
            ERROR, _last(stderr) or f"ended with exit code {process.returncode} and no message"
        )


def _document(text: str) -> dict[str, Json] | None:
    try:
        document = json.loads(text)
    except ValueError:
        return None
    return document if isinstance(document, dict) else None


def _last(text: str) -> str:
    return text.strip().rpartition("\n")[2]


def _failed(outcome: str, message: str, exit_code: int = FELL_SHORT) -> dict[str, Json]:
    return {"outcome": outcome, "error": {"message": message, "exit_code": exit_code}}


def _kill(process: subprocess.Popen[str]) -> None:
    """The process and all it started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, SIGKILL)
    process.wait()

"""Processes of porter that each answer with one JSON document, several at once, all gone when their user is."""

from __future__ import annotations

import json
import os
import select
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from signal import SIGKILL
from threading import Event
from typing import IO, TypeVar

from porter.errors import FELL_SHORT, MachineError
from porter.suite.result import ERROR, TIMEOUT
from porter.worker.forking import Forked, fork_server
from porter.writing.document import Json

Work = TypeVar("Work")
Done = TypeVar("Done")

_COMMANDS = "porter.suite.commands"
_END_S = 5.0  # what a process may take to end that was killed, or has closed its output
_AT_ONCE = 1 << 16


@dataclass
class Children:
    """`jobs` processes at once, each within `limit_s` of wall time.

    The first `together` begin at once, each of the other first `jobs` begins `apart_s` after the one before: where they
    meet at a device, those in front have been there before the others come.
    """

    jobs: int
    limit_s: float
    together: int = 1
    apart_s: float = 0.0
    running: set[Forked] = field(default_factory=set)
    stopped: Event = field(default_factory=Event)

    def each(self, work: Sequence[Work], do: Callable[[Work], Done]) -> Iterator[Done]:
        """Yields what `do`, which asks, gives for each, as it comes. Whoever stops listening ends all that is under
        way.
        """
        pool = ThreadPoolExecutor(self.jobs)
        try:
            for future in as_completed([pool.submit(self._done, number, one, do) for number, one in enumerate(work)]):
                yield future.result()
        finally:
            self.stopped.set()
            for process in list(self.running):
                _kill(process)
            pool.shutdown(cancel_futures=True)

    def _done(self, number: int, one: Work, do: Callable[[Work], Done]) -> Done:
        """Does the work with that `number` when it is to begin. Raises `CancelledError` where all was stopped."""
        late = number - self.together + 1
        if late > 0 and number < self.jobs and self.stopped.wait(late * self.apart_s):
            raise CancelledError
        return do(one)

    def ask(self, *arguments: str) -> dict[str, Json]:
        """The document that `python -m ARGUMENTS` prints; one that names the error where it prints none."""
        if self.stopped.is_set():
            return _failed(ERROR, "the run was stopped")
        with tempfile.TemporaryFile() as log:
            process = fork_server(_COMMANDS, {}).fork(arguments, Path.cwd(), log, os.environ)
            self.running.add(process)
            try:
                told = _said(process, self.limit_s)
                code = None if told is None else process.wait(_END_S)
            finally:
                self.running.discard(process)
                _kill(process)
                process.wait(_END_S)
            log.seek(0)
            complaint = _last(log.read().decode("utf-8", "replace"))
        if told is None:
            return _failed(TIMEOUT, f"no answer in {self.limit_s:.0f} s")
        if code == -SIGKILL:  # it kills no process of porter's own: the machine ran out of memory
            return _failed(ERROR, "killed: most likely the machine ran out of memory", MachineError.exit_code)
        return _document(told) or _failed(ERROR, complaint or f"ended with exit code {code} and no message")


def _said(process: Forked, limit_s: float) -> str | None:
    """Returns what a process writes until it closes its output; None where it does not within `limit_s`."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.close()
    deadline, parts = time.monotonic() + limit_s, list[bytes]()
    with process.stdout as output:
        while (part := _part(output, deadline)) is not None:
            if not part:
                return b"".join(parts).decode("utf-8", "replace")
            parts.append(part)
    return None


def _part(output: IO[bytes], deadline: float) -> bytes | None:
    """Returns the next bytes, none at the end; None where there are none before `deadline`."""
    ready, _, _ = select.select([output], [], [], max(deadline - time.monotonic(), 0.0))
    return os.read(output.fileno(), _AT_ONCE) if ready else None


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


def _kill(process: Forked) -> None:
    """Kills the process and all it started; whoever asked it waits for its end."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, SIGKILL)

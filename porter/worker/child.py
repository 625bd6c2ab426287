"""A process that answers frames: alone in its group, held to processor time and memory for each question."""

from __future__ import annotations

import math
import os
import resource
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TypeVar

from porter.simt.job import FaultKind, Limits
from porter.worker.frames import read_frame, write_frame

_START_S = 120.0  # importing torch and triton takes two seconds on an idle machine
_TICKS = os.sysconf("SC_CLK_TCK")
_DEADLY = {
    signal.SIGXCPU: (FaultKind.TIMEOUT, "the time limit is reached"),
    signal.SIGKILL: (FaultKind.RESOURCE, "killed: most likely the machine ran out of memory"),
}
_Answer = TypeVar("_Answer")


@dataclass(frozen=True, slots=True)
class Death:
    """Why a process gave no answer."""

    kind: FaultKind
    message: str


class Child:
    """`python -m MODULE argument` in the folder `work`, which gets its log, with `environment` besides the usual."""

    def __init__(
        self, module: str, argument: str, work: Path, limits: Limits, environment: Mapping[str, str] | None = None
    ) -> None:
        self._limits = limits
        self._log = work / "stderr"
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-m", module, argument],
                cwd=work,
                env={**_environment(work), **(environment or {})},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                start_new_session=True,
            )
        self._late = threading.Event()

    def begin(self) -> Death | None:
        """Waits until it is ready; its limits count from here."""
        if self._guarded(_START_S, lambda: read_frame(self._replies)) is None:
            return self._death()
        pid = self._process.pid
        _limit(pid, resource.RLIMIT_AS, _mapped_bytes(pid) + self._limits.memory_bytes)
        _limit(pid, resource.RLIMIT_FSIZE, self._limits.file_bytes)
        _limit(pid, resource.RLIMIT_CORE, 0)
        return None

    def ask(self, question: bytes, parts: int) -> tuple[bytes, ...] | Death:
        """The `parts` frames of its answer. After a `Death` it is gone."""
        allowed = math.ceil(self.cpu_s() + self._limits.cpu_s)
        _limit(self._process.pid, resource.RLIMIT_CPU, allowed)
        answer = self._guarded(self._limits.wall_s, lambda: self._exchange(question, parts))
        return self._death() if answer is None else answer

    def cpu_s(self) -> float:
        """The processor time it has used so far."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text("utf-8").rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS

    def end(self) -> None:
        """Kills its group; its id is not given to anyone else before it is reaped here."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()

    def said(self) -> str:
        """The end of what it wrote to its log."""
        return self._log.read_text("utf-8", "replace")[-2000:].strip()

    @property
    def _replies(self) -> IO[bytes]:
        assert self._process.stdout is not None
        return self._process.stdout

    def _exchange(self, question: bytes, parts: int) -> tuple[bytes, ...] | None:
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            write_frame(self._process.stdin, question)
        answer = [read_frame(self._replies, self._limits.memory_bytes) for _ in range(parts)]
        whole = [part for part in answer if part is not None]
        return tuple(whole) if len(whole) == parts else None

    def _guarded(self, wall_s: float, wait: Callable[[], _Answer]) -> _Answer:
        """`wait()`, which ends when the process does: that happens after `wall_s` at the latest."""
        clock = threading.Timer(wall_s, self._end_late)
        clock.start()
        try:
            return wait()
        finally:
            clock.cancel()
            clock.join()

    def _end_late(self) -> None:
        self._late.set()
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def _death(self) -> Death:
        # It closed its pipe, but may not have ended yet.
        os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOWAIT)
        self.end()
        code = self._process.returncode
        if self._late.is_set():
            return Death(FaultKind.TIMEOUT, "the time limit is reached, most of it by waiting")
        if code < 0:
            name = signal.strsignal(-code) or f"signal {-code}"
            return Death(*_DEADLY.get(signal.Signals(-code), (FaultKind.CRASH, name)))
        return Death(FaultKind.CRASH, f"it ended with status {code}: {self.said()}")


def _environment(work: Path) -> dict[str, str]:
    """What a child sees of the machine. Threads and hashes would make runs differ."""
    folder = str(work)
    return {
        **{"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "TZ": "UTC", "HOME": folder, "TMPDIR": folder},
        **{"OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"},
    }


def _limit(pid: int, what: int, amount: int) -> None:
    """The soft limit; the process may end between two questions, of which the next one tells."""
    with suppress(ProcessLookupError):
        _, hard = resource.prlimit(pid, what)
        bounded = amount if hard == resource.RLIM_INFINITY else min(amount, hard)
        resource.prlimit(pid, what, (bounded, hard))


def _mapped_bytes(pid: int) -> int:
    pages = Path(f"/proc/{pid}/statm").read_text("utf-8").split()[0]
    return int(pages) * resource.getpagesize()

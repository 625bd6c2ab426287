"""A process that answers frames: alone in its group, held to processor time and memory for each question."""

from __future__ import annotations

import math
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TypeVar

from porter.simt.job import FaultKind, Limits
from porter.worker.frames import read_frame, write_frame

_START_S = 120.0  # importing torch and triton takes two seconds on an idle machine
_LOOK_S = 0.05  # how often resident memory is looked at
_TICKS = os.sysconf("SC_CLK_TCK")
_MAPPED, _RESIDENT = 0, 1  # fields of statm
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
    """`python -m MODULE arguments` in the folder `work`, which gets its log, with `environment` besides the usual.

    With `resident` its memory is watched, not its address space, of which the driver of a device reserves terabytes.
    """

    def __init__(
        self,
        module: str,
        arguments: Sequence[str],
        work: Path,
        limits: Limits,
        environment: Mapping[str, str] | None = None,
        *,
        resident: bool = False,
    ) -> None:
        self._limits = limits
        self._resident_limit = math.inf if resident else None
        self._log = work / "stderr"
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-m", module, *arguments],
                cwd=work,
                env={**_environment(work), **(environment or {})},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                start_new_session=True,
            )
        self._death_by: Death | None = None
        self.greeting = b""

    def begin(self) -> Death | None:
        """Waits until it is ready, which it says with its `greeting`; its limits count from here."""
        greeting = self._guarded(_START_S, lambda: read_frame(self._replies))
        if greeting is None:
            return self._death()
        self.greeting = greeting
        pid = self._process.pid
        if self._resident_limit is None:
            _limit(pid, resource.RLIMIT_AS, _memory_bytes(pid, _MAPPED) + self._limits.memory_bytes)
        else:
            self._resident_limit = _memory_bytes(pid, _RESIDENT) + self._limits.memory_bytes
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
        done = threading.Event()
        watch = threading.Thread(target=self._watch, args=(time.monotonic() + wall_s, done))
        watch.start()
        try:
            return wait()
        finally:
            done.set()
            watch.join()

    def _watch(self, deadline: float, done: threading.Event) -> None:
        """Kills the group when it is late, or holds too much memory, unless it is `done` before."""
        while not done.wait(max(0.0, deadline - time.monotonic()) if self._resident_limit is None else _LOOK_S):
            if time.monotonic() >= deadline:
                self._death_by = Death(FaultKind.TIMEOUT, "the time limit is reached, most of it by waiting")
            elif self._resident_limit is not None and self._holds_too_much():
                self._death_by = Death(FaultKind.RESOURCE, "it holds more memory than it may")
            else:
                continue
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            return

    def _holds_too_much(self) -> bool:
        limit = self._resident_limit
        with suppress(OSError, IndexError):  # it ended meanwhile
            return limit is not None and _memory_bytes(self._process.pid, _RESIDENT) > limit
        return False

    def _death(self) -> Death:
        # It closed its pipe, but may not have ended yet.
        os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOWAIT)
        self.end()
        code = self._process.returncode
        if self._death_by is not None:
            return self._death_by
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


def _memory_bytes(pid: int, what: int) -> int:
    pages = Path(f"/proc/{pid}/statm").read_text("utf-8").split()[what]
    return int(pages) * resource.getpagesize()

"""A process that answers frames: alone in its group, held to processor time and memory for each question."""

from __future__ import annotations

import math
import os
import resource
import secrets
import select
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from porter.execution.job import FaultKind, Limits
from porter.measure.deadline import unbroken
from porter.worker.environment import environment_of
from porter.worker.forking import Forked, fork_server
from porter.worker.frames import SEAL_BYTES, read_frame, write_frame
from porter.worker.python_start import last_words, python_command

_START_S = 120.0  # importing torch and triton takes two seconds on an idle machine
_END_S = 10.0  # what a process may take to end once it has closed its pipe: a core of gigabytes is given back
_LOOK_S = 0.05  # how often resident memory is looked at
_PROCESSOR_TIME = 2  # with the id of a process its clock, as the C library makes it; /proc takes 20 times as long
_MOST_AT_ONCE = 1 << 20  # that is read of a pipe
_MAPPED, _RESIDENT = 0, 1  # fields of statm
_DEADLY = {
    signal.SIGXCPU: (FaultKind.TIMEOUT, "the time limit is reached"),
    signal.SIGKILL: (FaultKind.RESOURCE, "killed: most likely the machine ran out of memory"),
}


@dataclass(frozen=True, slots=True)
class Death:
    """The reason why a process gave no answer."""

    kind: FaultKind
    message: str


class Child:
    """`python -m MODULE arguments` in the folder `work`, which gets its log, with `environment` besides the usual.

    With `resident` its memory is watched, not its address space, of which the driver of a device reserves terabytes.
    One that is `forked` comes of the fork server of its module, which has imported all it needs. What a `sealed` one
    answers begins with a word that came with the question, before any code of a candidate was called: without it, it
    is forged.
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
        forked: bool = False,
        sealed: bool = False,
    ) -> None:
        self._limits = limits
        self._sealed = sealed
        self._resident_limit = math.inf if resident else None
        self._log = work / "stderr"
        self._process: subprocess.Popen[bytes] | Forked
        with self._log.open("wb") as log:
            server = fork_server(module, environment or {}) if forked else None
            with unbroken():
                if server is not None:
                    self._process = server.fork(arguments, work, log, environment_of(work))
                else:
                    self._process = _started(module, arguments, work, log, environment or {})
        self._death_by: Death | None = None
        self._deadline = math.inf
        self._pipe = _Pipe(self._process, self._look, _LOOK_S if resident else None)
        self.greeting = b""

    def begin(self) -> Death | None:
        """Waits until it is ready, which it says with its `greeting`; its limits count from here."""
        self._deadline = time.monotonic() + _START_S
        with self._ended_if_broken_off():
            greeting = read_frame(self._pipe)
        if greeting is None:
            return self._with_last_words(self._death())
        self.greeting = greeting
        pid = self._process.pid
        if self._resident_limit is None:
            _limit(pid, resource.RLIMIT_AS, _memory_bytes(pid, _MAPPED) + self._limits.memory_bytes)
        else:
            self._resident_limit = _memory_bytes(pid, _RESIDENT) + self._limits.memory_bytes
        _limit(pid, resource.RLIMIT_FSIZE, self._limits.file_bytes)
        _limit(pid, resource.RLIMIT_CORE, 0)
        return None

    def ask(self, question: bytes, parts: int, tasks: int = 1) -> tuple[bytes, ...] | Death:
        """The `parts` frames of its answer; it may take the limits for each of the `tasks` asked. After a `Death` it is
        gone, and so it is where waiting for the answer is broken off: the next question would be given that one.
        """
        allowed = math.ceil(self.cpu_s() + tasks * self._limits.cpu_s)
        _limit(self._process.pid, resource.RLIMIT_CPU, allowed)
        self._deadline = time.monotonic() + tasks * self._limits.wall_s
        with self._ended_if_broken_off():
            answer = self._exchange(question, parts)
        return self._death() if answer is None else answer

    @property
    def pid(self) -> int:
        """Returns the id of the process."""
        return self._process.pid

    def cpu_s(self) -> float:
        """The processor time it has used so far."""
        return time.clock_gettime(~self._process.pid << 3 | _PROCESSOR_TIME)

    def end(self) -> None:
        """Kills its group; its id is not given to anyone else before it is reaped here."""
        with unbroken():
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            for pipe in (self._process.stdin, self._process.stdout):
                if pipe is not None:
                    with suppress(OSError):
                        pipe.close()

    def said(self) -> str:
        """The last lines of what it wrote to its log."""
        return last_words(self._log.read_text("utf-8", "replace"))

    @contextmanager
    def _ended_if_broken_off(self) -> Iterator[None]:
        try:
            yield
        except BaseException:
            self.end()
            raise

    def _exchange(self, question: bytes, parts: int) -> tuple[bytes, ...] | None:
        seal = secrets.token_bytes(SEAL_BYTES) if self._sealed else b""
        with suppress(BrokenPipeError):
            write_frame(self._pipe, seal + question)
        whole: list[bytes] = []
        room = self._limits.memory_bytes
        while len(whole) < parts and (part := read_frame(self._pipe, room)) is not None:
            room -= len(part)
            if not part.startswith(seal):
                self._death_by = Death(FaultKind.FORGED, "its answer was not written by porter's own code")
                return None
            whole.append(part.removeprefix(seal))
        return tuple(whole) if len(whole) == parts else None

    def _look(self) -> float:
        """Kills the group where it is late, or holds too much memory; returns how long it may still take."""
        left = self._deadline - time.monotonic()
        if self._death_by is None and left <= 0:
            self._death_by = Death(FaultKind.TIMEOUT, "the time limit is reached, most of it by waiting")
        elif self._death_by is None and self._resident_limit is not None and self._holds_too_much():
            self._death_by = Death(FaultKind.RESOURCE, "it holds more memory than it may")
        if self._death_by is None:
            return left
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        return math.inf

    def _holds_too_much(self) -> bool:
        limit = self._resident_limit
        with suppress(OSError, IndexError):  # it ended meanwhile
            return limit is not None and _memory_bytes(self._process.pid, _RESIDENT) > limit
        return False

    def _death(self) -> Death:
        ended = self._death_by is not None or self._is_ending()
        self.end()
        code = self._process.returncode or 0
        if self._death_by is not None:
            return self._death_by
        if not ended:
            return Death(FaultKind.FORGED, "it closed the pipe that its answers go through, and went on")
        if code < 0:
            name = signal.strsignal(-code) or f"signal {-code}"
            return Death(*_DEADLY.get(signal.Signals(-code), (FaultKind.CRASH, name)))
        return self._with_last_words(Death(FaultKind.CRASH, f"it ended with status {code}"))

    def _with_last_words(self, death: Death) -> Death:
        said = self.said()
        return death if not said or death.message.endswith(said) else Death(death.kind, f"{death.message}: {said}")

    def _is_ending(self) -> bool:
        """Returns whether it ends by itself, now that it has closed its pipe."""
        deadline = time.monotonic() + min(_END_S, self._limits.wall_s)
        while time.monotonic() < deadline:
            if _state(self._process.pid) in "ZX":
                return True
            time.sleep(_LOOK_S / 10)
        return False


class _Pipe:
    """The two pipes of a process as one stream. How long it may wait `look` says, each `look_s` seconds anew.

    A thread that watches the clock takes longer to start and to end than most answers.
    """

    def __init__(
        self, process: subprocess.Popen[bytes] | Forked, look: Callable[[], float], look_s: float | None
    ) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._to, self._from = process.stdin.fileno(), process.stdout.fileno()
        os.set_blocking(self._to, False)
        self._writable, self._readable = _poll(self._to, select.POLLOUT), _poll(self._from, select.POLLIN)
        self._look = look
        self._look_s = math.inf if look_s is None else look_s
        self._unsent = b""

    def write(self, payload: bytes, /) -> None:
        """Holds it back until `flush`."""
        self._unsent += payload

    def flush(self) -> None:
        """Sends all that was written; raises `BrokenPipeError`."""
        left, self._unsent = memoryview(self._unsent), b""
        while left:
            self._wait(self._writable)
            with suppress(BlockingIOError):
                left = left[os.write(self._to, left) :]

    def read(self, count: int, /) -> bytes:
        """Returns `count` bytes; fewer where the other side has closed its end."""
        parts, left = list[bytes](), count
        while left:
            self._wait(self._readable)
            part = os.read(self._from, min(left, _MOST_AT_ONCE))
            if not part:
                break
            parts.append(part)
            left -= len(part)
        return b"".join(parts)

    def _wait(self, ready: select.poll) -> None:
        while not ready.poll(_milliseconds(min(self._look(), self._look_s))):
            pass


def _poll(descriptor: int, what: int) -> select.poll:
    made = select.poll()
    made.register(descriptor, what)
    return made


def _milliseconds(seconds: float) -> int | None:
    return None if seconds == math.inf else math.ceil(seconds * 1000)


def _started(
    module: str, arguments: Sequence[str], work: Path, log: IO[bytes], environment: Mapping[str, str]
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        python_command(module, arguments),
        cwd=work,
        env={**environment_of(work), **environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=log,
        start_new_session=True,
    )


def _state(pid: int) -> str:
    """The letter that the system has for what the process does; X where it is gone."""
    try:
        return _stat(pid)[0].decode()
    except OSError:
        return "X"


def _stat(pid: int) -> list[bytes]:
    """Returns what the system tells of a process, from its state on."""
    with open(f"/proc/{pid}/stat", "rb", buffering=0) as file:  # noqa: PTH123 - a path takes longer than to read it
        return file.read().rsplit(b")", 1)[1].split()


def _limit(pid: int, what: int, amount: int) -> None:
    """The soft limit; the process may end between two questions, of which the next one tells."""
    with suppress(ProcessLookupError):
        _, hard = resource.prlimit(pid, what)
        bounded = amount if hard == resource.RLIM_INFINITY else min(amount, hard)
        resource.prlimit(pid, what, (bounded, hard))


def _memory_bytes(pid: int, what: int) -> int:
    pages = Path(f"/proc/{pid}/statm").read_text("utf-8").split()[what]
    return int(pages) * resource.getpagesize()

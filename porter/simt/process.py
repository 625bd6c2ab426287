"""One process from its start to its end: confined to its time, alone in its group, measured by the processor."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from porter.measure.deadline import unbroken

_ASK, _ADDR_NO_RANDOMIZE = 0xFFFFFFFF, 0x0040000  # of personality
_ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LANG": "C", "TZ": "UTC", "HOME": "/"}


@dataclass(frozen=True, slots=True)
class Ended:
    """The end of a process: `code` is negative for a signal, `late` says that it was killed when its time had passed.

    `cpu_s` is the processor time it used, which does not depend on what else the machine was doing.
    """

    code: int
    cpu_s: float
    late: bool


def spawn(command: list[str], work: Path, stdout: Path, stderr: Path, wall_s: float) -> Ended:
    """Runs `command` in `work` to its end; no process of its group is left.

    Its output goes to files, which its own size limit bounds and which nobody has to drain.
    """
    with stdout.open("wb") as out, stderr.open("wb") as err, unbroken(), _fixed_addresses():
        child = subprocess.Popen(
            command,
            cwd=work,
            env=_ENVIRONMENT,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            start_new_session=True,
        )
    return _ended(child, wall_s)


@contextmanager
def _fixed_addresses() -> Iterator[None]:
    """Gives what this thread starts meanwhile its memory at the same addresses each time.

    The executor sees to that itself where it has to, by starting once more: 2.6 ms of processor time a run.
    """
    libc = ctypes.CDLL(None)
    before = libc.personality(_ASK)
    if before == -1 or libc.personality(before | _ADDR_NO_RANDOMIZE) == -1:  # a container may forbid it
        yield
        return
    try:
        yield
    finally:
        libc.personality(before)


def _ended(child: subprocess.Popen[bytes], wall_s: float) -> Ended:
    """Waits without reaping: until its whole group is killed, the child's id must not be given to anyone else."""
    late = threading.Event()

    def end() -> None:
        late.set()
        _kill_group(child.pid)

    clock = threading.Timer(wall_s, end)
    clock.start()
    try:
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    finally:
        with unbroken():
            clock.cancel()
            clock.join()
            _kill_group(child.pid)
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
    return Ended(child.returncode, usage.ru_utime + usage.ru_stime, late.is_set())


def _kill_group(leader: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(leader, signal.SIGKILL)

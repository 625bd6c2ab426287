"""One process from its start to its end: confined to its time, alone in its group, measured by the processor."""

from __future__ import annotations

import ctypes
import os
import select
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from porter.measure.deadline import unbroken

_ASK, _ADDR_NO_RANDOMIZE = 0xFFFFFFFF, 0x0040000  # of personality
_LOOK_S = 0.002  # until it is looked again whether a process has ended, where nobody tells
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

    Its output goes to files, which its own size limit bounds and which nobody has to drain. Where it is broken off it
    is ended, too: no thread waits beside it, which would keep porter from ending as long as `wall_s`.
    """
    begun: list[subprocess.Popen[bytes]] = []
    ended: list[tuple[int, float]] = []
    late = False
    with stdout.open("wb") as out, stderr.open("wb") as err:
        try:
            with unbroken(), _fixed_addresses():
                child = subprocess.Popen(
                    command,
                    cwd=work,
                    env=_ENVIRONMENT,
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=err,
                    start_new_session=True,
                )
                begun.append(child)
            late = not _ends_within(child.pid, wall_s)
        finally:
            with unbroken():
                ended.extend(map(_reaped, begun))
    ((code, cpu_s),) = ended
    return Ended(code, cpu_s, late)


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


def _ends_within(pid: int, wall_s: float) -> bool:
    """Waits without reaping: until its whole group is killed, the child's id must not be given to anyone else."""
    try:
        descriptor = os.pidfd_open(pid)
    except OSError:  # a container may forbid it
        return _is_seen_to_end(pid, time.monotonic() + wall_s)
    try:
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        return bool(poll.poll(wall_s * 1000))
    finally:
        os.close(descriptor)


def _is_seen_to_end(pid: int, until: float) -> bool:
    while os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None:
        if time.monotonic() > until:
            return False
        time.sleep(_LOOK_S)
    return True


def _reaped(child: subprocess.Popen[bytes]) -> tuple[int, float]:
    """Ends it and all of its group; returns how it ended and the processor time that it used."""
    _kill_group(child.pid)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return child.returncode, usage.ru_utime + usage.ru_stime


def _kill_group(leader: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(leader, signal.SIGKILL)

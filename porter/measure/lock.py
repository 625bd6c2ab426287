"""Decides which process may use a device: one that measures is alone there, all others prove and prepare side by side.

Each device has slots, lock files named by its UUID, that stand for shares of its memory. Work takes as many slots as it
needs; a measurement takes all, and while one waits for that no slot is given to anybody else. Only one measurement
waits like this: once it is done, other measurements go first, and work that has waited for `_YIELDS_S` as well as they.
Where some work begins, all work that waits begins beside it: a measurement waits for as long as the longest takes. Of
20 operators at once the device had stood still for 45 of 120 s, since each piece of work began by itself (H200).
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from porter.errors import MachineError

SLOTS = 16
_POLL_S = 0.02
_YIELDS_S = 5.0
_JOINS_S = 0.1  # after others began; who waits looks five times in it
_FOR_ALL_USERS = 0o666


def seats_for(needed_bytes: int, memory_bytes: int) -> int:
    """Returns how many slots stand for `needed_bytes` of a device with `memory_bytes`."""
    return min(SLOTS, 1 + SLOTS * needed_bytes // memory_bytes)


@dataclass(frozen=True, slots=True)
class DeviceLock:
    """The lock of the device `uuid`; `folder` is the same for all on this machine. Nobody waits beyond `patience_s`.

    Locks end with the process that holds them, however that ends.
    """

    uuid: str
    folder: Path
    patience_s: float

    @contextmanager
    def shared(self, slots: int = 1) -> Iterator[None]:
        """Holds `slots` of the device, while nobody measures. Raises `MachineError` after `patience_s`."""
        with ExitStack() as held:
            wish, queue, began = (held.enter_context(_opened(self._path(name))) for name in ("wish", "queue", "began"))
            every = [held.enter_context(_opened(self._path(str(slot)))) for slot in range(SLOTS)]
            asked_s = time.time()

            def sits() -> bool:
                is_patient = _just_set(began) or time.time() - asked_s >= _YIELDS_S
                if not (is_patient or _is_free(queue)) or not self._sit(wish, every, slots):
                    return False
                if not _just_set(began):
                    os.utime(began)
                return True

            self._wait(sits)
            yield

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Holds the device with nobody else there. Raises `MachineError` after `patience_s`."""
        with ExitStack() as held:
            wish, queue, began = (held.enter_context(_opened(self._path(name))) for name in ("wish", "queue", "began"))
            fcntl.flock(queue, fcntl.LOCK_SH)
            self._wait(lambda: not _just_set(began) and _try(wish, fcntl.LOCK_EX))
            fcntl.flock(queue, fcntl.LOCK_UN)
            for slot in range(SLOTS):
                place = held.enter_context(_opened(self._path(str(slot))))
                self._wait(lambda place=place: _try(place, fcntl.LOCK_EX))  # type: ignore[misc]
            yield

    def _sit(self, wish: int, every: list[int], slots: int) -> bool:
        """Takes `slots` if they are free and nobody wants all; returns whether. With fewer it keeps none."""
        if not _try(wish, fcntl.LOCK_EX):
            return False
        try:
            taken = list(islice((slot for slot in every if _try(slot, fcntl.LOCK_EX)), slots))
            for slot in taken if len(taken) < slots else ():
                fcntl.flock(slot, fcntl.LOCK_UN)
            return len(taken) == slots
        finally:
            fcntl.flock(wish, fcntl.LOCK_UN)

    def _wait(self, taken: Callable[[], bool]) -> None:
        deadline = time.monotonic() + self.patience_s
        while not taken():
            if time.monotonic() >= deadline:
                raise MachineError(
                    f"others have been using the device for {self.patience_s:g} s",
                    f"wait for them; they hold {self._path('*')}",
                )
            time.sleep(_POLL_S)

    def _path(self, what: str) -> Path:
        return self.folder / f"porter-{self.uuid}-{what}.lock"


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    """Yields the lock file, which any user may hold: permissions of the user who made it must not shut others out."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _FOR_ALL_USERS)
        os.fchmod(descriptor, _FOR_ALL_USERS)
        os.utime(descriptor, (0, 0))  # nothing has begun yet
    except FileExistsError:
        descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _try(descriptor: int, how: int) -> bool:
    try:
        fcntl.flock(descriptor, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_free(descriptor: int) -> bool:
    """Returns whether nobody holds the lock."""
    if not _try(descriptor, fcntl.LOCK_EX):
        return False
    fcntl.flock(descriptor, fcntl.LOCK_UN)
    return True


def _just_set(descriptor: int) -> bool:
    """Returns whether the file's time was set a moment ago."""
    return 0 <= time.time() - os.fstat(descriptor).st_mtime < _JOINS_S

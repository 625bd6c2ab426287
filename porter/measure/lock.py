"""Decides which process may use a device: one that measures is alone there, all others prove and prepare side by side.

Each device has seats, lock files named by its UUID, that stand for shares of its memory. Work takes as many seats as it
needs; a measurement takes all, and while one waits for that no seat is given to anybody else. Only one measurement
waits like this: once it is done, the others and the work have the same chance.
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

SEATS = 16
_POLL_S = 0.02
_FOR_ALL_USERS = 0o666


def seats_for(needed_bytes: int, memory_bytes: int) -> int:
    """Returns how many seats stand for `needed_bytes` of a device with `memory_bytes`."""
    return min(SEATS, 1 + SEATS * needed_bytes // memory_bytes)


@dataclass(frozen=True, slots=True)
class DeviceLock:
    """The lock of the device `uuid`; `folder` is the same for all on this machine. Nobody waits beyond `patience_s`.

    Locks end with the process that holds them, however that ends.
    """

    uuid: str
    folder: Path
    patience_s: float

    @contextmanager
    def shared(self, seats: int = 1) -> Iterator[None]:
        """Holds `seats` of the device, while nobody measures. Raises `MachineError` after `patience_s`."""
        with ExitStack() as held:
            wish = held.enter_context(_opened(self._path("wish")))
            every = [held.enter_context(_opened(self._path(str(seat)))) for seat in range(SEATS)]
            self._wait(lambda: self._sit(wish, every, seats))
            yield

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Holds the device with nobody else there. Raises `MachineError` after `patience_s`."""
        with ExitStack() as held:
            wish = held.enter_context(_opened(self._path("wish")))
            self._wait(lambda: _try(wish, fcntl.LOCK_EX))
            for seat in range(SEATS):
                place = held.enter_context(_opened(self._path(str(seat))))
                self._wait(lambda place=place: _try(place, fcntl.LOCK_EX))  # type: ignore[misc]
            yield

    def _sit(self, wish: int, every: list[int], seats: int) -> bool:
        """Takes `seats` if they are free and nobody wants all; returns whether. With fewer it keeps none."""
        if not _try(wish, fcntl.LOCK_EX):
            return False
        try:
            taken = list(islice((seat for seat in every if _try(seat, fcntl.LOCK_EX)), seats))
            for seat in taken if len(taken) < seats else ():
                fcntl.flock(seat, fcntl.LOCK_UN)
            return len(taken) == seats
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

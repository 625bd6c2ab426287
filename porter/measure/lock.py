"""Decides which process may use a device: one that measures is alone there, all others prove and prepare side by side.

Each device has slots, lock files named by its UUID, that stand for shares of its memory. Work takes as many slots as it
needs. A measurement has its turn: in slots of its own it prepares beside work that began before, while no other begins;
it takes all slots to sample, and then looks at answers beside others, of which the next measurement may be one.

Measurements go one after the other as long as there are any; then all work that waits begins at once, and so it does
where it has waited for `_YIELDS_S` since other work began. What needs more memory begins first: later there may be no
room. Of 20 operators at once on an H200 the device had been held by one that measured for 82 of 160 s, for two seconds
each, in less than half of which something was clocked, and for 60 s measurements had waited for work that had begun
before: nearly each of them, since work that had waited for 5 s went before every second one.
"""

from __future__ import annotations

import fcntl
import math
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path

from porter.errors import MachineError

SLOTS = 16
_POLL_S = 0.02
_YIELDS_S = 10.0
_JOINS_S = 0.2  # after others began; who waits looks ten times in it
_LARGE_FIRST_S = 0.1  # of that; what needs a single slot waits nearly so long for what needs more
_FOR_ALL_USERS = 0o666


def seats_for(needed_bytes: int, memory_bytes: int) -> int:
    """Returns how many slots stand for `needed_bytes` of a device with `memory_bytes`."""
    return min(SLOTS, 1 + SLOTS * needed_bytes // memory_bytes)


class Turn:
    """The turn of a measurement that has its `seats`: others end what they do beside it, and none of them begins."""

    def __init__(
        self, wish: int, seats: Sequence[int], others: Sequence[int], wait: Callable[[Callable[[], bool]], None]
    ) -> None:
        self._wish, self._others, self._wait = wish, tuple(slot for slot in others if slot not in seats), wait

    def alone(self) -> None:
        """Waits until nobody else uses the device. Raises `MachineError` where that takes too long."""
        for slot in self._others:
            self._wait(partial(_try, slot, fcntl.LOCK_EX))

    def share(self) -> None:
        """Lets others begin beside it."""
        for descriptor in (*self._others, self._wish):
            fcntl.flock(descriptor, fcntl.LOCK_UN)


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
            wish, queue, began, *every = self._files(held)
            asked_s = time.time()

            def sits() -> bool:
                age_s, waited_s = _age_s(began), time.time() - asked_s
                is_joining = age_s < _JOINS_S
                if is_joining and age_s < min(waited_s, _LARGE_FIRST_S * (1 - slots / SLOTS)):
                    return False
                is_patient = is_joining or min(age_s, waited_s) >= _YIELDS_S
                if not (is_patient or _is_free(queue)) or not self._sit(wish, every, slots):
                    return False
                if not is_joining:
                    os.utime(began)
                return True

            self._wait(sits)
            yield

    @contextmanager
    def turn(self, slots: int) -> Iterator[Turn]:
        """Holds `slots` for a measurement, once it has its turn. Raises `MachineError` after `patience_s`."""
        with ExitStack() as held:
            wish, queue, began, *every = self._files(held)
            fcntl.flock(queue, fcntl.LOCK_SH)
            self._wait(lambda: _age_s(began) >= _JOINS_S and _try(wish, fcntl.LOCK_EX))
            fcntl.flock(queue, fcntl.LOCK_UN)
            seats: list[int] = []
            self._wait(lambda: _filled(seats, every, slots))  # which become free, since nobody else begins
            yield Turn(wish, seats, every, self._wait)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Holds the device with nobody else there. Raises `MachineError` after `patience_s`."""
        with self.turn(SLOTS):
            yield

    def _files(self, held: ExitStack) -> list[int]:
        """Opens all files of the lock: those of measurements that wait, of when work began, and of the slots."""
        names = ("wish", "queue", "began", *map(str, range(SLOTS)))
        return [held.enter_context(_opened(self._path(name))) for name in names]

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


def _filled(seats: list[int], every: Sequence[int], wanted: int) -> bool:
    """Takes free slots of `every` until there are as many seats as are `wanted`; returns whether there are."""
    for slot in every:
        if len(seats) < wanted and slot not in seats and _try(slot, fcntl.LOCK_EX):
            seats.append(slot)
    return len(seats) == wanted


def _age_s(descriptor: int) -> float:
    """Returns how long ago the file's time was set; for ever, where that is in the future."""
    age_s = time.time() - os.fstat(descriptor).st_mtime
    return age_s if age_s >= 0 else math.inf

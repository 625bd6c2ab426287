"""A limit on the time that a migration takes, by the clock on the wall: what is not settled then stays unsettled.

Its end is an exception in the main thread, wherever that is, as Ctrl-C is one. What all migrations share and the first
one builds does not count.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

_SHORTEST_S = 0.2  # until it is looked again whether what does not count has ended


class OutOfTime(BaseException):
    """The limit is over. Nobody who handles errors of what is being done handles this."""


class Uncounted:
    """The seconds in which at least one thread was within `passing`."""

    def __init__(self) -> None:
        self._lock = threading.RLock()  # a signal may come to the thread that holds it
        self._depth, self._begin, self._over_s = 0, 0.0, 0.0

    @property
    def seconds(self) -> float:
        """All of them so far, those that are passing now included."""
        with self._lock:
            return self._over_s + (time.monotonic() - self._begin if self._depth else 0.0)

    @contextmanager
    def passing(self) -> Iterator[None]:
        """The time within does not count."""
        self._change(1)
        try:
            yield
        finally:
            self._change(-1)

    def _change(self, by: int) -> None:
        with self._lock:
            self._over_s, self._begin = self.seconds, time.monotonic()
            self._depth += by


SHARED_PARTS = Uncounted()


@dataclass
class Deadline:
    """A limit of `limit_s` seconds, None for none; `passed` once it is over."""

    limit_s: float | None = None
    passed: bool = False

    @contextmanager
    def running(self) -> Iterator[None]:
        """Raises `OutOfTime` once the limit is over; only the main thread has limits."""
        if self.limit_s is None or threading.current_thread() is not threading.main_thread():
            yield
            return
        ends_at = time.monotonic() + self.limit_s - SHARED_PARTS.seconds

        def end(*_: object) -> None:
            left_s = ends_at + SHARED_PARTS.seconds - time.monotonic()
            if left_s > 0:
                signal.setitimer(signal.ITIMER_REAL, max(left_s, _SHORTEST_S))
                return
            self.passed = True
            raise OutOfTime

        before = signal.signal(signal.SIGALRM, end)
        signal.setitimer(signal.ITIMER_REAL, self.limit_s)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)

"""Limits the time that a migration takes, by the wall clock: whatever is not settled by then stays unsettled.

Parts of it are spans, one within the other. The end of one is an exception in the main thread, wherever that is, like
Ctrl-C. The builds that all migrations share, made by the first, do not count.
"""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType

_SHORTEST_S = 0.2  # until it is looked again whether what does not count has ended
_HELD_S = 0.01  # until it is looked again whether what must not be broken off has ended
_IMPORTS = "<frozen importlib._bootstrap>"


@dataclass(eq=False, slots=True)
class Span:
    """A part of a limit that ends at `ends_at`, by the time that counts; `passed` once it was broken off."""

    ends_at: float
    passed: bool = False


class OutOfTime(BaseException):
    """The time of `span` is over. Handlers of ordinary errors do not catch this."""

    def __init__(self, span: Span) -> None:
        super().__init__()
        self.span = span


class Uncounted:
    """The seconds in which at least one thread was within `passing`."""

    def __init__(self) -> None:
        self._lock = threading.RLock()  # a signal may come to the thread that holds it
        self._depth, self._begin, self._over_s = 0, 0.0, 0.0

    @property
    def seconds(self) -> float:
        """The seconds of all of them so far, including those that are passing now."""
        with self._lock:
            return self._over_s + (time.monotonic() - self._begin if self._depth else 0.0)

    @contextmanager
    def passing(self) -> Iterator[None]:
        """Leaves the time of the block out of the count."""
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


class _Whole(threading.local):
    """The number of things under way in a thread that must not be broken off."""

    count = 0


_WHOLE = _Whole()


@contextmanager
def unbroken() -> Iterator[None]:
    """Delays limits until the end of the block: half of its work would be of no use to anyone."""
    _WHOLE.count += 1
    try:
        yield
    finally:
        _WHOLE.count -= 1


@dataclass
class Deadline:
    """A limit of `limit_s` seconds, None for none; `passed` once it is over."""

    limit_s: float | None = None
    passed: bool = False
    _spans: list[Span] = field(default_factory=list, repr=False, compare=False)  # the outermost first

    @property
    def left_s(self) -> float:
        """The time the innermost span may still take; infinite where there is no limit."""
        ends_at = min((span.ends_at for span in self._spans), default=math.inf)
        return 0.0 if self.passed else ends_at - _counted_s()

    @contextmanager
    def running(self) -> Iterator[None]:
        """Raises `OutOfTime` once the limit is over; only the main thread has limits."""
        if self.limit_s is None or threading.current_thread() is not threading.main_thread():
            yield
            return
        before = signal.signal(signal.SIGALRM, self._look)
        whole = Span(_counted_s() + self.limit_s)
        try:
            self._open(whole)
            yield
        finally:
            self._close(whole)
            signal.signal(signal.SIGALRM, before)

    @contextmanager
    def span(self, seconds: float) -> Iterator[Span]:
        """Breaks off the block once `seconds` are over, which `passed` of the span then says.

        The span has no end of its own where there is no limit.
        """
        span = Span(_counted_s() + seconds)
        if not self._spans:
            yield span
            return
        try:
            try:
                self._open(span)
                yield span
            finally:
                self._close(span)
        except OutOfTime as over:
            if over.span is not span:
                raise

    def _open(self, span: Span) -> None:
        self._spans.append(span)
        self._set()

    def _close(self, span: Span) -> None:
        """Ends `span` and those within it."""
        if span in self._spans:
            del self._spans[self._spans.index(span) :]
        self._set()

    def _set(self) -> None:
        """Sets the timer to the end of the span that ends first."""
        first = min((span.ends_at for span in self._spans), default=None)
        left_s = 0.0 if first is None else max(first - _counted_s(), _SHORTEST_S)
        signal.setitimer(signal.ITIMER_REAL, left_s)

    def _look(self, _signal: int, frame: FrameType | None) -> None:
        """Breaks off the outermost span that is over, if there is one."""
        if _WHOLE.count or _is_importing(frame):
            signal.setitimer(signal.ITIMER_REAL, _HELD_S)
            return
        over = next((span for span in self._spans if span.ends_at <= _counted_s()), None)
        if over is None:
            self._set()
            return
        over.passed = True
        self.passed = self.passed or over is self._spans[0]
        self._close(over)
        raise OutOfTime(over)


def _is_importing(frame: FrameType | None) -> bool:
    """Returns whether a module is being imported: whoever asked for half of one next would be given an error."""
    while frame is not None and frame.f_code.co_filename != _IMPORTS:
        frame = frame.f_back
    return frame is not None


def _counted_s() -> float:
    """Returns the wall clock, which stands still while shared parts are built."""
    return time.monotonic() - SHARED_PARTS.seconds

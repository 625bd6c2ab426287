"""Order between streams: memory that one stream uses must not be used by another that does not wait for it.

Two launches may share memory without an order, since each may use a part of its own: what they do shows when they run
(`StreamOrder` of Triton's replay).
"""

from __future__ import annotations

from porter.launch_plan.steps import MAIN_STREAM, Await, Launch, Read, Record, Return, Step, Synchronise, Wait
from porter.launch_plan.views import used

_Clock = dict[int, int]


class Ordering:
    """Follows the steps of one call with a clock for each stream (vector clocks), and one for the host.

    Where the host waits, all that it asks for later comes behind that. A call's results must be ordered behind the main
    stream, on which its caller works.
    """

    def __init__(self) -> None:
        self._host: _Clock = {}
        self._clocks: dict[int, _Clock] = {MAIN_STREAM: {}}
        self._events: dict[int, _Clock] = {}
        self._last: dict[int, dict[tuple[int, bool], int]] = {}  # by buffer, then by stream and whether it was a launch

    def broken_by(self, step: Step) -> str:
        """Says which memory `step` uses while another stream may; empty where that is in order."""
        match step:
            case Wait(stream, awaited):
                self._merge(stream, self._clock(awaited))
                return ""
            case Record(event, stream):
                self._events[event] = dict(self._clock(stream))
                return ""
            case Await(event, stream):
                self._merge(stream, self._events.get(event, {}))
                return ""
            case Synchronise(event):
                everything = [dict(clock) for clock in self._clocks.values()]
                for clock in everything if event is None else [self._events.get(event, {})]:
                    self._wait(clock)
                return ""
        stream = MAIN_STREAM if isinstance(step, Return) else getattr(step, "stream", MAIN_STREAM)
        clock = self._clock(stream)
        views = used(step)
        if not views:
            return ""
        clock[stream] = now = clock.get(stream, 0) + 1
        for view in views:
            for (other, launched), then in self._last.get(view.buffer, {}).items():
                if other != stream and clock.get(other, 0) < then and not (launched and isinstance(step, Launch)):
                    doing = "returns" if isinstance(step, Return) else "uses"
                    return f"stream {stream} {doing} memory on which stream {other} may still work"
            self._last.setdefault(view.buffer, {})[stream, isinstance(step, Launch)] = now
        if isinstance(step, Read):
            self._wait(dict(clock))
        return ""

    def time(self, stream: int) -> int:
        """Returns how many steps `stream` was given so far."""
        return self._clock(stream).get(stream, 0)

    def is_behind(self, stream: int, other: int, time: int) -> bool:
        """Returns True where what `stream` is given next comes behind what `other` was given at `time`."""
        return self._clock(stream).get(other, 0) >= time

    def _clock(self, stream: int) -> _Clock:
        return self._clocks.setdefault(stream, dict(self._host))

    def _wait(self, clock: _Clock) -> None:
        """The host waits for all that `clock` knows of."""
        _merge(self._host, clock)
        for other in self._clocks.values():
            _merge(other, clock)

    def _merge(self, stream: int, other: _Clock) -> None:
        _merge(self._clock(stream), other)


def _merge(clock: _Clock, other: _Clock) -> None:
    for key, time in other.items():
        clock[key] = max(clock.get(key, 0), time)

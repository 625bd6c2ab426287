"""Streams and events of the device, whose order is in the plan."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any, Self

from porter.launch_plan.steps import MAIN_STREAM, Await, Record, Synchronise, Wait
from porter_triton.planning.device_tensor import DEVICE
from porter_triton.planning.recorder import Recorder


class _Given:
    """The recorder of streams and events, one for the process, and the counts of streams and times given out."""

    recorder: Recorder
    streams = 0
    timings = 0


class Event:
    """Stands for `torch.cuda.Event`; the time between two differs in every call."""

    def __init__(self, *_: Any, **__: Any) -> None:
        self._number = _Given.recorder.new_event()

    def record(self, stream: Stream | None = None) -> None:
        """Records all work that `stream` has been given so far."""
        _Given.recorder.step(Record(self._number, _Given.recorder.stream if stream is None else stream.cuda_stream))

    def wait(self, stream: Stream | None = None) -> None:
        """Lets `stream` go on when that is done."""
        _Given.recorder.step(Await(self._number, _Given.recorder.stream if stream is None else stream.cuda_stream))

    def synchronize(self) -> None:
        """Lets the host wait for the work."""
        _Given.recorder.step(Synchronise(self._number))

    def query(self) -> bool:
        """Returns True: the work is done."""
        return True

    def elapsed_time(self, _end: Event) -> float:
        """Returns milliseconds: nothing is executed, and no two questions get the same answer."""
        _Given.timings += 1
        return 0.0625 + 0.375 * (_Given.timings * 0.618034 % 1.0)


class Stream:
    """Stands for `torch.cuda.Stream`: a stream that is not used yet."""

    def __init__(self, *_: Any, **__: Any) -> None:
        _Given.streams += 1
        self._become(_Given.streams)

    @classmethod
    def numbered(cls, number: int) -> Stream:
        """Returns the stream with this number."""
        made = object.__new__(cls)
        made._become(number)
        return made

    def _become(self, number: int) -> None:
        self.cuda_stream = self.stream_id = number
        self.device, self.device_index, self.priority = DEVICE, 0, 0

    def wait_stream(self, other: Stream) -> None:
        """Waits for `other`."""
        _Given.recorder.step(Wait(self.cuda_stream, other.cuda_stream))

    def wait_event(self, event: Event) -> None:
        """Waits for the work that `event` stands for."""
        event.wait(self)

    def record_event(self, event: Event | None = None) -> Event:
        """Returns an event that stands for what it was given so far."""
        made = event or Event()
        made.record(self)
        return made

    def synchronize(self) -> None:
        """Lets the host wait for it."""
        self.record_event().synchronize()

    def query(self) -> bool:
        """Returns True: the work is done."""
        return True

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and self.cuda_stream == other.cuda_stream

    def __hash__(self) -> int:
        return self.cuda_stream

    def __enter__(self) -> Self:
        _Given.recorder.streams.append(self.cuda_stream)
        return self

    def __exit__(self, *_: object) -> None:
        _Given.recorder.streams.pop()


for _named in (Stream, Event):
    _named.__module__ = "torch.cuda.streams"


class Streams:
    """The functions of `torch.cuda` that deal with streams."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = _Given.recorder = recorder

    def main(self, *_: Any, **__: Any) -> Stream:
        """Returns the stream that the caller works on."""
        return Stream.numbered(MAIN_STREAM)

    def current(self, *_: Any, **__: Any) -> Stream:
        """Returns the stream that is chosen now."""
        return Stream.numbered(self._recorder.stream)

    def synchronise(self, *_: Any, **__: Any) -> None:
        """Lets the host wait for all of them."""
        self._recorder.step(Synchronise())

    def choose(self, stream: Stream) -> None:
        """Makes `stream` the current one for the rest of the call."""
        self._recorder.streams.append(stream.cuda_stream)

    def within(self, stream: Stream | None) -> AbstractContextManager[Any]:
        """Returns a context in which `stream` is the current one."""
        return nullcontext() if stream is None else Stream.numbered(stream.cuda_stream)

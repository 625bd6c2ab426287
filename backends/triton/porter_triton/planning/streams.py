"""Streams and events of the device, whose order is in the plan."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any, Self

from porter.launch_plan.steps import MAIN_STREAM, Await, Record, Synchronise, Wait
from porter_triton.planning.device_tensor import DEVICE
from porter_triton.planning.recorder import Recorder


class Event:
    """As `torch.cuda.Event`; no time passes between two."""

    def __init__(self, recorder: Recorder, number: int) -> None:
        self._recorder = recorder
        self._number = number

    def record(self, stream: Stream | None = None) -> None:
        """It stands for what `stream` was given so far."""
        self._recorder.step(Record(self._number, self._recorder.stream if stream is None else stream.cuda_stream))

    def wait(self, stream: Stream | None = None) -> None:
        """`stream` goes on when that is done."""
        self._recorder.step(Await(self._number, self._recorder.stream if stream is None else stream.cuda_stream))

    def synchronize(self) -> None:
        """The host waits for what it stands for."""
        self._recorder.step(Synchronise(self._number))

    def query(self) -> bool:
        """It is done."""
        return True

    def elapsed_time(self, _end: Event) -> float:
        """In milliseconds: nothing is executed, and this takes as long as anything."""
        return 1.0


class Stream:
    """As `torch.cuda.Stream`."""

    def __init__(self, recorder: Recorder, number: int) -> None:
        self._recorder = recorder
        self.cuda_stream = self.stream_id = number
        self.device, self.device_index, self.priority = DEVICE, 0, 0

    def wait_stream(self, other: Stream) -> None:
        """It goes on when `other` is done."""
        self._recorder.step(Wait(self.cuda_stream, other.cuda_stream))

    def wait_event(self, event: Event) -> None:
        """It goes on when what `event` stands for is done."""
        event.wait(self)

    def record_event(self, event: Event | None = None) -> Event:
        """An event that stands for what it was given so far."""
        made = event or Event(self._recorder, self._recorder.new_event())
        made.record(self)
        return made

    def synchronize(self) -> None:
        """The host waits for it."""
        self.record_event().synchronize()

    def query(self) -> bool:
        """It is done."""
        return True

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and self.cuda_stream == other.cuda_stream

    def __hash__(self) -> int:
        return self.cuda_stream

    def __enter__(self) -> Self:
        self._recorder.streams.append(self.cuda_stream)
        return self

    def __exit__(self, *_: object) -> None:
        self._recorder.streams.pop()


class Streams:
    """What `torch.cuda` has of them."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._streams = 0

    def new(self, *_: Any, **__: Any) -> Stream:
        """A stream that nobody uses yet."""
        self._streams += 1
        return Stream(self._recorder, self._streams)

    def event(self, *_: Any, **__: Any) -> Event:
        """An event that stands for nothing yet."""
        return Event(self._recorder, self._recorder.new_event())

    def main(self, *_: Any, **__: Any) -> Stream:
        """The stream that the caller works on."""
        return Stream(self._recorder, MAIN_STREAM)

    def current(self, *_: Any, **__: Any) -> Stream:
        """The stream that is chosen now."""
        return Stream(self._recorder, self._recorder.stream)

    def synchronise(self, *_: Any, **__: Any) -> None:
        """The host waits for all of them."""
        self._recorder.step(Synchronise())

    def choose(self, stream: Stream) -> None:
        """From here on `stream` is the current one, for the rest of the call."""
        self._recorder.streams.append(stream.cuda_stream)

    def within(self, stream: Stream | None) -> AbstractContextManager[Any]:
        """A context in which `stream` is the current one."""
        return nullcontext() if stream is None else Stream(self._recorder, stream.cuda_stream)

"""Launches on several streams that share memory: where none waits for the other they must use parts of their own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from porter.launch_plan.ordering import Ordering
from porter.launch_plan.steps import MAIN_STREAM, Launch, Step
from porter_triton.replay.watch import Region, is_atomic

_Bytes = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class _Touched:
    """The bytes of a buffer that a launch read, wrote, and changed by atomic operations alone."""

    read: _Bytes
    written: _Bytes
    atomic: _Bytes

    @classmethod
    def of(cls, region: Region) -> _Touched:
        written, atomic = region.writes != 0, is_atomic(region.writes)
        return cls(*(np.repeat(mask, region.cell) for mask in (region.reads != 0, written, atomic & written)))

    def meets(self, other: _Touched) -> bool:
        """Returns True where one writes what the other uses, and not both by atomic operations."""
        size = min(len(self.read), len(other.read))
        a, b = ([mask[:size] for mask in (t.read, t.written, t.atomic)] for t in (self, other))
        both = a[2] & b[2]
        return bool((((a[1] & (b[0] | b[1])) | (b[1] & a[0])) & ~both).any())


@dataclass(frozen=True, slots=True)
class _Done:
    kernel: str
    stream: int
    time: int
    touched: Mapping[int, _Touched]


class StreamOrder:
    """Follows the steps of one call as they are carried out."""

    def __init__(self) -> None:
        self._ordering = Ordering()
        self._done: list[_Done] = []
        self._is_needed = False

    def look_ahead(self, steps: tuple[Step, ...]) -> None:
        """Notes the launches that come next: with a single stream there is nothing to follow."""
        self._is_needed = self._is_needed or any(getattr(s, "stream", MAIN_STREAM) != MAIN_STREAM for s in steps)

    def follow(self, step: Step) -> None:
        """Follows a step that is not a launch."""
        self._ordering.broken_by(step)

    def raced_by(self, step: Launch, kernel: str, regions: Mapping[int, Region]) -> Iterator[str]:
        """Yields what a launch that used `regions`, by buffers, does beside others which it does not wait for."""
        self._ordering.broken_by(step)
        if not self._is_needed:
            return
        touched = {buffer: _Touched.of(region) for buffer, region in regions.items()}
        for done in self._done:
            if done.stream == step.stream or self._ordering.is_behind(step.stream, done.stream, done.time):
                continue
            shared = touched.keys() & done.touched.keys()
            if any(touched[buffer].meets(done.touched[buffer]) for buffer in shared):
                yield f"on stream {step.stream} it uses what {done.kernel} on stream {done.stream} may still work on"
        self._done.append(_Done(kernel, step.stream, self._ordering.time(step.stream), touched))

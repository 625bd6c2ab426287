"""Notes what is seen while the steps of one call are carried out: launches, and what goes wrong at which line."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from porter.execution.job import Fault, FaultKind, LaunchRecord, Schedule


@dataclass
class Observation:
    """The observations of one call; `folder` has the files of its kernels, `kernel` is the one that runs.

    `signatures` are those of the launches, in order, each once.
    """

    folder: str = "\0"
    schedule: Schedule = Schedule.FORWARD
    seed: int = 0
    kernel: str = ""
    launches: list[LaunchRecord] = field(default_factory=list)
    signatures: dict[str, None] = field(default_factory=dict)
    counts: dict[tuple[FaultKind, str, str, int], int] = field(default_factory=dict)
    messages: dict[tuple[FaultKind, str, str, int], str] = field(default_factory=dict)

    def note(self, kind: FaultKind, message: str, line: int = 0) -> None:
        """Notes a fault at `line` of the module, else at the running line; the first of a line speaks for others."""
        file, at = ("", line) if line else self.place_in(sys._getframe())
        key = (kind, self.kernel, file, at)
        self.messages.setdefault(key, message)
        self.counts[key] = self.counts.get(key, 0) + 1

    def faults(self) -> Iterator[Fault]:
        """Yields what was noted."""
        for (kind, kernel, file, line), message in self.messages.items():
            yield Fault(kind, file, line, kernel, message, self.counts[kind, kernel, file, line])

    def place_in(self, frame: FrameType | None) -> tuple[str, int]:
        """Returns file name and line of a kernel that `frame` or its innermost caller is at; 0 for none."""
        while frame is not None:
            if frame.f_code.co_filename.startswith(self.folder):
                return Path(frame.f_code.co_filename).name, frame.f_lineno
            frame = frame.f_back
        return "", 0

    def place_of(self, error: BaseException) -> tuple[str, int]:
        """Returns the innermost line of a kernel that `error` came through."""
        found, trace = ("", 0), error.__traceback__
        while trace is not None:
            if trace.tb_frame.f_code.co_filename.startswith(self.folder):
                found = Path(trace.tb_frame.f_code.co_filename).name, trace.tb_lineno
            trace = trace.tb_next
        return found

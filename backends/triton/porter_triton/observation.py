"""What is seen of a module while one job runs: its launches, and what goes wrong at which line."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import FrameType

from porter.simt.job import Fault, FaultKind, LaunchRecord, Schedule


@dataclass
class Observation:
    """What was seen of one run of `module`; `signatures` are those of the launches, in order, each once.

    `failed` are the launches that raised, which is how the run ends unless the module catches it.
    """

    module: str
    schedule: Schedule = Schedule.FORWARD
    seed: int = 0
    kernel: str = ""
    launches: list[LaunchRecord] = field(default_factory=list)
    signatures: dict[str, None] = field(default_factory=dict)
    counts: dict[tuple[FaultKind, str, int], int] = field(default_factory=dict)
    messages: dict[tuple[FaultKind, str, int], str] = field(default_factory=dict)
    failed: list[Fault] = field(default_factory=list)

    def note(self, kind: FaultKind, message: str, line: int = 0) -> None:
        """A fault at `line` of the module, else at that which runs; the first of a line speaks for the others."""
        key = (kind, self.kernel, line or line_in(self.module, sys._getframe()))
        self.messages.setdefault(key, message)
        self.counts[key] = self.counts.get(key, 0) + 1

    def fail(self, message: str) -> None:
        """The launch is broken off. The module may catch that, but what the kernel was to do has not been done."""
        line = line_in(self.module, sys._getframe())
        self.failed.append(Fault(FaultKind.CRASH, self.module, line, self.kernel, message))

    def faults(self) -> Iterator[Fault]:
        """What was noted."""
        for (kind, kernel, line), message in self.messages.items():
            yield Fault(kind, self.module, line, kernel, message, self.counts[kind, kernel, line])


def line_in(module: str, frame: FrameType | None) -> int:
    """The line of `module` that `frame` or the innermost caller of it is at; 0 where there is none."""
    while frame is not None:
        if frame.f_code.co_filename == module:
            return frame.f_lineno
        frame = frame.f_back
    return 0

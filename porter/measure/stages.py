"""Counts where the time of a migration goes, in seconds of the wall clock."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from enum import StrEnum


class Stage(StrEnum):
    """The kinds of work in a migration; no two are done at once."""

    LIFT = "lift"  # an operator is executed on symbols, and its formula read off
    PROVE = "prove"  # the port is written, built and executed on the CPU
    BUILD = "build"  # what runs on the device is compiled
    WAIT = "wait"  # others have the device
    CHECK = "check"  # answers on the device and graphs made there, beside others who do the same
    TIME = "time"  # alone with the device
    SEARCH = "search"  # for a better port, whatever of the above it takes


class Stages:
    """`seconds` of each stage so far; stages that never began are not in it."""

    def __init__(self) -> None:
        self.seconds: dict[Stage, float] = {}

    @contextmanager
    def of(self, stage: Stage) -> Iterator[None]:
        """Counts the time of the block for `stage`."""
        begin = time.monotonic()
        try:
            yield
        finally:
            self.seconds[stage] = self.seconds.get(stage, 0.0) + time.monotonic() - begin

    @contextmanager
    def holding(self, lock: AbstractContextManager[None], stage: Stage) -> Iterator[None]:
        """Waits for `lock`, which is held for `stage`."""
        with ExitStack() as held:
            with self.of(Stage.WAIT):
                held.enter_context(lock)
            with self.of(stage):
                yield

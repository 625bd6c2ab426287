"""Builds CUDA and MACA sources, and executes them on the CPU."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from porter.contract.model.contract import EntryKind
from porter.execution.job import (
    BuildRequest,
    Built,
    DeviceProgram,
    Executable,
    Execute,
    Fault,
    HardwareLimits,
    Job,
    Limits,
    Run,
)
from porter.execution.known_runs import KnownRuns
from porter.measure.deadline import OutOfTime
from porter.simt.build import build
from porter.simt.compiler import end_calls
from porter.simt.planned_run import PlannedExecutable
from porter.simt.run import run
from porter.simt.sample import SampledCall

CUDA_WARP_SIZE = 32
_BUILDERS = 2
# How much longer than its processor time a run may take: what the machine does besides must not end it.
_WAITING = 6
# The part of it that a program may use: it is run five times and more, and its kernels by themselves take less.
_PART_OF_PROGRAM = 0.4
BRIEF_S = 0.25  # a run at drafted sizes takes milliseconds; those of a slow original stop settling its contract later


@dataclass(frozen=True)
class Bench:
    """Builds several sources at once, caches builds by content, and runs them within `limits`."""

    cache: Path
    limits: Limits
    pool: Executor
    known: KnownRuns = field(default_factory=KnownRuns)

    def begin(self, request: BuildRequest) -> Future[tuple[Built, ...]]:
        """Starts the build of `request`."""
        return self.pool.submit(build, request, self.cache)

    def execute(self, executable: Executable, hardware: HardwareLimits | None = None) -> Execute:
        """Returns a function that runs jobs on `executable`, on a device with the limits of `hardware`."""

        def run_job(job: Job) -> Run:
            return run(executable, job if hardware is None else replace(job, hardware=hardware), self.limits)

        return run_job

    def original(self, executable: Executable) -> Execute:
        """Returns what `execute` does, for an original: its earlier runs are known, except those of whole programs."""
        execute = self.execute(executable)
        if executable.callee.entry.kind is EntryKind.PROGRAM:
            return execute

        def run_unless_known(job: Job) -> Run:
            return self.known.get(executable, job, self.limits, lambda: execute(job))

        return run_unless_known

    def briefly(self, executable: Executable) -> Execute:
        """Returns what `execute` does, for runs that are of no use when they take long."""
        return self.within(BRIEF_S).original(executable)

    def program(self, executable: Executable) -> Execute:
        """Returns what `execute` does, for a whole program; its kernels can be run in its place."""
        return self.within(_PART_OF_PROGRAM * self.limits.cpu_s).execute(executable)

    def within(self, cpu_s: float) -> Bench:
        """Returns a bench whose runs may use so much processor time, or what its own may, where that is less."""
        return replace(self, limits=limits(min(cpu_s, self.limits.cpu_s)))

    def planned(
        self, executable: Executable, device: DeviceProgram, hardware: HardwareLimits, permitted: frozenset[str]
    ) -> PlannedRuns:
        """Returns runs of what plans and is carried out by `device`; `permitted` are operators of the library."""
        return PlannedRuns(PlannedExecutable(executable, device, self.limits, permitted), hardware)


@dataclass(frozen=True)
class PlannedRuns:
    """Runs of an executable whose host code plans, on a device with the limits of `hardware`."""

    planned: PlannedExecutable
    hardware: HardwareLimits

    def execute(self, job: Job) -> Run:
        """Returns what came of a job."""
        return self.planned.execute(replace(job, hardware=self.hardware))

    def rehearse(self, job: Job) -> Run:
        """Returns what host code alone does."""
        return self.planned.rehearse(replace(job, hardware=self.hardware))

    def sample(self, job: Job) -> SampledCall:
        """Returns what a block of each launch does; raises `PlanError`."""
        return self.planned.sample(replace(job, hardware=self.hardware))

    def conclude(self) -> tuple[Fault, ...]:
        """Returns what all runs together show."""
        return self.planned.concluded()


def limits(time_limit_s: float) -> Limits:
    """Returns the limits of a run that may use `time_limit_s` of processor time."""
    return Limits(cpu_s=time_limit_s, wall_s=_WAITING * time_limit_s)


@contextmanager
def bench(
    cache: Path, time_limit_s: float, builders: int = _BUILDERS, known: KnownRuns | None = None
) -> Iterator[Bench]:
    """Yields a bench whose runs may use `time_limit_s` of processor time, with up to `builders` builds at once.

    Runs of originals that are `known` are not made again. At the end, builds that have not begun are dropped, and
    running ones are ended.
    """
    pool = ThreadPoolExecutor(builders)
    try:
        yield Bench(cache, limits(time_limit_s), pool, KnownRuns() if known is None else known)
    except (KeyboardInterrupt, OutOfTime):
        end_calls()
        raise
    finally:
        pool.shutdown(cancel_futures=True)

"""Runs a job by plan and replay: host code plans in one process, another one carries the plan out on the contents.

The planning process has no contents, and no code of kernels; the other one no host code. What host code reads from the
device ends it: the plan so far is carried out, and it is started again with the answer. Both are the same in every run,
so it comes to the same place. Many numbers that it reads may change nothing of what it asks afterwards: it is planned
again with others.
"""

from __future__ import annotations

import os
import random
import struct
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from porter.contract.contract import EntryKind
from porter.launch_plan.normal import same_work
from porter.launch_plan.steps import Free, LaunchPlan
from porter.simt.elf import read_elf
from porter.simt.job import DeviceProgram, Executable, Fault, FaultKind, Job, Limits, Run, unlaunchable
from porter.simt.plan_protocol import PlanError, Planned, read_plan, write_plan
from porter.simt.protocol import contents, encode_planning_job, encode_replaying_job
from porter.simt.run import SNAPSHOT_BYTES, Left, fatal, faults_of, left_by, not_started, run_of

_ASKS = 75  # how a planning process ends that waits for an answer
MOST_READS = 64
A_FEW_BYTES = 64  # of the device that host code may read in a job and decide by
_DRAWS = 2


def run_planned(executable: Executable, device: DeviceProgram, job: Job, limits: Limits | None = None) -> Run:
    """What came of `job`, as `run` has it."""
    if refused := unlaunchable(job):
        return not_started(fatal(FaultKind.LAUNCH, refused))
    with suppress(OSError):  # a cache that this user only reads
        for path in (executable.path, device.path):
            os.utime(Path(path).parent)
    return _PlannedRun(executable, device, job, limits or Limits()).run()


@dataclass(frozen=True)
class _PlannedRun:
    executable: Executable
    device: DeviceProgram
    job: Job
    limits: Limits

    def run(self) -> Run:
        try:
            return self._run([])
        except PlanError as error:
            return not_started(fatal(FaultKind.UNKNOWN, str(error)))

    def _run(self, answers: list[bytes]) -> Run:
        seconds = 0.0
        while True:
            planning = self._plan(answers)
            seconds += planning.ended.cpu_s
            planned = read_plan(planning.decoded.steps, read_elf(self.executable.path))
            asks = planning.decoded.exit_code == _ASKS and not any(f.fatal for f in planning.decoded.faults)
            if not asks and not planning.decoded.finished:
                return self._whole(planning, planned, answers, not_started())
            replaying = self._replay(planned)
            seconds += replaying.ended.cpu_s
            replayed = run_of(self.executable.request, self.device.path, self.job, replaying, self.limits)
            if not asks or not replayed.finished:
                return self._whole(planning, planned, answers, replace(replayed, seconds=seconds))
            if len(answers) == MOST_READS:
                return not_started(
                    fatal(FaultKind.UNKNOWN, f"the host reads from the device more than {MOST_READS} times")
                )
            answers.append(replaying.decoded.reads[len(answers)])

    def _plan(self, answers: Sequence[bytes]) -> Left:
        calls = 2 if self.job.before else 1
        encoded = encode_planning_job(self.job, self.limits, self.executable.index, calls, answers)
        return left_by(self.executable.path, encoded, self.limits)

    def _replay(self, planned: Planned) -> Left:
        kernels = {name: number for number, name in enumerate(self.device.kernels)}
        first, later = (
            (self.job.before, (contents(self.job.arguments),)) if self.job.before else (self.job.arguments, ())
        )
        plan = write_plan(planned.calls, later, kernels, read_elf(self.device.path))
        given = replace(self.job, arguments=first)
        program = self.executable.callee.entry.kind is EntryKind.PROGRAM
        encoded = encode_replaying_job(given, self.limits, SNAPSHOT_BYTES if program else 0, plan)
        return left_by(self.device.path, encoded, self.limits)

    def _whole(self, planning: Left, planned: Planned, answers: Sequence[bytes], replayed: Run) -> Run:
        """The run as the user sees it: what the host printed and noted, and what the device did."""
        noted = faults_of(self.executable.request, self.executable.path, planning, self.limits)
        results = iter(replayed.results)
        returned = (value if value is not None else next(results, None) for value in planned.returned)
        faults = (*noted, *replayed.faults)
        if replayed.finished and (read := self._follows_reads(planned, answers)):
            faults = (*faults, read)
        return replace(
            replayed,
            exit_code=(planning.decoded.exit_code or 0) if replayed.finished else replayed.exit_code,
            results=tuple(value for value in returned if value is not None),
            faults=faults,
            stdout=planning.stdout + replayed.stdout,
            stderr=planning.stderr + replayed.stderr,
        )

    def _follows_reads(self, planned: Planned, answers: Sequence[bytes]) -> Fault | None:
        """The fault of host code that asks otherwise where it reads other numbers, and has read more than a few."""
        read = sum(map(len, answers))
        if read <= A_FEW_BYTES:
            return None
        chance = random.SystemRandom()
        for _ in range(_DRAWS):
            other = self._plan([_drawn(answer, chance) for answer in answers])
            steps = read_plan(other.decoded.steps, read_elf(self.executable.path))
            if not other.decoded.finished or not _alike(planned.calls, steps.calls):
                message = f"host code reads {read} bytes of the device, and what it asks for then depends on them"
                return Fault(FaultKind.HOST_WORK, "", 0, "", message)
        return None


def _drawn(answer: bytes, chance: random.SystemRandom) -> bytes:
    """Words of `answer` drawn at random: what it said is lost, what kind of numbers it has is not."""
    words = [answer[i : i + 4] for i in range(0, len(answer) - 3, 4)]
    drawn = b"".join(_moved(chance.choice(words), chance) for _ in words)
    return drawn + answer[len(drawn) :]


def _moved(word: bytes, chance: random.SystemRandom) -> bytes:
    (number,) = struct.unpack("<I", word)
    return struct.pack("<I", number ^ chance.getrandbits(8))


def _alike(calls: Sequence[LaunchPlan], others: Sequence[LaunchPlan]) -> bool:
    return len(calls) == len(others) and all(map(same_work, map(_lasting, calls), map(_lasting, others)))


def _lasting(plan: LaunchPlan) -> LaunchPlan:
    """The plan without what gives memory back, which a host that ends early does not."""
    return replace(plan, steps=tuple(step for step in plan.steps if not isinstance(step, Free)))

"""Runs a job by plan and replay: host code plans in one process, another one carries the plan out on the contents.

The planning process has no contents, and no code of kernels; the other one no host code. What host code reads from the
device ends it: the plan so far is carried out, and it is started again with the answer. Both are the same in every run,
so it comes to the same place. Many numbers that it reads may change nothing of what it asks afterwards: it is planned
again with others.

What host code may ask of a machine is that of the executor in one schedule and that of a real device in the others, so
that what it does on either is carried out. Later calls than the second are planned, too, and carried out where they ask
otherwise.
"""

from __future__ import annotations

import hashlib
import os
import random
import struct
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from math import prod
from pathlib import Path

from porter.branch_coverage import BranchCoverage
from porter.contract.model.contract import EntryKind
from porter.execution.job import (
    DeviceProgram,
    Executable,
    Fault,
    FaultKind,
    Job,
    Limits,
    Run,
    Schedule,
    Value,
    unlaunchable,
)
from porter.launch_plan.library_work import LibraryWork, PlanRefusedError
from porter.launch_plan.normal import same_work
from porter.launch_plan.steps import (
    Allocate,
    Compute,
    Constant,
    Fill,
    Free,
    Input,
    Launch,
    LaunchPlan,
    Move,
    Read,
    Return,
    Step,
    TensorView,
    Variable,
)
from porter.launch_plan.views import item_bytes, made, used
from porter.simt.elf import read_elf
from porter.simt.grids import fewest_that_shrink
from porter.simt.launched import Launched
from porter.simt.plan_protocol import PlanError, Planned, read_plan, write_plan
from porter.simt.protocol import (
    EMULATED,
    Machine,
    contents,
    encode_planning_job,
    encode_replaying_job,
    encode_sampling_job,
)
from porter.simt.run import SNAPSHOT_BYTES, Left, coverage_by, fatal, faults_of, left_by, not_started, place_of, run_of
from porter.simt.sample import SampledCall, SampledLaunch
from porter.simt.stream_order import latest_first
from porter.simt.unit import OUTSIDE

_SAMPLED = (Input, Allocate, Free, Variable, Constant, Launch)
_ASKS = 75  # how a planning process ends that waits for an answer
MOST_READS = 64
A_FEW_BYTES = 64  # of the device that host code may read in a job and decide by
MANY_CALLS = 32
_COUNTING_S = 0.5  # of processor time that carrying out later calls may take, so that a kernel which counts them shows
_DRAWS = (0.0, 0.125)  # of the words that were read, the part that other answers are made of; one at the least
_MOST_COMPARED = 20_000  # steps of later calls
_MOST_TIMES = 4  # as much processor time as one run may use may all runs for one job
_BASES = (0x7A00_0000_0000, 0x7B00_0000_0000, 1 << 38)  # where drivers put device memory: from, to, step
_MULTIPROCESSORS, _DEVICE_BYTES = 104, 64 << 30  # of a MetaX C500
_NOW_US = 1_790_000_000_000_000


@dataclass(frozen=True)
class PlannedExecutable:
    """An executable that plans, and `device`, which carries plans out.

    `permitted` are the operators of the library that its original's own host code applies.
    `launched` is what its jobs launched, `decoys` whether the answers of jobs stayed as they were when none of their
    kernels was launched.
    """

    executable: Executable
    device: DeviceProgram
    limits: Limits
    permitted: frozenset[str] = frozenset()
    launched: Launched = field(default_factory=Launched)
    decoys: list[bool] = field(default_factory=list)

    def execute(self, job: Job) -> Run:
        """Returns what came of `job`, as `run` has it."""
        if refused := unlaunchable(job):
            return not_started(fatal(FaultKind.LAUNCH, refused))
        with suppress(OSError):  # a cache that this user only reads
            for path in (self.executable.path, self.device.path):
                os.utime(Path(path).parent)
        try:
            run = self._run(job, _machine(job))
            found = run.run(self.decoys if all(self.decoys) else None)
        except PlanError as error:
            return not_started(fatal(FaultKind.UNKNOWN, str(error)))
        self.launched.add(run.launched)
        return found

    def plan(self, job: Job) -> Planned:
        """Returns what host code asks for, up to the first number that it reads from the device; raises `PlanError`."""
        run = self._run(job, _machine(job))
        return run.planned()

    def concluded(self) -> tuple[Fault, ...]:
        """Returns what all jobs together show."""
        message = "every result is the same when none of its kernels is launched"
        return (Fault(FaultKind.DECOY, "", 0, "", message),) if self.decoys and all(self.decoys) else ()

    def rehearse(self, job: Job) -> Run:
        """Returns what host code asks for at sizes that nothing is executed at; its faults tell of launches that never
        were.

        The call before, which has the arguments `before`, shows where grids stop growing.
        """
        try:
            noted, launches, reads, coverage = self._rehearsed(replace(job, before=()))
        except PlanError as error:
            return not_started(fatal(FaultKind.UNKNOWN, str(error)))
        unknown = self.launched.unlike(launches)
        unknown += [f"numbers that host code reads are taken as zero ({reads} times)"] if reads else []
        told = [Fault(FaultKind.UNKNOWN, "", 0, "", message) for message in unknown]
        stopping = self.launched.stopping(launches, fewest_that_shrink(job.before, job.arguments))
        told += [Fault(FaultKind.STOPPED, "", 0, "", message) for message in stopping]
        return replace(not_started(*noted, *told), coverage=coverage)

    def sample(self, job: Job) -> SampledCall:
        """Returns what the middle block of each launch of a call does, on tensors without contents; raises `PlanError`.

        Numbers that host code reads from the device are zero.
        """
        alone = replace(job, before=(), schedule=Schedule.SHUFFLED)
        return self._run(alone, _machine(alone)).sampled()

    def _rehearsed(self, job: Job) -> tuple[tuple[Fault, ...], list[Launch], int, BranchCoverage]:
        return self._run(job, _machine(replace(job, schedule=Schedule.SHUFFLED))).rehearsed()

    def _run(self, job: Job, machine: Machine) -> _PlannedRun:
        calls = (job.before, job.arguments) if job.before else (job.arguments,)
        return _PlannedRun(self.executable, self.device, job, self.limits, calls, machine, self.permitted)


def calls_outside(planning: Executable) -> list[str]:
    """Returns what host code calls that no launch needs, as C++ spells it."""
    return Path(planning.path).with_name(OUTSIDE).read_text().splitlines()


def _machine(job: Job) -> Machine:
    """The machine that host code meets: another one for each job, but the same whenever it is run again."""
    if job.schedule is Schedule.FORWARD:
        return EMULATED
    chance = random.Random(hashlib.sha256(contents(job.arguments)).digest())
    return Machine(
        memory_base=chance.randrange(*_BASES),
        memory_bytes=_DEVICE_BYTES,
        event_ms=chance.uniform(0.01, 0.5),
        clock_us=_NOW_US + chance.randrange(1 << 48),
        tick_us=chance.randrange(2, 50),
        multiprocessors=_MULTIPROCESSORS,
        chance=chance.randrange(1, 1 << 64),
    )


@dataclass(frozen=True, slots=True)
class _Answered:
    """The plans of all calls, what host code read on the way, and the run of the device."""

    planning: Left
    planned: Planned
    answers: tuple[bytes, ...]
    replayed: Run


@dataclass(frozen=True, slots=True)
class _LibraryWork:
    """Follows what operators of the library are used for that they must not be, and whether host code looked at it."""

    faults: tuple[Fault, ...]
    looked: bool


@dataclass(frozen=True)
class _PlannedRun:
    """One job; `calls` are the arguments of each of its calls. `spent_s` is the processor time of its processes.

    `launched` are the launches that were carried out.
    """

    executable: Executable
    device: DeviceProgram
    job: Job
    limits: Limits
    calls: tuple[tuple[Value, ...], ...]
    machine: Machine
    permitted: frozenset[str]
    spent_s: list[float] = field(default_factory=list)
    launched: list[Launch] = field(default_factory=list)

    def planned(self) -> Planned:
        """Returns the plans of all calls. Raises `PlanError`, also with what ended host code before them."""
        planning = self._plan(len(self.calls), [])
        if not planning.decoded.finished and planning.decoded.exit_code != _ASKS:
            noted = faults_of(self.executable.request, self.executable.path, planning, self.limits)
            raise PlanError(_ended(noted))
        return self._read(planning)

    def rehearsed(self) -> tuple[tuple[Fault, ...], list[Launch], int, BranchCoverage]:
        """Returns what planning notes, its launches, how many reads were answered by zeros, and the branches taken."""
        answers = list[bytes]()
        while True:
            planning = self._plan(1, answers)
            planned = self._read(planning)
            steps = [step for plan in planned.calls for step in plan.steps]
            noted = faults_of(self.executable.request, self.executable.path, planning, self.limits)
            noted += self._library(planned).faults
            reads = [step for step in steps if isinstance(step, Read)]
            if planning.decoded.exit_code != _ASKS or len(answers) == MOST_READS or len(reads) <= len(answers):
                taken = coverage_by(self.executable.sides, planning.decoded)
                return noted, [step for step in steps if isinstance(step, Launch)], len(answers), taken
            answers.append(bytes(reads[len(answers)].source.shape[0]))

    def sampled(self) -> SampledCall:
        """Returns a sample of each launch that host code plans when all numbers that it reads are zero."""
        answers = list[bytes]()
        while True:
            planning = self._plan(1, answers)
            planned = self._read(planning)
            reads = [step for plan in planned.calls for step in plan.steps if isinstance(step, Read)]
            if planning.decoded.exit_code != _ASKS or len(answers) == MOST_READS or len(reads) <= len(answers):
                break
            answers.append(bytes(reads[len(answers)].source.shape[0]))
        if not planning.decoded.finished:
            raise PlanError(_ended(faults_of(self.executable.request, self.executable.path, planning, self.limits)))
        steps = [step for plan in planned.calls for step in plan.steps]
        if work := next((step for step in steps if isinstance(step, Compute)), None):
            raise PlanError(f"the library's `{work.operator}` makes a part of the result, and has no sample")
        kept = LaunchPlan(tuple(step for step in steps if isinstance(step, _SAMPLED)))
        job = encode_sampling_job(self.job, self.limits, self._written(replace(planned, calls=(kept,))), self.machine)
        left = self._left(self.device.path, job)
        if not left.decoded.finished:
            raise PlanError(_ended(faults_of(self.executable.request, self.device.path, left, self.limits)))
        return _sampled_call(left, steps)

    def run(self, decoys: list[bool] | None = None) -> Run:
        """Returns what came of it; `decoys` are told whether it hangs on launches. Raises `PlanError` for what is no
        plan.
        """
        found = self._answered()
        run = self._whole(found)
        if not run.finished:
            return run
        if decoys is not None and self.launched and any(t.storage.size for t in (*run.outputs, *run.results)):
            decoys.append(self._is_same_without_launches(found))
        if read := self._follows_reads(found):
            return replace(run, faults=(*run.faults, read))
        if len(self.calls) > 1 and (count := self._further(found)):
            later = replace(self, calls=tuple(self.calls[::-1][i % 2] for i in reversed(range(count))))
            return later._whole(later._answered())
        return run

    def _answered(self) -> _Answered:
        """Plans, carries out and answers until host code asks for nothing more."""
        answers: list[bytes] = []
        while True:
            planning = self._plan(len(self.calls), answers)
            planned = self._read(planning)
            asks = planning.decoded.exit_code == _ASKS and not any(f.fatal for f in planning.decoded.faults)
            if not asks and not planning.decoded.finished:
                return _Answered(planning, planned, tuple(answers), not_started())
            replaying = self._replay(planned)
            replayed = run_of(self.executable.request, self.device.path, self.job, replaying, self.limits)
            replayed = replace(replayed, coverage=coverage_by(self.device.sides, replaying.decoded))
            if not asks or not replayed.finished:
                self.launched.extend(launch for plan in planned.calls for launch in plan.launches)
                return _Answered(planning, planned, tuple(answers), replayed)
            if len(answers) == MOST_READS:
                raise PlanError(f"host code reads from the device more than {MOST_READS} times")
            if len(replaying.decoded.reads) <= len(answers):
                raise PlanError("host code waits for an answer to a question that it never asked")
            answers.append(replaying.decoded.reads[len(answers)])

    def _is_same_without_launches(self, found: _Answered) -> bool:
        bare = (replace(p, steps=tuple(s for s in p.steps if not isinstance(s, Launch))) for p in found.planned.calls)
        left = self._replay(replace(found.planned, calls=tuple(bare)))
        run = run_of(self.executable.request, self.device.path, self.job, left, self.limits)
        pairs = zip((*run.outputs, *run.results), (*found.replayed.outputs, *found.replayed.results), strict=False)
        return run.finished and all(a.storage.tobytes() == b.storage.tobytes() for a, b in pairs)

    def _plan(self, calls: int, answers: Sequence[bytes]) -> Left:
        index = self.executable.index
        encoded = encode_planning_job(self.job, self.limits, index, calls, answers, self.machine)
        return self._left(self.executable.path, encoded)

    def _read(self, planning: Left) -> Planned:
        return read_plan(planning.decoded.steps, read_elf(self.executable.path), self.machine.memory_base)

    def _replay(self, planned: Planned) -> Left:
        program = self.executable.callee.entry.kind is EntryKind.PROGRAM
        snapshot_bytes = SNAPSHOT_BYTES if program else 0
        given = replace(self.job, arguments=self.calls[0])
        plan = self._written(planned)
        return self._left(
            self.device.path, encode_replaying_job(given, self.limits, snapshot_bytes, plan, self.machine)
        )

    def _written(self, planned: Planned) -> bytes:
        """The plans as the device's part reads them."""
        kernels = {name: number for number, name in enumerate(self.device.kernels)}
        symbols = read_elf(self.device.path).variables
        own, others = (
            {name: symbols[name] for name in names if name in symbols}
            for names in (self.device.variables, self.device.others)
        )
        calls = planned.calls
        if self.job.schedule is not Schedule.FORWARD:  # a device does what its streams allow in any order
            calls = tuple(map(latest_first, calls, planned.orders))
        return write_plan(calls, [contents(given) for given in self.calls[1:]], kernels, own, others)

    def _left(self, program: str, job: bytes) -> Left:
        left = left_by(program, job, self.limits)
        self.spent_s.append(left.ended.cpu_s)
        if sum(self.spent_s) > _MOST_TIMES * self.limits.cpu_s:
            raise PlanError("host code reads so often that carrying its plan out takes too long")
        return left

    def _whole(self, found: _Answered) -> Run:
        """The run as the user sees it: what the host printed and noted, and what the device did."""
        noted = faults_of(self.executable.request, self.executable.path, found.planning, self.limits)
        noted += self._library(found.planned).faults
        replayed, host = found.replayed, found.planning
        results = iter(replayed.results)
        returned = (value if value is not None else next(results, None) for value in found.planned.returned)
        return replace(
            replayed,
            coverage=replayed.coverage | coverage_by(self.executable.sides, host.decoded),
            exit_code=(host.decoded.exit_code or 0) if replayed.finished else replayed.exit_code,
            results=tuple(value for value in returned if value is not None),
            faults=(*noted, *replayed.faults),
            stdout=host.stdout + replayed.stdout,
            stderr=host.stderr + replayed.stderr,
            seconds=sum(self.spent_s),
        )

    def _library(self, planned: Planned) -> _LibraryWork:
        """Returns what operators of the library are used for."""
        work, looked = LibraryWork(self.permitted), False
        try:
            for step in (step for plan in planned.calls for step in plan.steps):
                work.check(step)
                looked |= isinstance(step, Read) and work.is_handed_on(step)
                work.follow(step)
        except PlanRefusedError as error:
            frames = planned.places[error.line - 1] if error.line else ()
            place = place_of(self.executable.request, self.executable.path, frames)
            return _LibraryWork((Fault(error.kind, place.file, place.line, "", error.message),), looked)
        return _LibraryWork((), looked)

    def _follows_reads(self, found: _Answered) -> Fault | None:
        """The fault of host code that asks otherwise where it reads other numbers, and has read more than a few.

        Of what only an operator of the library made, any number is too much.
        """
        read = sum(map(len, found.answers))
        if read <= A_FEW_BYTES and not self._library(found.planned).looked:
            return None
        chance = random.SystemRandom()
        for part in _DRAWS:
            answers = [_drawn(answer, int(part * len(answer) / 4), chance) for answer in found.answers]
            other = self._plan(len(self.calls), answers)
            if not other.decoded.finished or not _alike(found.planned.calls, self._read(other).calls):
                message = f"host code reads {read} bytes of the device, and what it asks for then depends on them"
                return Fault(FaultKind.HOST_WORK, "", 0, "", message)
        return None

    def _further(self, found: _Answered) -> int:
        """Returns how many calls have to be carried out, the last of which tells; 0 for no more than the first two.

        These are as many as come to the first that asks for what neither of them did; and many where memory of the
        device lasts, for then a kernel may count them.
        """
        if other := self._unlike(found):
            return other
        if not (self.device.variables or _uses_kept(found.planned.calls[-1])):
            return 0
        reads = any(isinstance(step, Read) for plan in found.planned.calls for step in plan.steps)
        replay_s = max(found.replayed.seconds, 0.001)
        return 4 if reads else max(4, min(MANY_CALLS, int(_COUNTING_S / replay_s)))

    def _unlike(self, found: _Answered) -> int:
        """The number of the first call, counted from 1, that asks for what neither of the first two did; 0 for none."""
        second = _inputs(found.planned.calls[-1])
        known = [_asked(plan, second) for plan in found.planned.calls]
        steps = max(len(plan.steps) for plan in known)
        count = min(MANY_CALLS, max(_MOST_COMPARED // max(steps, 1), len(known)))
        read = sum(isinstance(step, Read) for step in known[-1].steps)
        again = found.answers[len(found.answers) - read :] * (count - len(known))
        many = self._plan(count, [*found.answers, *again])
        plans = [_asked(plan, second) for plan in self._read(many).calls]
        whole = plans if many.decoded.finished else plans[:-1]
        for number, plan in enumerate(whole):
            if not any(same_work(plan, other) for other in known):
                return number + 1
        return 0 if many.decoded.finished else len(plans)


def _ended(noted: Sequence[Fault]) -> str:
    """Says what ended a process."""
    return next((fault.message for fault in noted[::-1]), "the call did not end")


def _size(view: TensorView) -> int:
    return prod(view.shape) * item_bytes(view.dtype)


def _sampled_call(left: Left, steps: Sequence[Step]) -> SampledCall:
    if len(left.decoded.launches) != len(left.decoded.samples):
        raise PlanError("not every launch has a sample")
    pairs = zip(left.decoded.launches, left.decoded.samples, strict=True)
    launches = tuple(SampledLaunch(one.kernel, one.grid, prod(one.block), block) for one, block in pairs)
    copied = tuple(
        _size(step.to) * (2 if isinstance(step, Move) else 1) for step in steps if isinstance(step, (Move, Fill))
    )
    returned = (view for step in steps if isinstance(step, Return) for view in step.results)
    returned_bytes = sum(_size(v) for v in returned if isinstance(v, TensorView))
    return SampledCall(launches, copied, returned_bytes)


def _drawn(answer: bytes, kept: int, chance: random.SystemRandom) -> bytes:
    """`kept` words of `answer` at random places: what it said is lost, what kind of numbers it has is not."""
    words = [answer[i : i + 4] for i in range(0, len(answer) - 3, 4)]
    few = [chance.choice(words) for _ in range(max(kept, 1))] if words else []
    drawn = b"".join(_moved(chance.choice(few), chance) for _ in words)
    return drawn + answer[len(drawn) :]


def _moved(word: bytes, chance: random.SystemRandom) -> bytes:
    (number,) = struct.unpack("<I", word)
    return struct.pack("<I", number ^ chance.getrandbits(8))


def _alike(calls: Sequence[LaunchPlan], others: Sequence[LaunchPlan]) -> bool:
    return len(calls) == len(others) and all(map(same_work, map(_lasting, calls), map(_lasting, others)))


def _lasting(plan: LaunchPlan) -> LaunchPlan:
    """The plan without what gives memory back, which a host that ends early does not."""
    return replace(plan, steps=tuple(step for step in plan.steps if not isinstance(step, Free)))


def _asked(plan: LaunchPlan, inputs: tuple[Input, ...]) -> LaunchPlan:
    """The plan without what gives memory back and results, of which only the last of several calls tells.

    `inputs` are those of a call that says nothing of its own: it has them where the one before had them.
    """
    steps = (step for step in plan.steps if not isinstance(step, (Free, Return, Input)))
    return replace(plan, steps=(*(_inputs(plan) or inputs), *steps))


def _inputs(plan: LaunchPlan) -> tuple[Input, ...]:
    return tuple(step for step in plan.steps if isinstance(step, Input))


def _uses_kept(plan: LaunchPlan) -> bool:
    """Returns True where it uses memory that it has not made."""
    own = {buffer for step in plan.steps for buffer in made(step)}
    return any(view.buffer not in own for step in plan.steps for view in used(step))

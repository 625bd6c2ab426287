"""Times a candidate on a device: proves it there, samples it in turn with its baselines, proves the timed runs.

Everything that counts against a candidate is decided here, in the parent: its process gets inputs and gives bytes. The
times it gives are checked against the clock here, too. A measurement is alone with the device only while something is
clocked: arms are made ready before, and most answers are asked for after, while others use the device.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence, Set
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from random import Random

from porter import __version__
from porter.contract.model.contract import Contract, Workload
from porter.contract.workload.bench import footprint, outputs_bytes, used_bytes
from porter.evaluate.model.outcome import Fidelity
from porter.evaluate.model.speed import Baseline, Measured, NotMeasured, Speed
from porter.evaluate.timing.anew import sets_to_look_at, works_less
from porter.evaluate.timing.answers import Answers, differs, fault_of
from porter.evaluate.timing.empty_job import job_of
from porter.evaluate.timing.taking import take_device
from porter.execution.job import DISHONEST, FaultKind, Job, Run
from porter.measure.environment import DeviceState, Environment
from porter.measure.interleave import Interleaved, Stopped, StopRule, interleaved
from porter.measure.lock import seats_for
from porter.measure.stages import Stage, Stages
from porter.native.place import Place
from porter.native.session import CandidateError, Prepared, Session
from porter.native.timed import Timed
from porter.native.versions import commit
from porter.oracle.reference import Expected

_COPIES = 4  # of its arguments: a call's results, and what a reference keeps that is no kernel of one piece
# Of the memory, beside what processes keep that only wait: 24 of 143 GB for 40 of them (H200).
_LEFT = 0.85
# The worker's own times against the clock here: launches are queued, so the device is seldom idle between them.
_KEPT_US, _LEAST_SHARE, _MOST_SHARE = 40_000.0, 0.5, 1.02
# Bytes written over those that a copy moves: nothing is written faster than half of them.
_FASTEST_WRITE = 1.5


class _Unfit(Exception):  # noqa: N818 - no error: a reason to have no time
    """Raised with the reason why a candidate has no time."""


@dataclass(frozen=True)
class Ready:
    """The baselines that can be timed on `given`; a call makes `made_bytes` of outputs. `without` says which cannot.

    `fresh` are the answers to inputs `anew`, which no arm has seen.
    """

    given: Job
    baselines: Mapping[str, Timed]
    without: tuple[str, ...]
    made_bytes: int
    fresh: Expected
    anew: Job


@dataclass(frozen=True)
class _Arms:
    """Holds what is ready to be timed: the candidate `first`, baselines by name; `without` says which are not."""

    first: Prepared
    beside: Mapping[str, Prepared]
    without: tuple[str, ...]

    @property
    def uncaptured(self) -> str:
        """Returns why not all are graphs; empty where they are."""
        return next((arm.uncaptured for arm in (self.first, *self.beside.values()) if arm.uncaptured), "")


@dataclass(frozen=True)
class _Clocked:
    """Holds what was clocked alone on the device, and its `states` before and after samples.

    `again` is what the candidate made of new inputs in one set of buffers, which was clocked, too; None for a loser. It
    is still to be asked in `others`.
    """

    found: Interleaved
    copy_bytes_per_s: float
    states: tuple[DeviceState, DeviceState]
    again: Run | None
    others: tuple[int, ...]


@dataclass(frozen=True)
class _Sampled:
    """The times of the candidate and of the baselines `names`, and their answers to the fresh inputs.

    A candidate that is too slow to be of interest is not asked `again`, nor is a baseline whose answer is known.
    """

    found: Interleaved
    names: tuple[str, ...]
    without: tuple[str, ...]
    uncaptured: str
    copy_bytes_per_s: float
    environment: Environment
    again: tuple[tuple[Run, ...], ...]


@dataclass(frozen=True)
class Stopwatch:
    """Times candidates of one `contract` on the device of `place`; `baselines` are named, the first is the measure.

    `answers` says what is right; `seed` draws the inputs on which what was timed is proven again. One process times all
    candidates. Once the first was right, what is `known` by the names of workloads holds for the rest: only candidates
    of interest are compared, as they were timed, and baselines no more. A baseline that is `too_slow` once, as
    compilers may be, is not tried again: all others wait for it.
    """

    place: Place
    contract: Contract
    answers: Answers
    fidelity: Fidelity
    seed: int = 0
    rule: StopRule = field(default_factory=StopRule)
    known: dict[str, Ready] = field(default_factory=dict)
    stages: Stages = field(default_factory=Stages)
    too_slow: dict[str, str] = field(default_factory=dict)

    @cached_property
    def _draw(self) -> Random:
        return Random(self.seed)

    def time(self, candidate: Timed, workload: Workload, baselines: Mapping[str, Timed]) -> Speed:
        """Times `workload`. Never raises for what a candidate does; raises `MachineError` if the device stays taken."""
        try:
            known = self.known.get(workload.name)
            if known is None:
                self._begin({candidate.session, *(baseline.session for baseline in baselines.values())})
                self._compile(candidate, workload, baselines)
            ready = known or self._checked(candidate, workload, baselines)
            sampled = self._sampled(candidate, workload, ready, whole=known is None)
            return self._measured(workload, ready, sampled)
        except _Unfit as unfit:
            return NotMeasured(workload, self.fidelity, str(unfit))
        except CandidateError as error:
            return NotMeasured(workload, self.fidelity, f"it does not run on the device: {error}")

    def _begin(self, sessions: Set[Session]) -> None:
        """Lets processes that have not taken the device do so."""
        with self.stages.of(Stage.WAIT):
            take_device(self.place, sessions)

    def _compile(self, candidate: Timed, workload: Workload, baselines: Mapping[str, Timed]) -> None:
        """Compiles what baselines compile at their first call, while the device is free for others.

        `torch.compile` took 5.4 of the 8.1 s of a check, and whoever wanted to measure waited for that (H200, 20
        operators at once). What fails here fails again, and is told, when it is called. What takes too long is not.
        """
        lazy = {name: one for name, one in baselines.items() if one.compiles_on_call and name not in self.too_slow}
        with self.stages.of(Stage.BUILD):
            for name, one in lazy.items():
                try:
                    replace(one, session=candidate.session).compile(job_of(self.contract, workload))
                except CandidateError as failed:
                    self._give_up(name, workload, failed.run)

    def _give_up(self, name: str, workload: Workload, run: Run) -> None:
        """Tries a baseline no more that reached the limit of time: others would wait for it again."""
        if any(fault.kind is FaultKind.TIMEOUT for fault in run.faults):
            self.too_slow[name] = f"{fault_of(run)} at '{workload.name}'"

    def _checked(self, candidate: Timed, workload: Workload, baselines: Mapping[str, Timed]) -> Ready:
        seats = seats_for(_COPIES * footprint(self.contract, workload), self.place.device.memory_bytes)
        with self.stages.holding(self.place.lock.shared(seats), Stage.CHECK):
            ready = self._ready(candidate, workload, baselines)
        if self.place.one is not None and not ready.without:
            self.known[workload.name] = ready
        return ready

    def _ready(self, candidate: Timed, workload: Workload, baselines: Mapping[str, Timed]) -> Ready:
        """Brings candidate and baselines into one process, proven right, with all compiled that they launch."""
        given, anew = self.answers.given(workload), replace(workload, seed=self._draw.getrandbits(32))
        others = {baseline.session for baseline in baselines.values()} - {candidate.session}

        def answered() -> Expected:
            """Answers for new inputs, in a process of its own, and then gives its memory back."""
            try:
                return self._expected(anew)
            finally:
                for session in others:
                    session.forget()

        candidate.session.forget()
        with ThreadPoolExecutor(1) as beside:
            right, later = beside.submit(self._expected, workload), beside.submit(answered)
            run = candidate.run(given)
            expected = right.result()
            results = self._proven(candidate, run, expected)
            fresh = later.result()
        here, without = {}, [f"{name}: {why}" for name, why in self.too_slow.items() if name in baselines]
        for name in [name for name in baselines if name not in self.too_slow]:
            moved = replace(baselines[name], session=candidate.session)
            run = moved.run(given)
            self._give_up(name, workload, run)
            if wrong := differs(self.contract, expected, run) if run.finished else fault_of(run):
                without.append(f"{name}: {wrong}")
            else:
                here[name] = moved
        candidate.session.forget()
        made_bytes = outputs_bytes(self.contract, workload) + results
        return Ready(given, here, tuple(without), made_bytes, fresh, self.answers.given(anew))

    def _expected(self, workload: Workload) -> Expected:
        expected = self.answers(workload)
        if isinstance(expected, str):
            raise _Unfit(expected)
        return expected

    def _proven(self, candidate: Timed, run: Run, expected: Expected) -> int:
        """Returns the bytes that a right answer returns."""
        if not run.finished:
            raise _Unfit(f"it does not run on the device: {fault_of(run)}")
        if candidate.is_planned and not run.launches:
            raise _Unfit("it launches no kernel of its own")
        if other := next((fault for fault in run.faults if fault.kind in DISHONEST), None):
            raise _Unfit(other.message)
        if wrong := differs(self.contract, expected, run):
            raise _Unfit(f"its answer on the device differs: {wrong}")
        return sum(result.count * result.dtype.bytes for result in run.results)

    def _sampled(self, candidate: Timed, workload: Workload, ready: Ready, *, whole: bool) -> _Sampled:
        """Returns samples of all arms, and some or all answers to new inputs."""
        with ExitStack() as held:
            with self.stages.of(Stage.WAIT):
                turn = held.enter_context(self.place.lock.turn(self._seats(workload, ready)))
            held.enter_context(_giving_back(candidate))
            with self.stages.of(Stage.CHECK):
                arms = self._arms(candidate, ready)
            with self.stages.of(Stage.WAIT):
                turn.alone()
            with self.stages.of(Stage.TIME):
                clocked = self._clocked(candidate, arms, ready)
            turn.share()
            with self.stages.of(Stage.CHECK):
                again = self._again(candidate, arms, clocked, ready, whole=whole)
                environment = self._environment(candidate, *clocked.states)
        return _Sampled(
            clocked.found, tuple(arms.beside), arms.without, arms.uncaptured, clocked.copy_bytes_per_s, environment,
            again,
        )  # fmt: skip

    def _seats(self, workload: Workload, ready: Ready) -> int:
        """Returns the seats of all arms, each of which keeps its results; one is a reference with memory of its own."""
        given_bytes = footprint(self.contract, workload)
        call_bytes = given_bytes + ready.made_bytes - outputs_bytes(self.contract, workload)
        needed_bytes = len(ready.baselines) * call_bytes + _COPIES * given_bytes
        return seats_for(needed_bytes, int(_LEFT * self.place.device.memory_bytes))

    def _arms(self, candidate: Timed, ready: Ready) -> _Arms:
        """Makes all arms ready, which others may do beside it."""
        first, beside, without = candidate.prepare(ready.given), dict[str, Prepared](), list[str]()
        self._check_work(candidate, first)
        for name, baseline in ready.baselines.items():
            arm = _prepared(baseline, ready.given)
            if isinstance(arm, str):
                without.append(f"{name}: {arm}")
            elif beside and arm.uncaptured and not first.uncaptured:  # else all were timed by calls for its sake
                without.append(f"{name}: its call cannot be captured: {arm.uncaptured}")
            else:
                beside[name] = arm
        return _Arms(first, beside, tuple(without))

    def _clocked(self, candidate: Timed, arms: _Arms, ready: Ready) -> _Clocked:
        """Returns all that is clocked, and so needs the device to itself."""
        captured = not arms.uncaptured
        before = self.place.device.state()
        found = self._interleaved(candidate, 1 + len(arms.beside), captured=captured)
        states = before, self.place.device.state()
        # Not before: right after others gave their memory back it was 9 % less for 18 of 46 operators (H200).
        copy_bytes_per_s = candidate.session.copy_bytes_per_s()
        if found.stopped is Stopped.SLOW:  # nothing more has to be known of a loser
            return _Clocked(found, copy_bytes_per_s, states, None, ())
        self._check_clock(candidate, found, ready.made_bytes, copy_bytes_per_s, captured=captured)
        first, *others = sets_to_look_at(arms.first.sets, ready.made_bytes, self._draw)
        replayed = candidate.replay(arms.first.arm, ready.anew, first)
        if replayed.run.finished:
            us = found.timings[0].median_us
            if told := works_less(candidate, arms.first, us, replayed, (ready.given, ready.anew)):
                raise _Unfit(told)
        return _Clocked(found, copy_bytes_per_s, states, replayed.run, tuple(others))

    def _measured(self, workload: Workload, ready: Ready, sampled: _Sampled) -> Measured:
        """Returns what was sampled, once it is known to have been right on the new inputs."""
        found, names = sampled.found, sampled.names
        wrong = [self._wrong(runs, ready.fresh) for runs in sampled.again]
        wrong += [""] * (1 + len(names) - len(wrong))
        if wrong[0]:
            raise _Unfit(f"the timed calls give another answer on new inputs: {wrong[0]}")
        without = (f"{name}: {why}" for name, why in zip(names, wrong[1:], strict=True) if why)
        right = [(arm, name) for arm, name in enumerate(names, 1) if not wrong[arm]]
        return Measured(
            workload=workload,
            fidelity=self.fidelity,
            timing=found.timings[0],
            baselines=tuple(Baseline(name, found.timings[arm], found.ratio(0, to=arm)) for arm, name in right),
            without=(*ready.without, *sampled.without, *without),
            by_calls=sampled.uncaptured,
            stopped=found.stopped,
            left_out=found.left_out,
            bytes=used_bytes(self.contract, workload) + ready.made_bytes,
            copy_bytes_per_s=sampled.copy_bytes_per_s,
            environment=sampled.environment,
        )

    def _interleaved(self, candidate: Timed, arms: int, *, captured: bool) -> Interleaved:
        def sample(order: Sequence[int]) -> Sequence[float]:
            return candidate.session.sample(tuple(order), captured=captured)

        for _ in range(self.rule.warm_blocks):
            sample(range(arms))
        return interleaved(arms, sample, self.rule, time.monotonic, self.seed)

    def _again(
        self, candidate: Timed, arms: _Arms, clocked: _Clocked, ready: Ready, *, whole: bool
    ) -> tuple[tuple[Run, ...], ...]:
        """Gives new inputs to what was timed, to the baselines only for the `whole`; to nothing for a loser."""
        if clocked.again is None:
            return ()
        own = (clocked.again, *(candidate.replay(arms.first.arm, ready.anew, other).run for other in clocked.others))
        pairs = [(ready.baselines[name], arm) for name, arm in arms.beside.items() if whole]
        return own, *((each.replay(arm.arm, ready.anew, self._draw.randrange(arm.sets)).run,) for each, arm in pairs)

    def _wrong(self, runs: Sequence[Run], fresh: Expected) -> str:
        told = (differs(self.contract, fresh, run) if run.finished else fault_of(run) for run in runs)
        return next(filter(None, told), "")

    def _check_work(self, candidate: Timed, arm: Prepared) -> None:
        """Raises where not the candidate's kernels do its work, or something else goes on beside it."""
        if arm.beside:
            raise _Unfit(f"its process runs {arm.beside} beside what is timed")
        if candidate.is_planned and not arm.uncaptured and not arm.own:
            raise _Unfit(f"no kernel of its own is captured; others: {', '.join(dict.fromkeys(arm.others))}")

    def _check_clock(
        self, candidate: Timed, found: Interleaved, made_bytes: int, copy_bytes_per_s: float, *, captured: bool
    ) -> None:
        """Raises where the times are impossible: the clock here says otherwise, or memory is not that fast."""
        median_us = found.timings[0].median_us
        fastest_us = made_bytes / (_FASTEST_WRITE * copy_bytes_per_s) * 1e6
        if made_bytes > 2 * candidate.session.facts.l2_bytes and median_us < fastest_us:
            raise _Unfit(f"its outputs cannot be written in {median_us:.3g} us; {fastest_us:.3g} us is the least")
        if captured:
            told_us, seen_us = candidate.session.keep(0, round(_KEPT_US / median_us))
            if not _LEAST_SHARE <= told_us / seen_us <= _MOST_SHARE:
                raise _Unfit(f"its process says {told_us:.3g} us a call, the clock outside {seen_us:.3g} us")

    def _environment(self, candidate: Timed, before: DeviceState, after: DeviceState) -> Environment:
        facts = candidate.session.facts
        return Environment(
            device=self.place.device.name,
            uuid=self.place.device.uuid,
            driver=self.place.device.driver(),
            cuda=facts.cuda,
            multiprocessors=facts.multiprocessors,
            l2_bytes=facts.l2_bytes,
            max_sm_clock_mhz=self.place.device.max_sm_clock_mhz(),
            torch=facts.torch,
            triton=facts.triton,
            nvcc=self.place.nvcc_version,
            porter=__version__,
            commit=commit(),
            before=before,
            after=after,
        )


@contextmanager
def _giving_back(candidate: Timed) -> Iterator[None]:
    """Leaves the device's memory free for the next user."""
    try:
        yield
    finally:
        with suppress(CandidateError):
            candidate.session.forget()


def _prepared(baseline: Timed, given: Job) -> Prepared | str:
    """Prepares the baseline's arm, or says why there is none. Raises `CandidateError` where all arms are lost."""
    try:
        return baseline.prepare(given)
    except CandidateError as error:
        if not baseline.session.is_ready:
            raise
        return str(error)

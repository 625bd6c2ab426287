"""A candidate timed on a device: proven there, sampled in turn with its baselines, proven again by what was timed.

What is held against it is decided here, in the parent: its process gets inputs and gives bytes. The times it gives are
held against the clock here, too.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random

from porter import __version__
from porter.contract.bench import outputs_bytes, used_bytes
from porter.contract.contract import Contract, Workload
from porter.evaluate.answers import Answers, differs, fault_of
from porter.evaluate.outcome import Fidelity
from porter.evaluate.speed import Baseline, Measured, NotMeasured, Speed
from porter.measure.environment import DeviceState, Environment
from porter.measure.interleave import Interleaved, StopRule, interleaved
from porter.native.place import Place
from porter.native.requests import ModuleEntry
from porter.native.session import CandidateError, Prepared
from porter.native.timed import Timed
from porter.native.versions import commit
from porter.oracle.reference import Expected
from porter.simt.job import Job

_WARM_BLOCKS = 5
# The worker's own times against the clock here: launches are queued, so the device is seldom idle between them.
_KEPT_US, _LEAST_SHARE, _MOST_SHARE = 40_000.0, 0.5, 1.02
# Bytes written over those that a copy moves: nothing is written faster than half of them.
_FASTEST_WRITE = 1.5


class _Unfit(Exception):  # noqa: N818 - no error: a reason to have no time
    """Why a candidate has no time."""


@dataclass(frozen=True)
class _Ready:
    """What can be timed on `given`; a call makes `made_bytes` of outputs. `without` says which baselines cannot."""

    given: Job
    baselines: Mapping[str, Timed]
    without: tuple[str, ...]
    made_bytes: int


@dataclass(frozen=True)
class Stopwatch:
    """Times candidates of one `contract` on the device of `place`; `baselines` are named, the first is the measure.

    `answers` says what is right; `seed` draws the inputs on which what was timed is proven again.
    """

    place: Place
    contract: Contract
    answers: Answers
    fidelity: Fidelity
    seed: int = 0
    rule: StopRule = field(default_factory=StopRule)

    def time(self, candidate: Timed, workload: Workload, baselines: Mapping[str, Timed]) -> Speed:
        """The times of `workload`. Never raises for anything a candidate does; `MachineError` where others hold on."""
        try:
            with self.place.lock.shared():
                ready = self._ready(candidate, workload, baselines)
            with self.place.lock.alone():
                return self._measured(candidate, workload, ready)
        except _Unfit as unfit:
            return NotMeasured(workload, self.fidelity, str(unfit))
        except CandidateError as error:
            return NotMeasured(workload, self.fidelity, f"it does not run on the device: {error}")

    def _ready(self, candidate: Timed, workload: Workload, baselines: Mapping[str, Timed]) -> _Ready:
        """Candidate and baselines, in one process, right and with all compiled that they launch."""
        expected = self.answers(workload)
        if isinstance(expected, str):
            raise _Unfit(expected)
        given = expected.job(self.contract)
        results = self._proven(candidate, given, expected)
        here, without = {}, []
        for name, baseline in baselines.items():
            baseline.session.forget()
            moved = replace(baseline, session=candidate.session)
            run = moved.run(given)
            if wrong := differs(self.contract, expected, run) if run.finished else fault_of(run):
                without.append(f"{name}: {wrong}")
            else:
                here[name] = moved
        candidate.session.forget()
        return _Ready(given, here, tuple(without), outputs_bytes(self.contract, workload) + results)

    def _proven(self, candidate: Timed, given: Job, expected: Expected) -> int:
        """The bytes that a right answer returns."""
        run = candidate.run(given)
        if not run.finished:
            raise _Unfit(f"it does not run on the device: {fault_of(run)}")
        if isinstance(candidate.entry, ModuleEntry) and not run.launches:
            raise _Unfit("it launches no kernel of its own")
        if wrong := differs(self.contract, expected, run):
            raise _Unfit(f"its answer on the device differs: {wrong}")
        return sum(result.count * result.dtype.bytes for result in run.results)

    def _measured(self, candidate: Timed, workload: Workload, ready: _Ready) -> Measured:
        arms = [candidate.prepare(ready.given)]
        self._check_work(candidate, arms[0])
        beside: dict[str, Prepared] = {}
        without = list(ready.without)
        for name, baseline in ready.baselines.items():
            arm = _prepared(baseline, ready.given)
            if isinstance(arm, str):
                without.append(f"{name}: {arm}")
            elif beside and arm.uncaptured and not arms[0].uncaptured:  # else all were timed by calls for its sake
                without.append(f"{name}: its call cannot be captured: {arm.uncaptured}")
            else:
                beside[name] = arm
        arms += beside.values()
        uncaptured = next((arm.uncaptured for arm in arms if arm.uncaptured), "")
        copy_bytes_per_s = candidate.session.copy_bytes_per_s()
        before = self.place.device.state()
        found = self._sampled(candidate, len(arms), captured=not uncaptured)
        after = self.place.device.state()
        self._check_clock(candidate, found, ready.made_bytes, copy_bytes_per_s, captured=not uncaptured)
        wrong = self._prove_again(candidate, [ready.baselines[name] for name in beside], arms, workload)
        without += [f"{name}: {why}" for name, why in zip(beside, wrong, strict=True) if why]
        right = [(i, name) for i, (name, why) in enumerate(zip(beside, wrong, strict=True), 1) if not why]
        return Measured(
            workload=workload,
            fidelity=self.fidelity,
            timing=found.timings[0],
            baselines=tuple(Baseline(name, found.timings[i], found.ratio(0, to=i)) for i, name in right),
            without=tuple(without),
            by_calls=uncaptured,
            stopped=found.stopped,
            left_out=found.left_out,
            bytes=used_bytes(self.contract, workload) + ready.made_bytes,
            copy_bytes_per_s=copy_bytes_per_s,
            environment=self._environment(candidate, before, after),
        )

    def _sampled(self, candidate: Timed, arms: int, *, captured: bool) -> Interleaved:
        def sample(order: Sequence[int]) -> Sequence[float]:
            return candidate.session.sample(tuple(order), captured=captured)

        for _ in range(_WARM_BLOCKS):
            sample(range(arms))
        return interleaved(arms, sample, self.rule, time.monotonic, self.seed)

    def _check_work(self, candidate: Timed, arm: Prepared) -> None:
        """Raises where not the candidate's kernels do its work, or something else goes on beside it."""
        if arm.beside:
            raise _Unfit(f"its process runs {arm.beside} beside what is timed")
        if isinstance(candidate.entry, ModuleEntry) and not arm.uncaptured and not arm.own:
            raise _Unfit(f"no kernel of its own is captured; others: {', '.join(dict.fromkeys(arm.others))}")

    def _check_clock(
        self, candidate: Timed, found: Interleaved, made_bytes: int, copy_bytes_per_s: float, *, captured: bool
    ) -> None:
        """Raises where the times cannot be: the clock here says otherwise, or memory is not that fast."""
        median_us = found.timings[0].median_us
        fastest_us = made_bytes / (_FASTEST_WRITE * copy_bytes_per_s) * 1e6
        if made_bytes > 2 * candidate.session.facts.l2_bytes and median_us < fastest_us:
            raise _Unfit(f"its outputs cannot be written in {median_us:.3g} us; {fastest_us:.3g} us is the least")
        if captured:
            told_us, seen_us = candidate.session.keep(0, round(_KEPT_US / median_us))
            if not _LEAST_SHARE <= told_us / seen_us <= _MOST_SHARE:
                raise _Unfit(f"its process says {told_us:.3g} us a call, the clock outside {seen_us:.3g} us")

    def _prove_again(
        self, candidate: Timed, baselines: Sequence[Timed], arms: Sequence[Prepared], workload: Workload
    ) -> list[str]:
        """What was timed gets inputs that nobody has seen: the candidate has to be right; why baselines are not."""
        draw = Random(self.seed)
        fresh = replace(workload, seed=draw.getrandbits(32))
        expected = self.answers(fresh)
        if isinstance(expected, str):
            raise _Unfit(expected)
        given = expected.job(self.contract)
        wrong = []
        for each, arm in zip((candidate, *baselines), arms, strict=True):
            run = each.replay(arm.arm, given, draw.randrange(arm.sets))
            wrong.append(differs(self.contract, expected, run) if run.finished else fault_of(run))
        if wrong[0]:
            raise _Unfit(f"what was timed gives another answer on new inputs: {wrong[0]}")
        return wrong[1:]

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
            nvcc=self.place.nvcc_version(),
            porter=__version__,
            commit=commit(),
            before=before,
            after=after,
        )


def _prepared(baseline: Timed, given: Job) -> Prepared | str:
    """The baseline's arm, or why there is none. Raises `CandidateError` where that cost all arms their process."""
    try:
        return baseline.prepare(given)
    except CandidateError as error:
        if not baseline.session.is_ready:
            raise
        return str(error)

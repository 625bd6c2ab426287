"""Scores candidates by times: each is timed on the device beside the seed, in turn, in one process.

All work that takes no device is done beforehand: candidates are planned and compiled side by side. On the device a
clear loser takes a few samples; a possible champion gets as many as it takes to decide.
"""

from __future__ import annotations

import secrets
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from math import exp, log
from threading import Lock

from porter.backend import Backend, Port
from porter.contract.model.contract import Contract, Workload
from porter.errors import MachineError
from porter.evaluate.judge.calling import Called
from porter.evaluate.judge.ported import Candidates
from porter.evaluate.model.outcome import Fidelity
from porter.evaluate.model.speed import Measured, NotMeasured
from porter.evaluate.problem.bench import Bench, bench
from porter.evaluate.problem.standards import opened
from porter.evaluate.timing.answers import Answers
from porter.evaluate.timing.baselines import Baselines, Meet, of_cuda
from porter.evaluate.timing.standard_baselines import of_standard
from porter.evaluate.timing.taking import taking_device
from porter.evaluate.timing.timing import Ready, Stopwatch
from porter.evolve.scored import Measure, Score
from porter.evolve.scoring.cost import Cost
from porter.evolve.scoring.diagnosis import diagnosis
from porter.evolve.scoring.evaluator import MEASURES, Ranked
from porter.evolve.scoring.subject import StandardKind, Subject
from porter.execution.job import Job
from porter.measure.interleave import Ratio, StopRule
from porter.native.place import Place
from porter.native.place import place as device_place
from porter.native.session import CandidateError, Session
from porter.native.timed import Timed
from porter.oracle.reference import Expected

SEED = "seed"
# For what may be the best: a fourth of what a port's own times get. The device was busy with another just now.
_RULE = StopRule(budget_s=0.6, warm_blocks=2, least_blocks=8)
_MOST_ANSWERS = 8


@dataclass(frozen=True)
class _Entry:
    """An entry at the workloads it is timed at, with the source of its answers, and the seed.

    `seed` draws the inputs of all its measurements where all candidates are porter's own, else it is None.
    """

    contract: Contract
    workloads: tuple[Workload, ...]
    answers: Answers
    baseline: Timed
    fidelity: Fidelity
    seed: int | None
    known: dict[str, Ready] = field(default_factory=dict)


@dataclass(frozen=True)
class _Known:
    """A known binary: the files that it was made from, and the outcome of timing it."""

    files: tuple[str, ...]
    ranked: Ranked


class TimedScorer:
    """Times candidates beside the seed on the device of `place`, one after the other.

    They are planned and compiled by `planning`, into the folder where all processes of `place` find what is compiled.
    """

    def __init__(
        self, subject: Subject, backend: Backend, place: Place, planning: Bench, entries: Sequence[_Entry]
    ) -> None:
        self.place = place
        self.planning = planning
        self._subject = subject
        self._backend = backend
        self._entries = tuple(entries)
        self._turn = Lock()  # there is one process that knows the answers
        self._known: dict[str, _Known] = {}

    @property
    def measure(self) -> Measure:
        """Returns what its scores are of."""
        return MEASURES[self._entries[0].fidelity]

    @property
    def device(self) -> str:
        """Returns the name of its device."""
        return self.place.device.name

    def score(self, port: Port, to_beat: float) -> Ranked:
        """Returns the geometric mean over all workloads of the seed's time over the candidate's."""
        subject, contracts = self._subject, [entry.contract for entry in self._entries]
        costs, planned = self._planned(port)
        built = _built(costs)
        files = tuple(file.text for file in port.files)
        with self._backend.on_device(port, subject.original, subject.target, self.place) as native:
            found = Called(native, subject.options.entry).candidates(contracts)
            with self._turn:
                twin = self._known.get(built)
                if twin is not None and twin.files != files:  # the same files are measured once more
                    return replace(twin.ranked, said=f"the same binary as another\n{twin.ranked.said}")
                ranked = replace(self._timed(found, to_beat), built=built, costs=costs)
        if built:
            self._known.setdefault(built, _Known(files, ranked))
        return replace(ranked, said=f"{ranked.said}\n{planned}")

    def compared(self, ports: Mapping[str, Port]) -> Mapping[str, Score]:
        """Times the seed once beside all `ports`; returns how many times as fast as the seed each of them is.

        Ports that have no time are left out, and so are those that compile to what an earlier one compiles to.
        """
        subject, contracts = self._subject, [entry.contract for entry in self._entries]
        with ExitStack() as kept:
            found = {}
            with taking_device(self.place, subject.options.stages):
                for name, port in self._of_different_binaries(ports):
                    on_device = self._backend.on_device(port, subject.original, subject.target, self.place)
                    found[name] = Called(kept.enter_context(on_device), subject.options.entry).candidates(contracts)
            speeds = [
                self._watch(entry, _RULE).time(entry.baseline, workload, _timed_of(found, number))
                for number, entry in enumerate(self._entries)
                for workload in entry.workloads
            ]
        measured = [{one.name: one.ratio for one in s.baselines} for s in speeds if isinstance(s, Measured)]
        every = [name for name in found if len(measured) == len(speeds) and all(name in some for some in measured)]
        return {name: _factor_of([_inverse(some[name]) for some in measured], self.measure) for name in every}

    def _of_different_binaries(self, ports: Mapping[str, Port]) -> Iterator[tuple[str, Port]]:
        """Yields the ports, which this compiles, but none that is the same binary as the seed or an earlier one."""
        seen = {_built(self._planned(self._subject.seed)[0])}
        for name, port in ports.items():
            built = _built(self._planned(port)[0])
            if not built or built not in seen:
                seen.add(built)
                yield name, port

    def may_win(self, score: Score, to_beat: float) -> bool:
        """Returns whether its interval reaches beyond `to_beat`."""
        return score.high > to_beat

    def _planned(self, port: Port) -> tuple[tuple[Cost, ...], str]:
        """Returns what a model says of it, in numbers and in words; this also compiles all that it runs.

        There are no numbers where nothing plans it: then it is compiled when it runs.
        """
        subject, costs, said = self._subject, list[Cost](), list[str]()
        for entry in self._entries:
            for workload in entry.workloads:
                cost = subject.cost(self._backend, port, entry.contract, workload, self.planning)
                if isinstance(cost, str):
                    return (), f"no model: {cost}"
                costs.append(cost)
                said.append(diagnosis(entry.contract, workload, cost))
        return tuple(costs), "\n".join(said)

    def _timed(self, found: Sequence[Candidates], to_beat: float) -> Ranked:
        speeds = [self._times(entry, one, to_beat) for entry, one in zip(self._entries, found, strict=True)]
        missing = next((speed for speed in speeds if isinstance(speed, str)), "")
        if missing:
            return Ranked(None, missing)
        times = [time for speed in speeds if not isinstance(speed, str) for time in speed]
        score = _score(times, self.measure)
        return Ranked(score, "\n".join(map(_said, times)), times=tuple(times))

    def _times(self, entry: _Entry, candidates: Candidates, to_beat: float) -> list[Measured] | str:
        """Returns the times of each workload, or why there are none."""
        timed = candidates[0].timed if isinstance(candidates, tuple) else None
        if timed is None:
            return "there is no entry to run on the device" if isinstance(candidates, tuple) else candidates.because
        watch = self._watch(entry, replace(_RULE, slowest=1 / max(to_beat, 1.0)), entry.known)
        times = []
        for workload in entry.workloads:
            speed = watch.time(timed, workload, {SEED: entry.baseline})
            if isinstance(speed, NotMeasured) or not speed.baselines:
                with suppress(CandidateError):
                    timed.session.forget()
                because = speed.because if isinstance(speed, NotMeasured) else "; ".join(speed.without)
                return f"not timed at '{workload.name}': {because}"
            times.append(speed)
        return times

    def _watch(self, entry: _Entry, rule: StopRule, known: dict[str, Ready] | None = None) -> Stopwatch:
        seed = secrets.randbits(32) if entry.seed is None else entry.seed
        where = self.place, entry.contract, entry.answers, entry.fidelity
        return Stopwatch(*where, seed, rule, {} if known is None else known, self._subject.options.stages)


class _Remembered:
    """Remembers answers that are asked for again and again; the oldest is forgotten.

    The source of the answers gives the device's memory back each time.
    """

    def __init__(self, answers: Answers, oracle: Session) -> None:
        self._answers = answers
        self._oracle = oracle
        self._found: dict[tuple[str, int], Expected | str] = {}

    def given(self, workload: Workload) -> Job:
        return self._answers.given(workload)

    def __call__(self, workload: Workload) -> Expected | str:
        key = workload.name, workload.seed
        if key not in self._found:
            while len(self._found) >= _MOST_ANSWERS:
                del self._found[next(iter(self._found))]
            self._found[key] = self._answers(workload)
            with suppress(CandidateError):
                self._oracle.forget()
        return self._found[key]


@contextmanager
def timed_scorer(subject: Subject, backend: Backend, *, own: bool) -> Iterator[TimedScorer]:
    """Yields a scorer on the first device. With `own` all candidates are porter's own, and share a process.

    Raises `MachineError` where there is no device, or where the original does not build.
    """
    options = subject.options
    compiled = options.cache / "native" / "search"
    with (
        device_place(options.cache, options.time_limit_s, options.environment) as whole,
        bench(compiled, options.time_limit_s) as planning,
        _meeting(subject) as meet,
        whole.session() as oracle,
        whole.in_one_process(compiled / backend.name) if own else nullcontext(whole) as place,
        backend.on_device(subject.seed, subject.original, subject.target, place) as native,
    ):
        oracle.start()
        met = meet(subject.contracts, place, oracle)
        seeds = Called(native, options.entry).candidates(subject.contracts)
        seed = secrets.randbits(32) if own else None
        ready = zip(subject.contracts, met, seeds, strict=True)
        made = partial(_Entry, fidelity=native.fidelity, seed=seed)
        entries = [
            _entry(subject, contract, _patient(baselines, oracle), one, made) for contract, baselines, one in ready
        ]
        yield TimedScorer(subject, backend, place, planning, entries)


@contextmanager
def _meeting(subject: Subject) -> Iterator[Meet]:
    """Yields the source of the right answers at the sizes of a device."""
    if subject.standard_kind is StandardKind.CUDA:
        yield of_cuda(subject.original, None)
        return
    with opened(subject.path, subject.options) as standard:
        yield of_standard(standard)


def _entry(
    subject: Subject, contract: Contract, met: Baselines | str, found: Candidates, made: Callable[..., _Entry]
) -> _Entry:
    workloads = subject.workloads_of(contract)
    baseline = found[0].timed if isinstance(found, tuple) else None
    if isinstance(met, str) or baseline is None or not workloads:
        because = met if isinstance(met, str) else "there are no sizes" if baseline else _unmade(found)
        raise MachineError(f"{contract.name} cannot be timed: {because}")
    return made(contract, workloads, met.answers, baseline)


def _patient(baselines: Baselines | str, oracle: Session) -> Baselines | str:
    """Returns `baselines` that remember their answers, so that none is computed twice."""
    return (
        baselines if isinstance(baselines, str) else replace(baselines, answers=_Remembered(baselines.answers, oracle))
    )


def _unmade(found: Candidates) -> str:
    """Returns why there is no seed to compare with."""
    return "its seed does not run there" if isinstance(found, tuple) else f"its seed: {found.because}"


def _score(found: Sequence[Measured], measure: Measure) -> Score:
    """Returns how many times as fast as the seed, their first baseline, some times are."""
    return _factor_of([speed.baselines[0].ratio for speed in found], measure)


def _factor_of(ratios: Sequence[Ratio], measure: Measure) -> Score:
    """Returns the geometric means of one over ratios and of the ends of intervals: wider than the mean's interval."""
    middle = statistics.fmean(log(1 / ratio.median) for ratio in ratios)
    low = statistics.fmean(log(1 / ratio.interval[1]) for ratio in ratios)
    high = statistics.fmean(log(1 / ratio.interval[0]) for ratio in ratios)
    return Score(measure, exp(middle), exp(low), exp(high))


def _inverse(ratio: Ratio) -> Ratio:
    low, high = ratio.interval
    return Ratio(1 / ratio.median, (1 / high, 1 / low))


def _timed_of(found: Mapping[str, Sequence[Candidates]], number: int) -> dict[str, Timed]:
    """Returns the entries at `number` that the device can run, by the names of their ports."""
    entries = {name: some[number] for name, some in found.items()}
    first = {name: one[0].timed for name, one in entries.items() if isinstance(one, tuple)}
    return {name: timed for name, timed in first.items() if timed is not None}


def _built(costs: Sequence[Cost]) -> str:
    """Returns the digest of what all workloads run; empty where it is not known."""
    return " ".join(cost.built for cost in costs)


def _said(speed: Measured) -> str:
    """Returns a time in words, for the next proposer."""
    factor = speed.baselines[0].speedup
    share = f"{speed.share_of_limit:.0%} of the bandwidth of a copy"
    return f"{speed.workload.name}: {speed.timing.median_us:.4g} us, {factor:.3f} times as fast as the seed, {share}"

"""Scores that are times: every candidate is timed on the device beside the seed, in turn, in one process."""

from __future__ import annotations

import secrets
import statistics
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import exp, log
from threading import Lock

from porter.backend import Backend, Port
from porter.contract.bench import timed_workloads
from porter.contract.contract import Contract, Workload
from porter.errors import MachineError
from porter.evaluate.calling import Called
from porter.evaluate.outcome import Fidelity
from porter.evaluate.ported import Candidates
from porter.evaluate.rivals import Rivals, of_cuda
from porter.evaluate.speed import Measured, NotMeasured
from porter.evaluate.timing import Stopwatch
from porter.evolve.evaluator import Ranked
from porter.evolve.scored import Measure, Score
from porter.evolve.subject import Subject
from porter.native.place import Place
from porter.native.place import place as device_place
from porter.native.timed import Timed

SEED = "seed"
_MEASURES = {Fidelity.NATIVE: Measure.NATIVE, Fidelity.PROXY: Measure.PROXY}


@dataclass(frozen=True)
class _Entry:
    """An entry at the workloads it is timed at, with who knows its answers, and the seed."""

    contract: Contract
    workloads: tuple[Workload, ...]
    rivals: Rivals
    seed: Timed


@dataclass(frozen=True)
class TimedScorer:
    """Times candidates beside the seed on the device of `place`; built at once, timed one after the other."""

    subject: Subject
    backend: Backend
    place: Place
    entries: tuple[_Entry, ...]
    measure: Measure
    turn: Lock = field(default_factory=Lock)  # there is one process that knows the answers

    def score(self, port: Port) -> Ranked:
        """The geometric mean over all workloads of the seed's time over the candidate's."""
        with self.backend.on_device(port, self.subject.original, self.subject.target, self.place) as native:
            candidates = Called(native, self.subject.options.entry).candidates([e.contract for e in self.entries])
            with self.turn:
                found = [self._times(entry, one) for entry, one in zip(self.entries, candidates, strict=True)]
        missing = next((speeds for speeds in found if isinstance(speeds, str)), "")
        times = [speed for speeds in found if not isinstance(speeds, str) for speed in speeds]
        return Ranked(None, missing) if missing else Ranked(_score(times, self.measure), "; ".join(map(_said, times)))

    def _times(self, entry: _Entry, candidates: Candidates) -> list[Measured] | str:
        """Those of each workload; why there are none where there are not."""
        timed = candidates[0].timed if isinstance(candidates, tuple) else None
        if timed is None:
            return "nothing answers on the device" if isinstance(candidates, tuple) else candidates.because
        fidelity = Fidelity(self.measure.value)
        watch = Stopwatch(self.place, entry.contract, entry.rivals.answers, fidelity, secrets.randbits(32))
        times = []
        for workload in entry.workloads:
            speed = watch.time(timed, workload, {SEED: entry.seed})
            if isinstance(speed, NotMeasured) or not speed.baselines:
                because = speed.because if isinstance(speed, NotMeasured) else "; ".join(speed.without)
                return f"not timed at '{workload.name}': {because}"
            times.append(speed)
        return times


@contextmanager
def timed_scorer(subject: Subject, backend: Backend) -> Iterator[TimedScorer]:
    """A scorer on the first device. Raises `MachineError` where there is none, or where the original does not build."""
    options = subject.options
    with (
        device_place(options.cache, options.time_limit_s, options.environment) as place,
        place.session() as oracle,
        backend.on_device(subject.seed, subject.original, subject.target, place) as native,
    ):
        meet = of_cuda(subject.original, None)
        rivals = meet(subject.contracts, place, oracle)
        seeds = Called(native, options.entry).candidates(subject.contracts)
        whole = zip(subject.contracts, rivals, seeds, strict=True)
        entries = tuple(_entry(subject, contract, met, found) for contract, met, found in whole)
        yield TimedScorer(subject, backend, place, entries, _MEASURES[native.fidelity])


def _entry(subject: Subject, contract: Contract, met: Rivals | str, found: object) -> _Entry:
    options = subject.options
    sizes = {**options.sizes, **options.timed_sizes}
    workloads = timed_workloads(contract, sizes, stated=options.contract is not None)
    seed = found[0].timed if isinstance(found, tuple) else None
    if isinstance(met, str) or seed is None or not workloads:
        because = met if isinstance(met, str) else "there are no sizes" if seed else "its seed does not run there"
        raise MachineError(f"{contract.name} cannot be timed: {because}")
    return _Entry(contract, workloads, met, seed)


def _score(found: Sequence[Measured], measure: Measure) -> Score:
    """The geometric means of factors and of the ends of their intervals, which is wider than that of the mean."""
    ratios = [speed.baselines[0].ratio for speed in found]
    middle = statistics.fmean(log(1 / ratio.median) for ratio in ratios)
    low = statistics.fmean(log(1 / ratio.interval[1]) for ratio in ratios)
    high = statistics.fmean(log(1 / ratio.interval[0]) for ratio in ratios)
    return Score(measure, exp(middle), exp(low), exp(high))


def _said(speed: Measured) -> str:
    """A time in words, for whoever proposes the next."""
    factor = speed.baselines[0].speedup
    share = f"{speed.share_of_limit:.0%} of the bandwidth of a copy"
    return f"{speed.workload.name}: {speed.timing.median_us:.4g} us, {factor:.3f} times as fast as the seed, {share}"

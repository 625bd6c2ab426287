"""Gives entries times: runs each that was proven on the device, beside its baselines."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from porter.backend import Port, Target
from porter.contract.workload.bench import timed_workloads
from porter.errors import MachineError
from porter.evaluate.judge.calling import Called
from porter.evaluate.judge.ported import Candidates
from porter.evaluate.model.migration import EntryOutcome, MigrateOptions, Progress
from porter.evaluate.model.outcome import Equal, Fidelity
from porter.evaluate.model.speed import NotMeasured, Speed
from porter.evaluate.timing.baselines import Baselines, Meet
from porter.evaluate.timing.taking import taking_device
from porter.evaluate.timing.timing import Stopwatch
from porter.measure.stages import Stage
from porter.native.place import Place
from porter.native.place import place as device_place
from porter.registry import find_backend
from porter.translation_unit import TranslationUnit


@dataclass(frozen=True)
class Subject:
    """The subject of a timing: a port of `original` (empty for a candidate of something else), and its baselines."""

    port: Port
    original: TranslationUnit
    target: Target
    meet: Meet


def timed_if_possible(
    entries: Sequence[EntryOutcome], subject: Subject, options: MigrateOptions, progress: Progress
) -> tuple[EntryOutcome, ...]:
    """Returns `entries` with times, or with the reason why the device gives none."""
    try:
        return timed(entries, subject, options, progress)
    except MachineError as error:
        return tuple(replace(e, speeds=(NotMeasured(None, Fidelity.NATIVE, error.message),)) for e in entries)


def timed(
    entries: Sequence[EntryOutcome], subject: Subject, options: MigrateOptions, progress: Progress
) -> tuple[EntryOutcome, ...]:
    """Returns `entries`, the verified ones with their times, or why they have none.

    Raises `MachineError` where there is no device that can be used.
    """
    with device_place(options.cache, options.time_limit_s, options.environment) as place:
        proven = [e for e in entries if isinstance(e.outcome, Equal) and not e.choice]
        speeds = _Timing(subject, options, place, progress).speeds(proven) if proven else []
    by_entry = dict(zip(map(id, proven), speeds, strict=True))
    return tuple(replace(entry, speeds=by_entry.get(id(entry), ())) for entry in entries)


@dataclass(frozen=True)
class _Timing:
    subject: Subject
    options: MigrateOptions
    place: Place
    progress: Progress
    too_slow: dict[str, str] = field(default_factory=dict)

    @property
    def _sizes(self) -> Mapping[str, int]:
        """The sizes that the user chose, those for timing before those for all."""
        return {**self.options.sizes, **self.options.timed_sizes}

    def speeds(self, entries: Sequence[EntryOutcome]) -> list[tuple[Speed, ...]]:
        """Returns the times of each entry, all taken in one process, beside its baselines."""
        subject, contracts = self.subject, [entry.contract for entry in entries]
        backend = find_backend(subject.target.backend)
        self.progress("building what it is timed beside")
        with (
            self.place.session() as oracle,
            backend.on_device(subject.port, subject.original, subject.target, self.place) as native,
        ):
            oracle.start()
            ported = native if self.options.seed is None else Called(native, self.options.entry)
            stages = self.options.stages
            with taking_device(self.place, stages), stages.of(Stage.BUILD):
                baselines, candidates = subject.meet(contracts, self.place, oracle), ported.candidates(contracts)
            ready = zip(entries, candidates, baselines, strict=True)
            return [tuple(self._entry(entry, found, met, native.fidelity)) for entry, found, met in ready]

    def _entry(
        self, entry: EntryOutcome, found: Candidates, baselines: Baselines | str, fidelity: Fidelity
    ) -> Iterator[Speed]:
        """Yields the times of each workload at which the entry is timed."""
        contract = entry.contract
        candidate = found[0].timed if isinstance(found, tuple) else None
        if isinstance(baselines, str):
            yield NotMeasured(None, fidelity, baselines)
            return
        stated = self.options.contract is not None
        workloads = baselines.workloads or timed_workloads(contract, self._sizes, stated=stated)
        if candidate is None:
            because = "there is no port of it to time" if isinstance(found, tuple) else found.because
            yield NotMeasured(None, fidelity, because)
        elif not workloads:
            yield NotMeasured(None, fidelity, "there are no sizes at which it could be timed")
        else:
            seed, stages = secrets.randbits(32), self.options.stages
            watch = Stopwatch(
                self.place, contract, baselines.answers, fidelity, seed, stages=stages, too_slow=self.too_slow
            )
            for workload in workloads:
                self.progress(f"timing {entry.name}: {workload.name}")
                yield watch.time(candidate, workload, baselines.timed)

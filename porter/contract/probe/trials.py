"""Runs the original, each run once: counts runs, and remembers the last thing that broke."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from porter.comparison.compare import compare
from porter.comparison.garbage import POISONS, computes_with_garbage, left_unwritten, takes_garbage
from porter.contract.model.contract import Contract, Distribution, Role, Workload
from porter.contract.model.questions import unknown_extents
from porter.contract.model.selections import Selection, selected, selections
from porter.contract.probe.known_probes import KnownProbes
from porter.contract.workload.probing import FILLINGS, PROBE_ELEMENTS, Filling, filled, job, probe_job, with_nans
from porter.contract.workload.structs import all_parts
from porter.contract.workload.workloads import LARGE_SCALE, SMALL_SCALE
from porter.execution.job import Execute, FaultKind, Job, Run, Schedule, Touched

MOST_ELEMENTS = 1 << 22
SOME_ELEMENTS = 1 << 19  # up to which a tensor takes no time
_GROWTH = 8
_BEFORE = re.compile(r"at byte -\d")
_SCALES = (1.0, SMALL_SCALE)  # an extreme shows garbage, as a float 0.01, beside small values only
SLOW_S = 1.0  # a probe takes milliseconds; that of a product of matrices of 523 takes 4 s, and the next one 32
_MOST_RUNS, _LONGEST_S = 160, 20.0  # of all readings of a draft: those of an upsampling by 4,099 took 60 s
_OTHER_INPUTS = ((1, 1.0), (2, 1.0), (3, LARGE_SCALE))  # seeds, and what inputs are multiplied by
_MOST_IDLE = 4  # as many as one reading of a draft makes
_MOST_VAIN = 3  # one after the other: a probe comes in three sizes
_VAIN = frozenset((FaultKind.TIMEOUT, FaultKind.UNDEFINED))
_TROUBLE = frozenset(
    (
        FaultKind.OUT_OF_BOUNDS,
        FaultKind.MISALIGNED,
        FaultKind.SHIFTED,
        FaultKind.LAUNCH,
        FaultKind.HOST_CHECK,
        FaultKind.CRASH,
        FaultKind.UNKNOWN,
    )
)


@dataclass
class Trials:
    """Makes runs through `execute`, so far `runs` of them in `seconds` of processor time.

    In a probe, tensors of unknown extent hold `PROBE_ELEMENTS`, or what they were `grown` to. It is made at every
    choice of what only selects, or, without `choices`, only at the contract's own; and with inputs whose elements are
    all equal. Those that are `known` are not made again, and count all the same. Once a few in a row reached the time
    limit, or something that no file defines, no more are made: the last one stands for the rest.
    """

    execute: Execute
    known: KnownProbes = field(default_factory=KnownProbes)
    grown: Mapping[str, int] = field(default_factory=dict)
    choices: bool = True
    runs: int = 0
    seconds: float = 0.0
    trouble: str = ""
    _seen: dict[tuple[object, ...], Run] = field(default_factory=dict)
    _vain: list[Run] = field(default_factory=list)
    _hangs_on_inputs: bool = True  # until a probe shows that equal inputs do not change what is touched
    _hangs_on_nans: bool = True  # until a probe shows that NaN does not change what is written
    _endless: set[Selection | Filling] = field(default_factory=set)
    _grown_in_vain: int = 0
    _seconds: dict[tuple[object, ...], float] = field(default_factory=dict)  # of the last exact run at some sizes
    _idle: Counter[Filling] = field(default_factory=Counter)  # probes in a row at which it touched nothing more

    @property
    def are_many(self) -> bool:
        """Returns whether so much was tried that no other reading of a draft is begun."""
        return self.runs >= _MOST_RUNS or self.seconds >= _LONGEST_S

    def probe(self, contract: Contract, sizes: Mapping[str, int]) -> Run:
        """Makes a probe on allocations far larger than needed, with all indices at their largest.

        It is said to touch all that a run at any choice of what only selects, or on equal inputs, touched.
        """
        key = (*map(tuple, (sizes.items(), self.grown.items())), contract.arguments)
        run = self._probe(key, lambda: probe_job(contract, sizes, self.grown))
        if not starts(run):
            return run
        alike = self._alike(run, contract, sizes) if self._hangs_on_inputs else []
        if alike and not troubled(run):
            self._hangs_on_inputs = any(other.touched != run.touched for other in alike)
        chosen = self._asides(selections(contract) if self.choices else (), contract, sizes)
        return replace(run, touched=self._by_nans(contract, sizes, _joined([run, *alike, *chosen])))

    def on_other_inputs(self, contract: Contract, sizes: Mapping[str, int]) -> list[Run]:
        """Returns probes at the same sizes on inputs that are drawn anew, some of them larger, which came to an end."""
        runs = []
        for seed, scale in _OTHER_INPUTS:
            key = (*map(tuple, (sizes.items(), self.grown.items())), contract.arguments, seed)
            wide = probe_job(contract, sizes, self.grown, Workload("probe", sizes, seed, scale))
            runs.append(self._probe(key, lambda wide=wide: wide))  # type: ignore[misc]
        return [run for run in runs if starts(run)]

    def _alike(self, run: Run, contract: Contract, sizes: Mapping[str, int]) -> list[Run]:
        """Probes on inputs that are all alike, without those kinds of which the last few touched nothing that `run`,
        or the kinds before, did not touch.
        """
        found = [run]
        for filling in FILLINGS:
            if self._idle[filling] < _MOST_IDLE and (more := self._asides((filling,), contract, sizes)):
                touched, found = _joined(found), [*found, *more]
                self._idle[filling] = self._idle[filling] + 1 if _joined(found) == touched else 0
        return found[1:]

    def _asides(
        self, changes: Sequence[Selection | Filling], contract: Contract, sizes: Mapping[str, int]
    ) -> list[Run]:
        """Returns the probes with each of these changes that finished."""
        found = (self._aside(change, contract, sizes) for change in changes)
        return [run for run in found if run is not None and not troubled(run)]

    def _aside(self, change: Selection | Filling, contract: Contract, sizes: Mapping[str, int]) -> Run | None:
        """Makes a probe with that change, on which nothing depends: None for one that took long before."""
        changed = selected(contract, change) if isinstance(change, Selection) else filled(contract, change)
        key = (*map(tuple, (sizes.items(), self.grown.items())), changed.arguments)
        if key not in self._seen and change not in self._endless:
            run = self._seen[key] = self._traced(key, lambda: probe_job(changed, sizes, self.grown))
            if endless(run) or run.seconds > SLOW_S:
                self._endless.add(change)
        return self._seen.get(key)

    def _by_nans(
        self, contract: Contract, sizes: Mapping[str, int], touched: tuple[Touched, ...]
    ) -> tuple[Touched, ...]:
        """Adds to `touched` what a probe on NaN does to tensors that are written and that nothing was seen to touch.

        Probes are made until one shows that it does nothing. A tensor that is only written there was left as it was
        elsewhere, which has to be seen: it counts as read.
        """
        idle = [not (t.read_end or t.written_end) for t in touched]
        kept = [tensor.role is not Role.IN for tensor in contract.tensors]
        if not (self._hangs_on_nans and any(i and k for i, k in zip(idle, kept, strict=False))):
            return touched
        key = (*map(tuple, (sizes.items(), self.grown.items())), contract.arguments, "nan")
        run = self._probe(key, lambda: with_nans(probe_job(contract, sizes, self.grown), contract))
        found = [replace(t, read_end=max(t.read_end, t.written_end)) for t in run.touched]
        self._hangs_on_nans = not troubled(run) and any(t.written_end for t, i in zip(found, idle, strict=False) if i)
        return (
            tuple(f if i else t for f, t, i in zip(found, touched, idle, strict=True))
            if self._hangs_on_nans
            else touched
        )

    def exact(
        self,
        contract: Contract,
        sizes: Mapping[str, int],
        *,
        poison: int = POISONS[0],
        schedule: Schedule = Schedule.FORWARD,
        scale: float = 1.0,
        contents: Distribution = Distribution.DECLARED,
    ) -> Run:
        """Makes a run on the allocations the contract names; fresh memory holds `poison`.

        At the sizes of a workload it is a run of that workload: examining its answers asks for the run again.
        """
        probe = Workload("probe", sizes, seed=1, scale=scale, distribution=contents)
        workload = next((w for w in contract.workloads if replace(probe, name=w.name, seed=w.seed) == w), probe)
        key = (tuple(sizes.items()), workload.seed, contract.arguments, poison, schedule, scale, contents)
        run = self._run(key, lambda: self.execute(_given(contract, workload, poison, schedule)))
        self._seconds[*sizes.items()] = run.seconds
        return run

    def seconds_at(self, sizes: Mapping[str, int]) -> float:
        """Returns how long the last exact run at these sizes took; 0 where there was none."""
        return self._seconds.get((*sizes.items(),), 0.0)

    def roomy(self, contract: Contract, sizes: Mapping[str, int], most: int = MOST_ELEMENTS) -> Run:
        """Makes a probe whose allocations grow to `most` elements, until it touches nothing beyond them or takes long.

        They keep the size at which it did not; where growing was in vain they are as before, and after a few such
        probes they grow no more: each of the largest has tens of megabytes to be made, written and read.
        """
        run, first = self.probe(contract, sizes), self.grown
        while self._may_grow(run) and (short := too_small(contract, run)):
            more = {name: self.grown.get(name, PROBE_ELEMENTS) * _GROWTH for name in short}
            if max(more.values()) > most:
                break
            self.grown = {**self.grown, **more}
            run = self.probe(contract, sizes)
        if self.grown != first and too_small(contract, run):
            self.grown, self._grown_in_vain = first, self._grown_in_vain + (most == MOST_ELEMENTS)
        return run

    def _may_grow(self, run: Run) -> bool:
        """Returns whether a run may lack elements: it does not where it reaches before the first."""
        before = any(f.kind is FaultKind.OUT_OF_BOUNDS and _BEFORE.search(f.message) for f in run.faults)
        return run.seconds < SLOW_S and not before and self._grown_in_vain < _MOST_VAIN

    def clean(
        self, contract: Contract, sizes: Mapping[str, int], contents: Distribution = Distribution.DECLARED
    ) -> bool:
        """Returns whether an exact run ends without trouble and only computes with written memory."""
        run = self.exact(contract, sizes, contents=contents)
        if troubled(run):
            return False
        return not takes_garbage(run) or not any(self._hangs(contract, sizes, scale, contents) for scale in _SCALES)

    def unwritten(self, contract: Contract, sizes: Mapping[str, int]) -> bool:
        """Returns whether outputs of an exact run hold the filling of fresh memory: nothing wrote it."""
        first, second = (self.exact(contract, sizes, poison=poison) for poison in POISONS)
        return not troubled(first) and left_unwritten(first, second)

    def _hangs(self, contract: Contract, sizes: Mapping[str, int], scale: float, contents: Distribution) -> bool:
        """Returns whether the answers for inputs of this scale hang on the bytes of fresh memory."""
        first, second = (
            self.exact(contract, sizes, poison=poison, scale=scale, contents=contents) for poison in POISONS
        )
        return computes_with_garbage(first, second)

    def ordered(
        self, contract: Contract, sizes: Mapping[str, int], contents: Distribution = Distribution.DECLARED
    ) -> bool:
        """Returns whether threads that run in the opposite order give the same answers."""
        first = self.exact(contract, sizes, contents=contents)
        if not first.finished or any(f.kind is FaultKind.RACE for f in first.faults):
            return False
        second = self.exact(contract, sizes, schedule=Schedule.REVERSE, contents=contents)
        pairs = zip(*((*all_parts(contract, run.outputs), *run.results) for run in (first, second)), strict=False)
        return all(compare(b, a, contract.tolerance.get(a.dtype)).passed for a, b in pairs)

    def _probe(self, key: tuple[object, ...], given: Callable[[], Job]) -> Run:
        return self._run(key, lambda: self._traced(key, given))

    def _traced(self, key: tuple[object, ...], given: Callable[[], Job]) -> Run:
        """Returns a probe's run without the contents of large tensors: many runs are kept, only their traces matter."""
        return self.known.get(key, lambda: replace(self.execute(given()), outputs=(), results=(), snapshots=()))

    def _run(self, key: tuple[object, ...], made: Callable[[], Run]) -> Run:
        if key not in self._seen:
            self._seen[key] = self._vain[-1] if len(self._vain) >= _MOST_VAIN else self._counted(made())
        run = self._seen[key]
        broken = next((f for f in run.faults if f.kind in _TROUBLE or f.fatal), None)
        if broken is not None:
            self.trouble = f"{broken.kind.value} at line {broken.line}: {broken.message}"
        return run

    def _counted(self, run: Run) -> Run:
        self.runs += 1
        self.seconds += run.seconds
        self._vain = [*self._vain, run] if endless(run) else []
        return run


def _given(contract: Contract, workload: Workload, poison: int, schedule: Schedule) -> Job:
    return replace(job(contract, workload, poison), schedule=schedule, seed=workload.seed)


def _joined(runs: Sequence[Run]) -> tuple[Touched, ...]:
    """Returns what any of `runs` did to each argument."""
    return tuple(
        Touched(
            read_end=max(t.read_end for t in touched),
            written_end=max(t.written_end for t in touched),
            beyond=max(t.beyond for t in touched),
        )
        for touched in zip(*(run.touched for run in runs), strict=True)
    )


def endless(run: Run) -> bool:
    """Returns whether a run reached the time limit, or something that no file defines: another would do the same."""
    return any(fault.kind in _VAIN for fault in run.faults)


def troubled(run: Run) -> bool:
    """Returns whether a run did not end, or left bounds, was misaligned or refused on the way."""
    return not run.finished or any(f.kind in _TROUBLE for f in run.faults)


def starts(run: Run) -> bool:
    """Returns whether host code took its arguments and the device its launches."""
    refused = (FaultKind.LAUNCH, FaultKind.HOST_CHECK, FaultKind.UNKNOWN)
    return run.finished and not any(f.kind in refused for f in run.faults)


def too_small(contract: Contract, run: Run) -> list[str]:
    """Returns the tensors of unknown extent that were too small, for a kernel or for a copy by host code.

    Host code does not say which tensor of a copy was too small.
    """
    unknown = unknown_extents(contract)
    if any(f.kind is FaultKind.OUT_OF_BOUNDS and (f.fatal or not f.kernel) for f in run.faults):
        return [t.name for t in unknown]
    touched = zip(contract.tensors, run.touched, strict=False)
    return [t.name for t, traces in touched if t in unknown and traces.beyond]

"""Finds what a candidate's host code asks for at sizes for a device, and where that can be executed.

At these sizes only host code is run, no kernel. A kernel, a value that is compiled into one, or a side of a branch of
host code that no workload has is looked for at smaller sizes, and executed at the smallest that have it where that does
not take too long. The verdict names the rest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod

from porter.branch_coverage import BranchCoverage
from porter.contract.model.contract import Contract, Workload
from porter.contract.workload.materialise import shape_of
from porter.evaluate.judge.judge import Candidate, at_line, broken_rules, described
from porter.evaluate.judge.rehearsal import Rehearsal, Sizes
from porter.evaluate.judge.telling import Held, Telling
from porter.evaluate.model.outcome import Refused, Verified
from porter.evaluate.reference.judging import Judging, is_plain, of_judgement
from porter.evaluate.reference.size_space import OPERATION_MS
from porter.execution.job import FaultKind, Job, Run
from porter.oracle.reference import Reference
from porter.writing.counting import counted

_REHEARSED = "its host code at sizes for a device"
_UNLAUNCHED = "launches that no device takes"
_NOT_EXECUTED = (FaultKind.UNKNOWN, FaultKind.STOPPED)
_MOST_CALLS = 160  # of host code, in looking for smaller sizes: some milliseconds each
_MOST_FOUND = 4
_MORE = 16  # the part that sizes are enlarged by
_TURNS = (4, 1)  # times what a grid that stops growing covers in one turn
# What a call may take to interpret, or the original on the CPU: 4,096 blocks, where grids often stop, take about four
# seconds of the interpreter, and a million elements one of the executor. Two inputs of a loss are nine million where
# 2,048 blocks of 512 threads have four turns each.
MOST_MS = 8_000.0
_MOST_ELEMENTS = 10 << 20
_USUAL_ELEMENTS = 4_096  # of the workload whose sizes are kept where they will do: enough to work on, and soon done


@dataclass(frozen=True, slots=True)
class _Seen:
    """Something that a rehearsed call showed and no executed one, and the sizes at which it was seen.

    A grid that `stops` growing is only shown to be right by a call larger than the first at which it stops.
    """

    candidate: Candidate
    rehearsal: Rehearsal
    sizes: Sizes
    what: str
    stops: bool = False


@dataclass
class _Told:
    """Collects what the verdict says of calls at sizes for a device, by subject, and what is new in these calls.

    Where launches differ in numbers alone it names the first, and says how many others there are.
    """

    said: dict[str, dict[str, None]] = field(default_factory=dict)
    seen: list[_Seen] = field(default_factory=list)

    def say(self, about: str, text: str) -> None:
        """Adds one of the texts about something; of early ends, and of limits of the device, the first is enough."""
        if about not in self.said or about not in (_REHEARSED, _UNLAUNCHED):
            self.said.setdefault(about, {})[text] = None

    @property
    def sentences(self) -> tuple[str, ...]:
        """Returns what the verdict has to name, each thing once."""
        return tuple(
            f"{first} (the same holds for {counted(len(others), 'other choice')})" if others else first
            for first, *others in self.said.values()
        )


@dataclass(frozen=True)
class DeviceSizes:
    """Makes calls of `candidates` at sizes for a device. `habits` are rules that the original breaks as well."""

    candidates: Sequence[Candidate]
    rehearsals: Sequence[Rehearsal]
    judging: Judging

    def named(self, verified: Verified, habits: frozenset[FaultKind]) -> Verified | Refused:
        """Returns the verdict, with what is asked for there and was not executed, or the rule that is broken there."""
        told = self._told(verified.coverage, habits)
        return told if isinstance(told, Refused) else verified.reaching(told.sentences)

    def held(self, reference: Reference, verified: Verified, asked: Telling) -> Held:
        """Returns the verdict over the workloads of `reference` and the smallest that have what is asked for there."""
        told = self._told(verified.coverage, reference.habits)
        if isinstance(told, Refused):
            return reference, told
        workloads = self._workloads(reference.contract, verified.coverage, told.seen)
        if not workloads:
            return reference, verified.reaching(told.sentences)
        reference, outcome = replace(asked, most_ms=MOST_MS).held(reference, verified, workloads)
        return reference, self.named(outcome, reference.habits) if isinstance(outcome, Verified) else outcome

    def _told(self, known: BranchCoverage, habits: frozenset[FaultKind]) -> _Told | Refused:
        told = _Told()
        for candidate in self.candidates:
            for rehearsal in self.rehearsals if candidate.rehearse else ():
                if refused := _Rehearsed(candidate, rehearsal, known, habits, told).refused():
                    return refused
        return told

    def _workloads(self, contract: Contract, known: BranchCoverage, seen: Sequence[_Seen]) -> tuple[Workload, ...]:
        """Returns the smallest calls that have what was `seen`, as far as they may be executed."""
        plain = [w for w in contract.workloads if is_plain(w)]
        if not plain:
            return ()
        small = min(plain, key=lambda w: abs(_elements(contract, w.sizes) - _USUAL_ELEMENTS))
        search = _Search(contract, small.sizes, frozenset(self.judging.fixed), known)
        found = list[Sizes]()
        for one in {(one.what, id(one.candidate)): one for one in reversed(seen)}.values():
            sizes = None if len(found) == _MOST_FOUND else search.smallest(one, found)
            if sizes is not None and _is_short(contract, one, sizes):
                found.append(sizes)
        workloads = (
            replace(small, name=f"as at sizes for a device {n}", sizes=sizes, scale=1.0)
            for n, sizes in enumerate(found, 1)
        )
        return of_judgement(self.judging.reseeded(replace(contract, workloads=tuple(workloads))).workloads)


@dataclass(frozen=True)
class _Rehearsed:
    """Makes the calls of one rehearsal; `told` keeps what has to be said; `known` are sides of branches already seen.

    Host code that raises there is not blamed, since it may depend on results, which are missing: the outcome says that
    nothing more was seen of it.
    """

    candidate: Candidate
    rehearsal: Rehearsal
    known: BranchCoverage
    habits: frozenset[FaultKind]
    told: _Told

    def refused(self) -> Refused | None:
        """Makes the calls and returns the rule that one of them breaks."""
        ended = ""
        for sizes, job in self.rehearsal.jobs:
            run = self._run(sizes, job)
            ended = next((described(fault) for fault in run.faults if fault.fatal), "")
            if (refused := self._breaking(run)) or not ended:
                return refused or self._shrunk(sizes, job)
        if ended:
            self.told.say(_REHEARSED, f"{_REHEARSED} ended early: {ended}")
        return None

    def _shrunk(self, sizes: Sizes, job: Job) -> Refused | None:
        """Makes the calls that show where grids stop growing, one after the other."""
        for less, smaller in self.rehearsal.shrunk(sizes):
            if refused := self._breaking(self._run(less, replace(smaller, before=job.arguments))):
                return refused
            job = smaller
        return None

    def _run(self, sizes: Sizes, job: Job) -> Run:
        assert self.candidate.rehearse is not None
        run = self.candidate.rehearse(job)
        seen = ((what, what in _of_kind(run, FaultKind.STOPPED)) for what in _new(run, self.known))
        self.told.seen.extend(_Seen(self.candidate, self.rehearsal, sizes, *what) for what in seen)
        for about, text in _said(run):
            self.told.say(about, text)
        return run

    def _breaking(self, run: Run) -> Refused | None:
        broken = broken_rules(run.faults, self.habits)
        return Refused(f"{broken[0].code}: {at_line(broken[0])}{broken[0].message}", broken) if broken else None


def _said(run: Run) -> Iterator[tuple[str, str]]:
    """Yields what a rehearsed call shows, as the outcome says it, with what it is about."""
    for fault in run.faults:
        if fault.kind is FaultKind.LAUNCH:  # which smaller sizes do not show
            refused = fault.message if fault.fatal else f"a launch is refused: {fault.message}"
            yield _UNLAUNCHED, f"at sizes for a device {refused}"
        elif fault.kind in _NOT_EXECUTED and not fault.fatal:
            yield fault.about or fault.message, f"at sizes for a device {fault.message}"


def _new(run: Run, known: BranchCoverage) -> Iterator[str]:
    """Yields what a rehearsed call has that nothing executed had: launches, and sides of branches."""
    yield from _of_kind(run, *_NOT_EXECUTED)
    yield from (side.described for side in sorted(run.coverage.taken - known.taken) if side.way and not side.fails)


def _of_kind(run: Run, *kinds: FaultKind) -> tuple[str, ...]:
    return tuple(fault.message for fault in run.faults if fault.kind in kinds and not fault.fatal)


class _Search:
    """Looks for the smallest sizes at which a rehearsed call still shows something.

    Takes the sizes one by one, the largest first: tries the value in `least`, else halves it while the search succeeds,
    so that it keeps its factors, and then lowers it as far as it goes.
    """

    def __init__(self, contract: Contract, least: Sizes, fixed: frozenset[str], known: BranchCoverage) -> None:
        self._contract = contract
        self._least = least
        self._fixed = fixed
        self._known = known
        self._calls = 0

    def smallest(self, seen: _Seen, others: Sequence[Sizes]) -> Sizes | None:
        """Returns the sizes, if the search finds any.

        None where no call shows it any more, one of the `others` shows it too, only two calls together show it, or a
        grid goes on growing beyond the smallest sizes that have it.
        """
        if any(self._shows(seen, sizes) for sizes in others) or not self._shows(seen, seen.sizes):
            return None
        sizes = dict(seen.sizes)
        for symbol in sorted(sizes.keys() - self._fixed, key=lambda s: (-sizes[s], s)):
            sizes[symbol] = self._lowered(seen, sizes, symbol)
        larger = self._with_more(seen, sizes)
        is_beyond = larger != sizes or not seen.stops
        return larger if is_beyond and self._calls < _MOST_CALLS else None

    def _with_more(self, seen: _Seen, sizes: Sizes) -> Sizes:
        """Returns slightly larger sizes, at which what has just begun has more to do.

        Blocks of a grid that stops growing get several turns each, where that is soon done: some take four at once.
        """
        for symbol in sorted(sizes.keys() - self._fixed, key=lambda s: (-sizes[s], s)):
            more = sizes[symbol] // _MORE
            for times in _TURNS if seen.stops else (1,):
                larger = {**sizes, symbol: times * sizes[symbol] + more}
                is_done = times == 1 or _is_short(self._contract, seen, larger)
                if larger != sizes and is_done and self._shows(seen, larger):
                    sizes = larger
                    break
        return sizes

    def _lowered(self, seen: _Seen, sizes: Sizes, symbol: str) -> int:
        def shows(size: int) -> bool:
            return self._shows(seen, {**sizes, symbol: size})

        low, high = self._least[symbol], sizes[symbol]
        if low >= high or shows(low):
            return min(low, high)
        while high // 2 > low and shows(high // 2):
            high //= 2
        low = max(low, high // 2)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if shows(middle) else (middle, high)
        return high

    def _shows(self, seen: _Seen, sizes: Sizes) -> bool:
        job = seen.rehearsal.call(sizes) if self._calls < _MOST_CALLS else None
        if job is None or seen.candidate.rehearse is None:
            return False
        self._calls += 1
        return seen.what in _new(seen.candidate.rehearse(job), self._known)


def _is_short(contract: Contract, seen: _Seen, sizes: Sizes) -> bool:
    """Returns whether original and candidate may be executed at these sizes."""
    job, count = seen.rehearsal.call(sizes), seen.candidate.operations
    is_short = count is None or (job is not None and count(job) * OPERATION_MS <= MOST_MS)
    return is_short and _elements(contract, sizes) <= _MOST_ELEMENTS


def _elements(contract: Contract, sizes: Mapping[str, int]) -> int:
    """Returns how many elements all tensors have together."""
    workload = Workload("", sizes, 0)
    return sum(prod(shape_of(tensor, workload)) for tensor in contract.tensors)

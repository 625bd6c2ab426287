"""Executes the port on the reference's workloads and compares it with the reference's answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from porter.branch_coverage import NOT_MEASURED
from porter.comparison.garbage import POISONS
from porter.contract.model.contract import Contract, EntryKind
from porter.diagnostics.catalogue import core_catalogue, lookup
from porter.diagnostics.findings import Finding
from porter.evaluate.judge.checking import check
from porter.evaluate.judge.telling_sizes import Named
from porter.evaluate.model.outcome import Checked, Crashed, NotBuilt, NotVerified, Outcome, Refused, Verified, Wrong
from porter.execution.job import DISHONEST, Execute, Fault, FaultKind, Job, Run, Schedule, TensorValue, Value
from porter.native.timed import Timed
from porter.oracle.faults import code_of, named
from porter.oracle.reference import Expected, Reference, shapes_of
from porter.simt.sample import SampledCall
from porter.source_text import Source, Span

# A port must not depend on the order of its threads either; shuffled finds what forward hides.
SCHEDULES = (Schedule.FORWARD, Schedule.SHUFFLED)
# Faults of the port that its original does not have make it wrong even where the numbers agree.
_SERIOUS = frozenset(
    (FaultKind.LANE_OUTSIDE_MASK, FaultKind.LANE_ABSENT, FaultKind.DEADLOCK, FaultKind.OUT_OF_BOUNDS, FaultKind.RACE,
     FaultKind.LAUNCH, FaultKind.HOST_CHECK, FaultKind.DEVICE_ASSERT, FaultKind.MISALIGNED, FaultKind.CRASH,
     FaultKind.TIMEOUT, FaultKind.RESOURCE, FaultKind.UNDEFINED, FaultKind.UNKNOWN, FaultKind.UNPUBLISHED)
)  # fmt: skip
_UNACQUIRED = (
    "the order of memory between blocks was not executed: {} reads what another block stored, with no __threadfence() "
    "after the atomic by which it learned of it"
)
# What only CUDA defines.
_OPEN = {
    FaultKind.UNFIT: "the original converts floats to whole numbers whose type does not hold them{}; only CUDA "
    "defines the result",
    FaultKind.SHIFTED: "the original shifts numbers by at least as many bits as they have{}; only CUDA defines "
    "the result",
}
# An element type that host code refuses is not one of the port's, whatever the original takes.
_NOT_TAKEN = "nothing was compared at {}, which it does not take: {}"
_ALL_TYPES = "{} (--dtype names those that it is for)"
# Faults about who did the work: an empty input has none to do.
_WORK = frozenset((FaultKind.LIBRARY, FaultKind.DECOY, FaultKind.RESULT, FaultKind.HOST_WORK))


@dataclass(frozen=True, slots=True)
class Candidate:
    """The port at one warp width, ready to run; `warp_size` is None where what executes it knows no warps.

    `failure` is why it was built without its host functions, if it was. `compiled` is asked once every run was right:
    it compiles what they launched, and returns the devices for which that worked. `timed` is the same on a device; None
    where it is executed on the CPU. `rehearse` runs host code alone and returns faults. `conclude` says what all runs
    together show. `named` says what its code and its launches name; None where these numbers shall not choose further
    sizes. Where kernels are interpreted `operations` says how many a call has. Where
    host code plans `sample` runs a block of each launch on tensors without contents.
    """

    warp_size: int | None
    execute: Execute
    compiled: Callable[[], tuple[str, ...] | NotBuilt] = tuple
    failure: NotBuilt | None = None
    timed: Timed | None = None
    rehearse: Execute | None = None
    conclude: Callable[[], tuple[Fault, ...]] = tuple
    named: Callable[[], Named] | None = None
    operations: Callable[[Job], int] | None = None
    sample: Callable[[Job], SampledCall] | None = None


def judge(
    reference: Reference,
    candidates: tuple[Candidate, ...],
    *,
    is_trusted: bool = True,
    schedules: Sequence[Schedule] = SCHEDULES,
    besides: Verified | None = None,
) -> Outcome:
    """Run every candidate on every workload; the first that fails decides.

    Equal answers of a port that launched nothing prove nothing. Of a program with large buffers only the kept launches
    are compared; the outcome says so, and also names answers that differ and do not decide. A candidate that may keep
    something from call to call is called before. `besides` is the verdict over other workloads, to which this one adds.
    """
    trial = _Trial(reference, schedules, is_trusted=is_trusted)
    for candidate in candidates:
        for expected in reference.expected:
            failed = trial.failed(candidate, expected)
            if isinstance(failed, Refused) or (failed is not None and expected.decides):
                return failed
            if isinstance(failed, Crashed) and expected.faults_decide:
                return failed
            if failed is not None:
                trial.tell(expected, failed)
    if not trial.launched and besides is None:
        return _without_launch(reference, trial.checked)
    for candidate in candidates:
        if refused := trial.concluded(candidate):
            return refused
    if trial.not_taken and not is_trusted:
        return NotVerified(_ALL_TYPES.format("; ".join(trial.not_taken.values())))
    trial.said.update(trial.not_taken)
    verified = Verified(tuple(trial.checked), "; ".join(trial.said.values()), coverage=trial.coverage)
    return _compiled(candidates, verified) if besides is None else besides.joined(verified)


class _Trial:
    """Collects the runs so far: comparisons, whether a kernel was launched, and what has to be said."""

    def __init__(self, reference: Reference, schedules: Sequence[Schedule], *, is_trusted: bool) -> None:
        self.reference = reference
        self._schedules = schedules
        self._is_trusted = is_trusted
        self.excused = frozenset(finding.code for finding in reference.findings)
        self.checked: list[Checked] = []
        self.said: dict[str, str] = dict(_left_open(reference))
        self.not_taken: dict[str, str] = {}
        self.launched = False
        self.coverage = NOT_MEASURED
        self._earlier: dict[tuple[object, ...], tuple[str, tuple[Value, ...]]] = {}

    def failed(self, candidate: Candidate, expected: Expected) -> Refused | Wrong | Crashed | NotVerified | None:
        """Returns why `candidate` does not answer one workload as `expected`; None where it does."""
        contract, workload = self.reference.contract, expected.workload
        place = f"{named(workload)}{_at(candidate)}"
        for schedule in self._schedules:
            given = self._after_another(candidate, expected, self._job(candidate, expected, schedule))
            run = candidate.execute(given)
            if rules := broken_rules(run.faults, self.reference.habits | (_WORK if _is_empty(given) else frozenset())):
                return Refused(f"{rules[0].code}: {at_line(rules[0])}{rules[0].message} ({place})", rules)
            broken = _broken(run, self.excused)
            if broken is not None and given.before:  # two calls take twice the time
                given = replace(given, before=())
                run = candidate.execute(given)
                broken = _broken(run, self.excused)
            if broken is not None and workload.axes and broken.kind is FaultKind.HOST_CHECK:
                self.said.setdefault(workload.name, _NOT_TAKEN.format(workload.name, broken.message))
                return None
            if broken is not None and workload.dtypes and broken.kind is FaultKind.HOST_CHECK:
                self.not_taken.setdefault(workload.name, _NOT_TAKEN.format(workload.name, broken.message))
                return None
            if broken is not None:
                return _stopped(broken, candidate, place, self.checked, self.reference.habits)
            self.launched = self.launched or bool(run.launches)
            if not (run.launches and _is_empty(given)):
                self.coverage |= run.coverage  # launches on empty inputs execute nothing
            if unseen := _unseen(contract, run):
                self.said.setdefault(workload.name, unseen)
            if reading := _unacquired(run, self.excused):
                self.said.setdefault(_UNACQUIRED, _UNACQUIRED.format(reading))
            held = check(contract, expected, run, candidate.warp_size)
            if not held.passed and given.before:
                alone = candidate.execute(replace(given, before=()))
                if check(contract, expected, alone, candidate.warp_size).passed:
                    return _kept(held, place)
            if not held.passed:
                return Wrong(f"{held.worst} ({place})", (*self.checked, held))
        self.checked.append(held)
        return None

    def _job(self, candidate: Candidate, expected: Expected, schedule: Schedule) -> Job:
        """Returns the run of one workload. Memory that nobody wrote holds something else in each schedule."""
        given = expected.job(self.reference.contract, schedule)
        is_open = self._is_trusted or candidate.warp_size is None or code_of(FaultKind.UNINITIALISED) in self.excused
        return given if is_open else replace(given, poison=POISONS[SCHEDULES.index(schedule)])

    def _after_another(self, candidate: Candidate, expected: Expected, given: Job) -> Job:
        """Runs `given` after a call on other contents of the same sizes, once, which shows what is kept from that call.

        A Python worker has had calls before anyway; in C++ every run is a process of its own.
        """
        if candidate.warp_size is None or self._is_trusted or FaultKind.KEPT in self.reference.habits:
            return given
        key = candidate.warp_size, given.schedule, *shapes_of(given)
        name, arguments = self._earlier.setdefault(key, (expected.workload.name, given.arguments))
        if name == expected.workload.name:
            return given
        self._earlier[key] = name, ()
        return replace(given, before=arguments)

    def concluded(self, candidate: Candidate) -> Refused | None:
        """Returns the verdict on all runs together: the rules they break, and what they leave open."""
        faults = candidate.conclude()
        self.said.update((fault.message, fault.message) for fault in faults if fault.kind is FaultKind.UNKNOWN)
        broken = broken_rules(faults, self.reference.habits)
        return Refused(f"{broken[0].code}: {broken[0].message}", broken) if broken else None

    def tell(self, expected: Expected, failed: Refused | Wrong | Crashed | NotVerified) -> None:
        """Notes something that does not decide, for each workload the first."""
        otherwise = f"its answer differs where a difference does not count as wrong: {failed.because}"
        self.said.setdefault(expected.workload.name, otherwise)


def _is_empty(given: Job) -> bool:
    """Returns whether there is nothing to work on: then every candidate returns early with whatever there is."""
    return any(isinstance(value, TensorValue) and 0 in value.shape for value in given.arguments)


def broken_rules(faults: Sequence[Fault], habits: frozenset[FaultKind]) -> tuple[Finding, ...]:
    """Returns what shows that the work is not the candidate's own, but for what the original does as well."""
    seen = [fault for fault in faults if fault.kind in DISHONEST - habits]
    return tuple(
        replace(
            lookup(code_of(fault.kind), core_catalogue()).at(
                Span(0, 0, fault.line, 1) if fault.line else None, fault.message
            ),
            source=Source(Path(fault.file), "") if fault.file else None,
        )
        for fault in seen
    )


def _kept(held: Checked, place: str) -> Refused:
    """Returns the verdict on an answer that is right by itself and wrong after another call."""
    rule = lookup(code_of(FaultKind.KEPT), core_catalogue()).at(
        None, f"its answer depends on what an earlier call left in memory: {held.worst}"
    )
    return Refused(f"{rule.code}: {rule.message} ({place})", (rule,))


def at_line(rule: Finding) -> str:
    """Returns the place of a broken rule, to stand before its message; empty where it has none."""
    return f"{rule.source.path.name}:{rule.span.line}: " if rule.source and rule.span else ""


def _stopped(
    broken: Fault, candidate: Candidate, place: str, checked: list[Checked], habits: frozenset[FaultKind]
) -> Crashed | NotVerified:
    """Returns what a run that did not finish means: an interpreter may be too slow for it, or not know all of it.

    A host that reads more than is followed has not crashed where that of the original has the habit.
    """
    if broken.kind is FaultKind.UNKNOWN or (broken.kind is FaultKind.HOST_WORK and broken.kind in habits):
        return NotVerified(f"{described(broken)} ({place})")
    if broken.kind is FaultKind.TIMEOUT and candidate.warp_size is None:
        because = f"the port is too slow to be interpreted here ({place}); smaller sizes: --size"
        return NotVerified(because, too_slow=True)
    return Crashed(f"{described(broken)} ({place})", tuple(checked), (broken,))


def _without_launch(reference: Reference, checked: list[Checked]) -> Wrong | NotVerified:
    """Returns the verdict on equal answers without a kernel: it is open where the original launches none either."""
    if reference.launched:
        return Wrong(f"it launches no kernel, and the original launches {reference.launched[0]}", tuple(checked))
    return NotVerified("no workload makes it launch a kernel")


def _at(candidate: Candidate) -> str:
    return "" if candidate.warp_size is None else f" at {candidate.warp_size} lanes"


def _compiled(candidates: tuple[Candidate, ...], verified: Verified) -> Verified | NotBuilt:
    """Returns the verdict with the devices that what ran compiles for."""
    devices: list[str] = []
    for candidate in candidates:
        compiled = candidate.compiled()
        if isinstance(compiled, NotBuilt):
            return compiled
        devices.extend(compiled)
    return replace(verified, compiled_for=tuple(devices))


def _unseen(contract: Contract, run: Run) -> str:
    """Returns what of a program's work could not be compared."""
    kept, launches = len(run.snapshots), len(run.launches)
    if contract.entry.kind is not EntryKind.PROGRAM or kept >= launches:
        return ""
    return f"buffers were compared after the first {kept} of {launches} launches, then only what it prints"


def _left_open(reference: Reference) -> Iterator[tuple[str, str]]:
    """Yields what has to be said of arithmetic in the original to which only CUDA gives an answer."""
    for kind, told in _OPEN.items():
        found = [f for f in reference.findings if f.code == code_of(kind)]
        lines = ", ".join(str(f.span.line) for f in found if f.span is not None)
        if found:
            yield told, told.format(f" (line {lines})" if lines else "")


def _unacquired(run: Run, excused: frozenset[str]) -> str:
    """Returns where a block reads what another one stored, without the fence of the original; empty if nowhere."""
    found = (f for f in run.faults if f.kind is FaultKind.UNACQUIRED and code_of(f.kind) not in excused)
    return next((f"{f.file.rpartition('/')[2]}:{f.line}" if f.line else f.kernel for f in found), "")


def _broken(run: Run, excused: frozenset[str]) -> Fault | None:
    """Returns the fault that makes the run worthless; a kind that the original shows too is no reason."""
    if not run.finished:
        lost = Fault(FaultKind.CRASH, "", 0, "", f"ended with exit code {run.exit_code}", fatal=True)
        return next((f for f in run.faults if f.fatal), next(iter(run.faults), lost))
    return next((f for f in run.faults if f.fatal or (f.kind in _SERIOUS and code_of(f.kind) not in excused)), None)


def described(fault: Fault) -> str:
    """Returns where a fault is, what it is, in which kernel, and its message."""
    place = f"{fault.file}:{fault.line}: " if fault.line else ""
    kernel = f" in {fault.kernel}" if fault.kernel else ""
    return f"{place}{fault.kind.value}{kernel}: {fault.message}"

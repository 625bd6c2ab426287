"""The CUDA original executed at 32 lanes: its outputs, and whether they can be believed.

For each workload: forward; reverse with other bytes in fresh memory; shuffled. What differs hangs on the order of
threads (a race or a missing barrier), or on these bytes (it was never written, or computed from what was not); forward
with other bytes, and reverse with the first ones, tell which. Sums by floating-point atomics may differ within
tolerance: that is noted and no fault. Once it is called after a call on other contents: what keeps something of that
call lets its candidates do so.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from porter.branch_coverage import NOT_MEASURED, BranchCoverage
from porter.comparison.compare import compare
from porter.comparison.garbage import GARBAGE, POISONS, is_fresh, only_poison
from porter.contract.model.contract import Contract, Distribution, EntryKind, Workload
from porter.diagnostics.findings import Finding
from porter.execution.job import (
    Construction,
    Execute,
    Fault,
    FaultKind,
    HardwareLimits,
    Job,
    Run,
    Schedule,
    TensorValue,
    Value,
)
from porter.oracle.faults import OF_NUMBERS, Observed, findings_of, named, observation, outgrows_array
from porter.oracle.jobs import job
from porter.oracle.outputs import Outputs, is_rounding, outputs, widest
from porter.oracle.text_output import compare_text, on_any_device
from porter.source.program import Program

_SCHEDULES = (Schedule.REVERSE, Schedule.SHUFFLED)
_QUERIES = ("cudaDeviceProp", "cudaGetDeviceProperties", "cudaDeviceGetAttribute")
_ANOTHER_DEVICE = HardwareLimits(claimed_warp_size=64, shared_bytes=65536, dynamic_shared_bytes=262144)
PROGRAM_WORKLOAD = Workload("program", {}, seed=0)
_UNSOUND = frozenset(
    (FaultKind.OUT_OF_BOUNDS, FaultKind.DEADLOCK, FaultKind.RACE, FaultKind.CRASH, FaultKind.TIMEOUT,
     FaultKind.RESOURCE, FaultKind.LAUNCH, FaultKind.HOST_CHECK, FaultKind.DEVICE_ASSERT, FaultKind.MISALIGNED,
     FaultKind.UNDEFINED, FaultKind.UNKNOWN)
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Expected:
    """The original's answer to one workload.

    `yardstick` shows how much the original itself rounds: for each element, of the runs that were to round otherwise,
    in another order of threads or another precision, the one furthest away. It is None where no such run finished.
    `by_chance` names the outputs that 16-bit arithmetic decides: they change with the chance by which it is rounded.
    `arguments` are those of the run where no seed makes them. Only where it `decides` is another answer wrong;
    where `faults_decide` a candidate that breaks is, whatever its answer.
    `single` names the float64 outputs that the original computes in single precision.
    `largest_term` bounds what may have gone into a sum that cancels, where the yardstick shows how that rounds.
    `construction` is that of the original's own class, where it is one.
    Where the original has no twin that `rounds_otherwise` nothing is known of how often its elements do.
    `wider` are the outputs in double precision, where the original's own type lost some of them to an overflow.
    """

    workload: Workload
    outputs: Outputs
    yardstick: Outputs | None
    by_chance: frozenset[str] = frozenset()
    single: frozenset[str] = frozenset()
    arguments: tuple[Value, ...] | None = None
    decides: bool = True
    faults_decide: bool = False
    largest_term: float = 0.0
    construction: Construction | None = None
    rounds_otherwise: bool = True
    wider: Outputs | None = None

    def job(self, contract: Contract, schedule: Schedule = Schedule.FORWARD) -> Job:
        """The run of a candidate that is to give these outputs."""
        given = job(contract, self.workload, schedule=schedule, given=self.arguments)
        return replace(given, construction=self.construction)


@dataclass(frozen=True)
class Reference:
    """The original's answers. `because` is empty when they can be believed, else says why they cannot.

    `at_fault` says that what was observed makes the original wrong, rather than merely not brought to run here.
    `complete` is False when the budget ended before every workload was examined; `seconds` of processor time were used.
    `launched` are the plain names of what the workloads launched, each once: that of a kernel, or of the variable
    through which one was launched. `habits` are what its own host code does, which its candidates may do as well.
    `coverage` is that of its branches, by the first run of each workload.
    """

    contract: Contract
    expected: tuple[Expected, ...]
    findings: tuple[Finding, ...]
    deterministic: bool
    complete: bool
    because: str
    seconds: float
    at_fault: bool = False
    launched: tuple[str, ...] = ()
    habits: frozenset[FaultKind] = frozenset()
    coverage: BranchCoverage = NOT_MEASURED


def workloads_of(contract: Contract) -> tuple[Workload, ...]:
    """The contract's workloads; a PROGRAM has one, without sizes."""
    return (PROGRAM_WORKLOAD,) if contract.entry.kind is EntryKind.PROGRAM else contract.workloads


def examine(
    contract: Contract,
    program: Program,
    execute: Execute,
    *,
    drafted: bool = False,
    once: bool = False,
    budget_s: float = 60.0,
) -> Reference:
    """Run the original on every workload of `contract` and judge it.

    `execute` runs the watched executable built at 32 lanes. `drafted` says that porter chose sizes: an original that
    only takes others is not wrong. No workload is begun after `budget_s` of processor time; the first is always
    examined whole. With `once` each workload is run a single time, or twice where nothing seems to be written:
    what that shows is all that is judged.
    """
    examiner = _Examiner(contract, program, execute, drafted, once)
    workloads = workloads_of(contract)
    expected = tuple(examiner.expected(workloads, budget_s))
    if not once:
        examiner.call_twice(expected)
    return Reference(
        contract=contract,
        expected=expected,
        findings=findings_of(examiner.observed, program.source),
        deterministic=not any(o.schedule_dependent for o in examiner.observed),
        complete=len(expected) == len(workloads),
        because=examiner.because() if workloads else "the contract has no workload",
        seconds=examiner.seconds,
        at_fault=any(o.shows_fault for o in examiner.observed),
        launched=tuple(dict.fromkeys(examiner.launched)),
        habits=frozenset(examiner.habits),
        coverage=examiner.coverage,
    )


class _Examiner:
    """Collects what is observed over all workloads."""

    def __init__(self, contract: Contract, program: Program, execute: Execute, drafted: bool, once: bool) -> None:
        self.contract = contract
        self.drafted = drafted
        self.once = once
        self.program = program
        self.execute = execute
        self.observed: list[Observed] = []
        self.launched: list[str] = []
        self.habits: set[FaultKind] = set()
        self.coverage = NOT_MEASURED
        self.seconds = 0.0
        self.steady = True  # whether no workload so far changed with the order of threads or with fresh memory
        self.fitted = False  # whether a workload so far was examined and nothing was unsound

    def because(self) -> str:
        """Returns why the reference cannot be believed; empty when it can."""
        shows_fault = any(o.shows_fault for o in self.observed)
        at = next((i for i, o in enumerate(self.observed) if (o.shows_fault if shows_fault else o.unsound)), None)
        if at is None:
            return ""
        # Garbage taken in before is where the trouble begins: a counter never cleared, a lane no warp has.
        garbage = next((o.text for o in self.observed[:at] if o.kind in GARBAGE and o.line), "")
        return f"{self.observed[at].text}; before that, {garbage}" if garbage else self.observed[at].text

    def expected(self, workloads: tuple[Workload, ...], budget_s: float) -> Iterator[Expected]:
        """The outputs for one workload after the other, until one is not finished, the budget is spent, or the original
        is seen to be wrong: larger workloads would say no more, and a point sampling that races took a minute for them.
        """
        for index, workload in enumerate(workloads):
            found = self.examine(workload) if index == 0 or self.seconds <= budget_s else None
            if found is None:
                return
            self.fitted = self.fitted or not any(o.unsound for o in self.observed)
            yield found
            if any(o.shows_fault for o in self.observed):
                return

    def examine(self, workload: Workload) -> Expected | None:
        """The outputs for `workload`; None when the original does not finish."""
        first = self._timed(self.execute(job(self.contract, workload, POISONS[0])))
        self._collect(first, workload)
        self.launched += [launch.plain_name for launch in first.launches]
        self.coverage |= first.coverage
        if not first.finished:
            return None
        want = self._on_any_device(workload, outputs(self.contract, first))
        if self.once:
            if all(is_fresh(tensor) for _, tensor in want.tensors):
                self._poison(workload, want)
            return Expected(workload, want, None)
        schedules = _SCHEDULES[1:] if self._is_steady(workload, want) else _SCHEDULES
        if not self.steady:
            self._poison(workload, want)
        others = [self._schedule(workload, schedule, want) for schedule in schedules]
        return Expected(workload, want, widest(want, others))

    def _is_steady(self, workload: Workload, want: Outputs) -> bool:
        """Returns whether the answer is the same by each bit where order and fresh memory are others at once.

        Once it is not, they are looked at one by one at each workload.
        """
        if self.steady:
            run = self._timed(self.execute(job(self.contract, workload, POISONS[1], _SCHEDULES[0])))
            got = outputs(self.contract, run) if run.finished else None
            self.steady = got is not None and not any(differences(got, want, exact=True))
        return self.steady

    def _on_any_device(self, workload: Workload, want: Outputs) -> Outputs:
        """`want`, without the lines in which a program describes the device that it runs on."""
        if not want.text or not _asks_for_device(self.program):
            return want
        other = self._timed(self.execute(replace(job(self.contract, workload, POISONS[0]), hardware=_ANOTHER_DEVICE)))
        return replace(want, text=on_any_device(want.text, other.stdout)) if other.finished else want

    def call_twice(self, expected: tuple[Expected, ...]) -> None:
        """Note whether an answer hangs on the call before, which all candidates then inherit."""
        first: dict[tuple[object, ...], Job] = {}
        for one in expected:
            given = one.job(self.contract)
            before = first.setdefault(shapes_of(given), given)
            if before is not given:
                run = self._timed(self.execute(replace(given, before=before.arguments)))
                got = outputs(self.contract, run) if run.finished else one.outputs
                if any(differences(got, one.outputs, exact=False, contract=self.contract)):
                    self.habits.add(FaultKind.KEPT)
                return

    def _timed(self, run: Run) -> Run:
        self.seconds += run.seconds
        return run

    def _collect(self, run: Run, workload: Workload) -> None:
        is_usual = workload.distribution is Distribution.DECLARED
        faults = tuple(fault for fault in run.faults if is_usual or fault.kind not in OF_NUMBERS)
        outgrown = [fault for fault in faults if outgrows_array(fault) and self._is_chosen(workload)]
        # What was overwritten behind an array may crash it: that comes of the same sizes.
        self.observed += [self._observation(fault, workload) for fault in (outgrown if self.fitted else ()) or faults]
        if not run.finished and not run.faults:
            text = f"the original ended with exit code {run.exit_code} in {named(workload)}"
            self.observed.append(Observed(FaultKind.CRASH, text, 0, unsound=True))

    def _observation(self, fault: Fault, workload: Workload) -> Observed:
        unsound = fault.fatal or fault.kind in _UNSOUND
        # An array that other sizes fit into is too small for these, which porter chose; else it is for all.
        chosen = self._is_chosen(workload) and (self.fitted or not outgrows_array(fault))
        return observation(fault, workload, unsound=unsound, drafted=chosen)

    def _is_chosen(self, workload: Workload) -> bool:
        """Returns whether porter chose the sizes of `workload`."""
        return self.drafted and bool(workload.sizes)

    def _poison(self, workload: Workload, want: Outputs) -> None:
        again = self._timed(self.execute(job(self.contract, workload, POISONS[1])))
        if not again.finished:
            self._collect(again, workload)
            return
        got = outputs(self.contract, again)
        for name, difference in differences(got, want, exact=True):
            unwritten = _is_poison(got, want, name)
            kind = "some elements are never written" if unwritten else "it depends on memory that was never written"
            text = f"output '{name}' in {named(workload)}: {kind}; {difference}"
            # Elements that stay as they were do so in a port, too; garbage that is computed with is no reference.
            self.observed.append(Observed(FaultKind.UNINITIALISED, text, 0, unsound=not unwritten, unwritten=unwritten))

    def _schedule(self, workload: Workload, schedule: Schedule, want: Outputs) -> Outputs | None:
        """The outputs in another order, where they differ from `want` by rounding alone."""
        given = job(self.contract, workload, POISONS[0], schedule)
        run = self._timed(self.execute(given))
        if not run.finished:
            self._collect(run, workload)
            return None
        got = outputs(self.contract, run)
        wrong = dict(differences(got, want, exact=False, contract=self.contract))
        if not any(o.kind is FaultKind.RACE and o.unsound for o in self.observed):
            # Nobody raced, so what differs was added up by atomics: then even half types lose a few dozen ulps at most.
            terms = max((a.storage.size for a in given.arguments if isinstance(a, TensorValue)), default=1)
            wrong = {name: text for name, text in wrong.items() if not is_rounding(got, want, name, terms)}
        for name, difference in wrong.items():
            text = f"output '{name}' in {named(workload)} depends on the order of threads: {difference}"
            self.observed.append(Observed(FaultKind.RACE, text, 0, unsound=True, schedule_dependent=True))
        for name, difference in differences(got, want, exact=True):
            if name not in wrong:
                text = f"output '{name}' rounds differently in another order of threads: {difference}"
                self.observed.append(Observed(FaultKind.RACE, text, 0, unsound=False, rounding=True))
        return None if wrong else got


def _asks_for_device(program: Program) -> bool:
    """Returns whether the program reads properties of its device."""
    texts = (program.source.text, *(header.text for _, header in program.headers))
    return any(query in text for text in texts for query in _QUERIES)


def shapes_of(given: Job) -> tuple[object, ...]:
    """The shapes of a call's tensors, and its numbers: calls that have these alike differ in contents alone."""
    return tuple((value.shape, value.layout) if isinstance(value, TensorValue) else value for value in given.arguments)


def differences(
    got: Outputs, want: Outputs, *, exact: bool, contract: Contract | None = None
) -> Iterator[tuple[str, str]]:
    """Outputs that differ, with the worst place; `exact` means by a single bit."""
    for (name, a), (_, b) in zip(got.tensors, want.tensors, strict=True):
        if exact:
            same = a.storage.tobytes() == b.storage.tobytes()
            if not same:
                yield name, compare(a, b, None).worst or "in the last bits"
            continue
        tolerance = contract.tolerance.get(b.dtype) if contract is not None else None
        comparison = compare(a, b, tolerance)
        if not comparison.passed:
            yield name, comparison.worst
    text = compare_text(got.text, want.text, exact=exact)
    if text:
        yield "stdout", text


def _is_poison(got: Outputs, want: Outputs, name: str) -> bool:
    """Returns whether the elements that differ hold nothing but poison in both runs."""
    a = next((t for n, t in got.tensors if n == name), None)
    b = next((t for n, t in want.tensors if n == name), None)
    if a is None or b is None:
        return False
    return only_poison(b.storage.reshape(-1).view("uint8"), a.storage.reshape(-1).view("uint8"))

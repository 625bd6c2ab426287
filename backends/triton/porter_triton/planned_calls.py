"""The calls of a candidate as they are planned: each part of a plan is checked, carried out if wished, and answered."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from porter.contract.model.dtype import DType
from porter.execution.job import Fault, FaultKind, Job, Run, TensorValue
from porter.launch_plan.admission import Admission
from porter.launch_plan.library_work import PlanRefusedError
from porter.launch_plan.steps import LaunchPlan, Number, Read, Return, Step
from porter.measure.deadline import OutOfTime
from porter.simt.layouts import room_bytes
from porter.simt.protocol import coverage_of
from porter.worker.child import Death
from porter_triton.processes import DeadError, Finished, Numbers, PlanningProcess, ReplayProcess
from porter_triton.records import Ended, KernelText, PlanRequest, Recorded
from porter_triton.requests import ReplayRequest

_MOST_CONFIGURATIONS = 64


@dataclass(frozen=True, slots=True)
class Function:
    """The function of a module that is called: with `launch` it takes grid, block and shared memory, too.

    `returns` is the type of a number that it returns; `permitted` are the operators of the original's own host code.
    `lists` are the arguments that it takes together as a list, each by the first and how many there are.
    """

    name: str
    launch: bool = False
    returns: DType | None = None
    permitted: frozenset[str] = frozenset()
    lists: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class NativePlan:
    """A call on a device: `prepared` makes the memory that is kept from earlier ones, `steps` are the call's own.

    `reads` are the numbers that it read.
    """

    prepared: tuple[Step, ...]
    steps: tuple[Step, ...]
    reads: tuple[tuple[Number, ...], ...]


@dataclass(frozen=True, slots=True)
class PlannedAlone:
    """A call that is not carried out: its plan, the steps that would be, and the `last` part that was sent."""

    plan: LaunchPlan
    steps: tuple[Step, ...]
    last: Recorded

    @property
    def reads(self) -> bool:
        """Returns True where it depends on numbers that were not there."""
        return any(isinstance(step, Read) for step in self.plan.steps)


# The numbers of the read that ends these steps, in memory that the others have prepared.
AnswerRead = Callable[[Sequence[Step], Sequence[Step]], tuple[Number, ...]]


class PlannedCalls:
    """The plans of calls of the module in `file`, made in `planning` and carried out in `replaying`.

    `restored` says that the last call that was planned uses memory of an earlier one.
    """

    def __init__(self, file: str, planning: PlanningProcess, replaying: ReplayProcess) -> None:
        self._file = file
        self._planning = planning
        self._replaying = replaying
        self._kernels: dict[str, KernelText] = {}
        self._sent: set[str] = set()
        self._configurations: dict[str, int] = {}
        self.admission = Admission()
        self.restored = False

    @property
    def kernels(self) -> Mapping[str, KernelText]:
        """The texts of all kernels that calls named so far, by their keys."""
        return self._kernels

    def configurations(self, function: Function) -> int:
        """Returns how many configurations the autotuners of `function` choose from, as far as that is known."""
        return self._configurations.get(function.name, 1)

    def alone(self, function: Function, requests: Sequence[PlanRequest], job: Job) -> list[PlannedAlone]:
        """Returns calls that are planned one after the other, and not carried out; unanswered reads are zero.

        Raises `EndedError` for the first that does not come to its end.
        """
        self._renew()
        with self._endings():
            parts = self._planning.plans([replace(request, alone=True) for request in requests])
            return [self._planned_alone(function, part, job) for part in parts]

    def _planned_alone(self, function: Function, part: Recorded, job: Job) -> PlannedAlone:
        if part.asks:
            raise PlanRefusedError(FaultKind.FORGED, "it asks again for numbers that were given as zero")
        self._begin(function, job)
        _, steps = self._admitted(part, function)
        return PlannedAlone(LaunchPlan(part.steps), tuple(steps), part)

    def carried_out(self, function: Function, call: PlannedAlone, job: Job) -> Finished:
        """Returns the run of a call that reads nothing. Raises `EndedError`."""
        with self._endings():
            done = self._done(call.steps, job, function, begins=True, launches=True)
        assert isinstance(done, Finished)  # its last step is a `Return`
        return _with_host_branches(done, call.last)

    def planned(
        self, function: Function, request: PlanRequest, job: Job, *, launches: bool = True, restores: bool = True
    ) -> tuple[LaunchPlan, Finished]:
        """Returns the whole plan of a call, and its outcome. Raises `EndedError`.

        Without `restores` memory that is kept from earlier calls holds what the last call left.
        """
        self._renew()
        self._begin(function, job)
        steps: list[Step] = []
        reads: list[tuple[Number, ...]] = []
        with self._endings():
            part = self._planning.plan(request)
            while True:
                restoring, admitted = self._admitted(part, function)
                self.restored = self.restored or bool(restoring)
                admitted = admitted if restores else list(part.steps)
                steps += part.steps
                begins = restores and len(steps) == len(part.steps)
                done = self._done(admitted, job, function, begins=begins, launches=launches)
                if isinstance(done, Finished):
                    if not part.asks:
                        done = _with_host_branches(done, part)
                    else:  # it ended at a fault, and the module waits for an answer
                        self._planning.close()
                    return LaunchPlan(tuple(steps), tuple(reads)), done
                reads.append(done.values)
                part = self._planning.answer(reads[-1])

    def native(self, function: Function, request: PlanRequest, job: Job, read: AnswerRead) -> NativePlan:
        """Returns the plan of a call whose numbers `read` gives. Raises `EndedError`."""
        self._renew()
        self._begin(function, job)
        prepared: list[Step] = []
        steps: list[Step] = []
        reads: list[tuple[Number, ...]] = []
        with self._endings():
            part = self._planning.plan(request)
            while True:
                restoring, _ = self._admitted(part, function)
                steps += part.steps
                prepared += restoring
                if not part.asks:
                    return NativePlan(tuple(prepared), tuple(steps), tuple(reads))
                reads.append(read(steps, prepared))
                part = self._planning.answer(reads[-1])

    def _renew(self) -> None:
        """Forgets what is kept from calls of a process that is gone."""
        if not self._planning.is_there:
            self.admission = Admission()
            self.admission.know(tuple(self._kernels))

    def _begin(self, function: Function, job: Job) -> None:
        self.admission.begin(_sizes(job), function.permitted, _parameters(job))
        self.restored = False

    @contextmanager
    def _endings(self) -> Iterator[None]:
        """Raises `EndedError` where the process that plans dies, or its plan is refused. A stopped call ends."""
        try:
            yield
        except DeadError as dead:
            raise EndedError(ended_run(_of_death(dead.death))) from None
        except PlanRefusedError as refused:
            self._planning.close()  # it may be in the midst of a call
            file = self._file if refused.line else ""
            raise EndedError(
                ended_run(Fault(refused.kind, file, refused.line, "", refused.message, fatal=True))
            ) from None
        except OutOfTime:
            self._planning.close()  # it may wait for numbers, and would take the next call for them
            raise

    def _admitted(self, part: Recorded, function: Function) -> tuple[list[Step], list[Step]]:
        """Returns the steps that restore memory for `part`, and all that are to be carried out for it.

        Raises `PlanRefusedError`, and `EndedError` where the call has ended.
        """
        for kernel in part.kernels:
            if self._kernels.setdefault(kernel.key, kernel) != kernel:
                raise PlanRefusedError(FaultKind.FORGED, f"two kernels are called {kernel.key!r}")
        self.admission.know([kernel.key for kernel in part.kernels])
        self._configurations[function.name] = min(max(1, part.configurations), _MOST_CONFIGURATIONS)
        restoring: list[Step] = []
        admitted: list[Step] = []
        for step in part.steps:
            first = self.admission.admit(step)
            restoring += first
            admitted += (*first, step)
        if part.ended is not None:
            raise EndedError(ended_run(_of_end(part.ended)))
        last = part.steps[-1] if part.steps else None
        if not isinstance(last, Read if part.asks else Return):
            raise PlanRefusedError(FaultKind.FORGED, "the plan has no end")
        return restoring, admitted

    def _done(
        self, steps: Sequence[Step], job: Job, function: Function, *, begins: bool, launches: bool
    ) -> Numbers | Finished:
        if not self._replaying.is_there:
            self._sent = set()
        new = tuple(kernel for key, kernel in self._kernels.items() if key not in self._sent)
        tensors = tuple((i, v) for i, v in enumerate(job.arguments) if isinstance(v, TensorValue))
        asked = ReplayRequest(
            tuple(steps),
            new,
            begins,
            tensors if begins else (),
            job.schedule,
            job.seed,
            job.poison,
            function.returns,
            launches,
        )
        done = self._replaying.carry_out(asked, job)
        self._sent |= self._kernels.keys()
        return done


class EndedError(Exception):
    """A call that did not come to its end; `run` says how."""

    def __init__(self, run: Run) -> None:
        super().__init__()
        self.run = run


def _sizes(job: Job) -> dict[int, int]:
    """Returns the bytes of each argument that is a tensor, by its number."""
    tensors = ((index, value) for index, value in enumerate(job.arguments) if isinstance(value, TensorValue))
    return {index: room_bytes(value) for index, value in tensors if not value.null}


def _parameters(job: Job) -> frozenset[int]:
    """Returns the numbers of the arguments that are parameters of a class: they come last."""
    state = job.construction.state if job.construction else ()
    return frozenset(range(len(job.arguments) - len(state), len(job.arguments)))


def _with_host_branches(done: Finished, last: Recorded) -> Finished:
    """Returns the run of a call, with the branches of its host code among those that it took."""
    return replace(done, run=replace(done.run, coverage=done.run.coverage | coverage_of(dict(last.branches))))


def ended_run(*faults: Fault) -> Run:
    """Returns a run that did not finish, without answers."""
    return Run(False, 1, (), (), (), (), (), faults, "", "", 0.0)


def _of_death(death: Death) -> Fault:
    return Fault(death.kind, "", 0, "", death.message, fatal=True)


_KINDS: Mapping[str, FaultKind] = {kind.value: kind for kind in FaultKind}


def _of_end(ended: Ended) -> Fault:
    file = ended.file.rpartition("/")[2]
    return Fault(_KINDS.get(ended.kind, FaultKind.CRASH), file, ended.line, "", ended.message[:2000], fatal=True)

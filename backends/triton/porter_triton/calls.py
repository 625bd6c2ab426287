"""Calls a candidate: its host code plans a call, the plan is checked step by step, and another process carries it out.

So only the candidate's kernels compute, and only porter owns memory. Calls differ in signs that host code might look
for: whether it has seen the tensors, which device it is told of, whether a stream is captured. Each plan that differs
from the one before is carried out as well.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import prod

from porter.evaluate.judge.telling_sizes import Named
from porter.execution.job import Fault, FaultKind, Job, Run, TensorValue
from porter.launch_plan.normal import nudged, same_work, work_of
from porter.launch_plan.steps import Compute, Constant, LaunchPlan, Move, TensorView
from porter.simt.layouts import offset_of, strides_of
from porter.simt.protocol import coverage_of
from porter_triton.call_history import CallHistory
from porter_triton.differences import distance
from porter_triton.planned_calls import (
    AnswerRead,
    EndedError,
    Function,
    NativePlan,
    PlannedAlone,
    PlannedCalls,
    ended_run,
)
from porter_triton.processes import PlanningProcess, ReplayProcess
from porter_triton.records import Arguments, DeviceFacts, KernelText, PlanRequest, TensorSpec
from porter_triton.requests import PUT_BACK
from porter_triton.whole_numbers import operations

# The first is the device that originals run on (`porter/runtime_device.h` of the executor), the others differ in what
# host code may ask of a device.
DEVICES = (
    DeviceFacts("NVIDIA H100 80GB HBM3", (9, 0), 4, 80 << 30, 50 << 20),
    DeviceFacts("NVIDIA H200", (9, 0), 132, 141 << 30, 60 << 20),
    DeviceFacts("NVIDIA A100-SXM4-40GB", (8, 0), 108, 40 << 30, 40 << 20),
)
_OBJECTS = (Arguments.NEW, Arguments.SAME, Arguments.SAME_PLACES)
_REPEATS = 12  # of the second call, planned alone: what counts its calls plans another sooner or later
# Operators of an original's own host code that may make a result which is not dense, or one that no kernel wrote.
_VIEWS = frozenset({"t", "expand", "expand_as", "select", "slice", "narrow", "unbind", "chunk", "split", "unfold"})
_TURNS = frozenset({"permute", "transpose", "movedim"})
_COPIES = frozenset({"copy_", "clone", "contiguous", "cat", "stack", "pad", "constant_pad_nd", "repeat", "flip", "to"})
_WORKED_ONCE = "it keeps what its first call made of its parameters, which were judged as if they never change: {}"
_STRIDING = _VIEWS | _TURNS | {"as_strided"}
_MOVING = _COPIES | _TURNS


@dataclass(frozen=True, slots=True)
class Call:
    """One call as it was carried out: its plan, and the run."""

    plan: LaunchPlan
    run: Run


class Calls:
    """The calls of the module in `file`, in `planning` and `replaying`."""

    def __init__(self, file: str, planning: PlanningProcess, replaying: ReplayProcess) -> None:
        self._file = file
        self._calls = PlannedCalls(file, planning, replaying)
        self._histories: defaultdict[str, CallHistory] = defaultdict(CallHistory)

    @property
    def kernels(self) -> tuple[KernelText, ...]:
        """The texts of all kernels that calls named so far."""
        return tuple(self._calls.kernels.values())

    def signatures(self, function: str) -> tuple[str, ...]:
        """Returns the signatures of the launches of `function` so far, each once."""
        return tuple(self._histories[function].signatures)

    def named(self, function: str) -> Named:
        """Returns the whole numbers compiled into what `function` launched so far, and the operations of a call."""
        history = self._histories[function]
        return Named(frozenset(history.numbers), history.operations)

    def operations(self, function: Function, job: Job) -> int:
        """Returns how many operations are interpreted in a call, as far as planning alone tells."""
        planned = self.plan(function, job)
        if isinstance(planned, str):
            return 0
        kernels = self._calls.kernels
        return sum(prod(launch.grid) * operations(kernels[launch.kernel].text) for launch in planned.launches)

    def run(self, function: Function, job: Job) -> Run:
        """Returns the run of one call. Never raises for anything that the module does."""
        history = self._histories[function.name]
        count, history.calls = history.calls, history.calls + 1
        request = self._request(function, job, count)
        call = self._carried_out(function, request, job)
        if not call.run.finished:
            return call.run
        keeps = self._calls.restored
        found = next(self._troubles(function, request, job, call), None)
        if found is None and keeps:
            found = self._after_another(function, request, job, call)
        if found is None and count == 1:
            found = self._otherwise(function, request, job, call)
        return found or call.run

    def plan(self, function: Function, job: Job) -> LaunchPlan | str:
        """Returns what a call plans where nothing is carried out; or why that is not known."""
        try:
            (planned,) = self._calls.alone(function, [self._request(function, job, 0)], job)
            return "it reads numbers of the device, which are not known here" if planned.reads else planned.plan
        except EndedError as ended:
            return next((fault.message for fault in ended.run.faults), "it does not come to its end")

    def native_plan(self, function: Function, job: Job, device: DeviceFacts, read: AnswerRead) -> NativePlan | Run:
        """Returns what a call plans for `device`, whose numbers `read` gives; or how the call ended instead.

        It is the plan of a second call, which finds what it keeps; all that follow have to ask for the same.
        """
        request = replace(self._request(function, job, 0), device=device)
        try:
            found = self._calls.native(function, request, job, read)
            for number in range(_REPEATS):
                asked = replace(request, objects=_OBJECTS[number % len(_OBJECTS)], answers=found.reads)
                again = self._calls.native(function, asked, job, read)
                if number and not same_work(LaunchPlan(again.steps), LaunchPlan(found.steps)):
                    message = "its calls do not ask for the same each time"
                    return ended_run(Fault(FaultKind.KEPT, "", 0, "", message, fatal=True))
                found = replace(again, reads=found.reads)
        except EndedError as ended:
            return ended.run
        return found

    def rehearse(self, function: Function, job: Job) -> Run:
        """Returns what a call at the sizes of `job` plans; nothing is launched, and what is read is zero."""
        try:
            (planned,) = self._calls.alone(function, [self._request(function, job, 0)], job)
        except EndedError as ended:
            return ended.run
        plan = planned.plan
        history = self._histories[function.name]
        named = (*history.otherwise(plan, job, self._calls.kernels), *history.unchanged(plan, job))
        faults = [*history.unknown(plan, job, self._calls.kernels)]
        faults += [Fault(FaultKind.UNKNOWN, "", 0, "", what) for what in named]
        stopping = history.stopping(plan, job, self._calls.kernels)
        faults += [Fault(FaultKind.STOPPED, "", 0, "", what) for what in stopping]
        if history.launched and not function.permitted & _MOVING:
            missing = history.missing(plan, job, self._calls.admission)
            faults += [Fault(FaultKind.DECOY, "", 0, "", f"at sizes for a device {what}") for what in missing]
        return replace(ended_run(*faults), finished=True, coverage=coverage_of(dict(planned.last.branches)))

    def concluded(self, function: Function) -> tuple[Fault, ...]:
        """Returns what all workloads together show.

        That is: results that owe nothing to the candidate's kernels, and parameters of a class that it works on once.
        """
        history = self._histories[function.name]
        found = [Fault(FaultKind.UNKNOWN, "", 0, "", _WORKED_ONCE.format(", ".join(history.remembered)))]
        return (
            *(found if history.remembered else ()),
            *(
                Fault(FaultKind.DECOY, "", 0, "", f"output {index} is the same when no kernel is launched")
                for index, contributed in sorted(history.contributed.items())
                if not contributed and not function.permitted & _MOVING
            ),
        )

    def _request(self, function: Function, job: Job, count: int) -> PlanRequest:
        return PlanRequest(
            function.name,
            tuple(_spec(value) if isinstance(value, TensorValue) else value.value for value in job.arguments),
            DEVICES[0],
            (job.grid, job.block, job.shared_bytes) if function.launch else None,
            job.construction,
            _OBJECTS[count % len(_OBJECTS)],
            count % self._calls.configurations(function),
            capturing=count % 4 == 3,
            lists=function.lists,
        )

    def _carried_out(
        self, function: Function, request: PlanRequest, job: Job, planned: PlannedAlone | None = None
    ) -> Call:
        """Returns the call that was `planned`, or one that is planned now, as it is carried out."""
        try:
            if planned is not None:
                plan, finished = planned.plan, self._calls.carried_out(function, planned, job)
            else:
                plan, finished = self._calls.planned(function, request, job)
        except EndedError as ended:
            return Call(LaunchPlan(()), ended.run)
        history = self._histories[function.name]
        history.signatures.update(dict.fromkeys(finished.signatures))
        history.note_launches(plan, job, self._calls.kernels)
        history.note_remembered(job, self._calls.admission.remembered)
        return Call(plan, self._without_outputs(function, job, finished.run))

    def _without_outputs(self, function: Function, job: Job, run: Run) -> Run:
        """Returns the run without remarks on arguments for results, which may hold the same as before."""
        history = self._histories[function.name]
        history.note_arguments(job, run)
        excused = {PUT_BACK.format(number) for number in history.changed}
        said = (fault for fault in run.faults if fault.message not in excused)
        return replace(run, faults=tuple(replace(f, file=f.file or (self._file if f.line else "")) for f in said))

    def _troubles(self, function: Function, request: PlanRequest, job: Job, call: Call) -> Iterator[Run]:
        """Runs that show what a call that came to its end does wrong."""
        for result in call.plan.returned:
            if isinstance(result, TensorView) and not _is_dense(result) and not function.permitted & _STRIDING:
                message = f"the result has strides {result.strides}, not those of a dense tensor of {result.shape}"
                yield replace(call.run, faults=(*call.run.faults, Fault(FaultKind.RESULT, "", 0, "", message)))
        if self._calls.admission.looked and self._hands_on(function, request, job, call.plan):
            message = "it hands numbers on that it read from the device, which no kernel of its own did"
            yield replace(call.run, faults=(*call.run.faults, Fault(FaultKind.HOST_WORK, "", 0, "", message)))
        if any(isinstance(step, (Move, Compute, Constant)) for step in call.plan.steps) and call.plan.launches:
            self._without_launches(function, job, call)

    def _hands_on(self, function: Function, request: PlanRequest, job: Job, plan: LaunchPlan) -> bool:
        """Returns True where the plan is another when the numbers read are a little larger."""
        answers = (plan.reads, nudged(plan.reads, self._calls.admission.whole))
        asked = [replace(request, objects=Arguments.SAME, answers=numbers) for numbers in answers]
        try:
            one, other = self._calls.alone(function, asked, job)
        except EndedError:
            return True
        return not same_work(one.plan, other.plan)

    def _without_launches(self, function: Function, job: Job, call: Call) -> None:
        """Keeps in mind which outputs differ when nothing is launched."""
        asked = replace(self._request(function, job, 0), objects=Arguments.SAME, answers=call.plan.reads)
        try:
            _, done = self._calls.planned(function, asked, job, launches=False)
        except EndedError:
            return
        if done.run.finished:
            self._histories[function.name].note_contributions(job, call.run, done.run)

    def _after_another(self, function: Function, request: PlanRequest, job: Job, call: Call) -> Run | None:
        """Returns the run of a call that finds what one just like it left, where it does not answer as `call` did."""
        asked = replace(request, objects=Arguments.SAME, answers=call.plan.reads)
        try:
            self._calls.planned(function, asked, job)
            _, done = self._calls.planned(function, asked, job, restores=False)
        except EndedError as ended:
            return ended.run
        other = self._without_outputs(function, job, done.run)
        return other if not other.finished or other.faults or distance(other, call.run) > 0 else None

    def _otherwise(self, function: Function, request: PlanRequest, job: Job, call: Call) -> Run | None:
        """Returns the first run of another plan of the call that fails, else the one that answers farthest off.

        What is planned alone is told the numbers that the call has read: host code may divide by them.
        """
        seen = [work_of(call.plan)]
        farthest: tuple[float, Run] | None = None
        variants = list(_variants(request, self._calls.configurations(function)))
        try:
            reads = call.plan.reads or None
            found = self._calls.alone(function, [replace(asked, answers=reads) for asked in variants], job)
        except EndedError as ended:
            return ended.run
        for asked, planned in zip(variants, found, strict=True):
            if (work := work_of(planned.plan)) in seen:
                continue
            seen.append(work)
            other = self._carried_out(function, asked, job, None if planned.reads else planned)
            if not other.run.finished or other.run.faults:
                return other.run
            apart = distance(other.run, call.run)
            if apart > 0 and (farthest is None or apart > farthest[0]):
                farthest = apart, other.run
        return farthest[1] if farthest else None


def _variants(request: PlanRequest, configurations: int) -> Iterator[PlanRequest]:
    """Yields the same call with each configuration of its autotuners, then as host code may tell it from others."""
    for configuration in range(configurations):
        yield replace(request, configuration=configuration)
    for number in range(_REPEATS):
        yield replace(request, objects=_OBJECTS[number % len(_OBJECTS)], capturing=number % 2 == 1)
    for device in DEVICES[1:]:
        yield replace(request, device=device)


def _spec(value: TensorValue) -> TensorSpec | None:
    if value.null:
        return None
    strides = strides_of(value) if value.layout else None
    return TensorSpec(value.dtype, tuple(map(int, value.shape)), strides, offset_of(value))


def _is_dense(view: TensorView) -> bool:
    """Returns True for strides of rows one behind the other; an axis of one element may have any."""
    expected = 1
    for extent, stride in zip(reversed(view.shape), reversed(view.strides), strict=True):
        if extent > 1 and stride != expected:
            return False
        expected *= extent
    return True

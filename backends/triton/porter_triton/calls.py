"""Calls of a candidate: its host code plans each, the plan is checked step by step, and another process carries it out.

So nothing but the candidate's kernels computes, and nobody but porter owns memory. Calls differ in what host code might
take for a sign: whether it has seen the tensors, which device it is told of, whether a stream is captured. Each plan
that is not like the one before it is carried out, too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from porter.contract.dtype import DType, decode
from porter.launch_plan.admission import Admission, PlanRefusedError
from porter.launch_plan.normal import nudged, numbers_of, same_work
from porter.launch_plan.steps import (
    Compute,
    Constant,
    Fill,
    Input,
    Launch,
    LaunchPlan,
    Move,
    Number,
    Read,
    Return,
    Scalar,
    Step,
    TensorView,
)
from porter.launch_plan.views import extent_bytes, written
from porter.simt.job import Fault, FaultKind, Job, Run, TensorValue, Value
from porter.simt.protocol import coverage_of
from porter.worker.child import Death
from porter_triton.kernel_rules import constants_of
from porter_triton.processes import DeadError, Finished, Numbers, PlanningProcess, ReplayProcess
from porter_triton.records import Arguments, DeviceFacts, Ended, KernelText, PlanRequest, Recorded, TensorSpec
from porter_triton.requests import PUT_BACK, ReplayRequest

# The first is the device that originals run on (`porter/runtime_device.h` of the executor), the others differ in what
# host code may ask of a device.
DEVICES = (
    DeviceFacts("NVIDIA H100 80GB HBM3", (9, 0), 4, 80 << 30, 50 << 20),
    DeviceFacts("NVIDIA H200", (9, 0), 132, 141 << 30, 60 << 20),
    DeviceFacts("NVIDIA A100-SXM4-40GB", (8, 0), 108, 40 << 30, 40 << 20),
)
_OBJECTS = (Arguments.NEW, Arguments.SAME, Arguments.SAME_PLACES)
_REPEATS = 12  # of the second call, planned alone: what counts its calls plans another sooner or later
_MOST_CONFIGURATIONS = 64
# Operators of an original's own host code that may make a result which is not dense, or one that no kernel wrote.
_STRIDING = frozenset(
    [
        "transpose",
        "permute",
        "t",
        "expand",
        "expand_as",
        "select",
        "slice",
        "narrow",
        "unbind",
        "chunk",
        "split",
        "unfold",
        "as_strided",
        "movedim",
    ]
)
_MOVING = frozenset(
    [
        "copy_",
        "clone",
        "contiguous",
        "cat",
        "stack",
        "permute",
        "transpose",
        "pad",
        "constant_pad_nd",
        "repeat",
        "flip",
        "to",
    ]
)


@dataclass(frozen=True, slots=True)
class Function:
    """What of a module is called: with `launch` it takes grid, block and shared memory, too.

    `returns` is the type of a number that it returns; `permitted` are the operators of the original's own host code.
    """

    name: str
    launch: bool = False
    returns: DType | None = None
    permitted: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Call:
    """One call as it was carried out: its plan, the run, and the signatures of the launches."""

    plan: LaunchPlan
    run: Run
    signatures: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NativePlan:
    """A call on a device: `prepared` makes the memory that is kept from earlier ones, `steps` are the call's own.

    `reads` are the numbers that it read.
    """

    prepared: tuple[Step, ...]
    steps: tuple[Step, ...]
    reads: tuple[tuple[Number, ...], ...]


# The numbers of the read that ends these steps, in memory that the others have prepared.
AnswerRead = Callable[[Sequence[Step], Sequence[Step]], tuple[Number, ...]]


class Calls:
    """The calls of the module in `file`, in `planning` and `replaying`."""

    def __init__(self, file: str, planning: PlanningProcess, replaying: ReplayProcess) -> None:
        self._file = file
        self._planning = planning
        self._replaying = replaying
        self._admission = Admission()
        self._kernels: dict[str, KernelText] = {}
        self._sent: set[str] = set()
        self._counts: dict[str, int] = {}
        self._configurations: dict[str, int] = {}
        self._launched: dict[str, set[tuple[str, str]]] = {}
        self._contributed: dict[tuple[str, int], bool] = {}
        self._signatures: dict[str, dict[str, None]] = {}
        self._sizes: dict[tuple[str, object], int] = {}  # the bytes of a call's outputs by what it launches
        self._overwritten: dict[tuple[str, int], bool] = {}  # arguments of which every call changed every element
        self._restored = False  # the last call that was planned uses memory of an earlier one
        self._outputs: set[tuple[str, int]] = set()  # arguments that a call left changed

    @property
    def kernels(self) -> tuple[KernelText, ...]:
        """The texts of all kernels that calls named so far."""
        return tuple(self._kernels.values())

    def signatures(self, function: str) -> tuple[str, ...]:
        """Those of the launches of `function` so far, each once."""
        return tuple(self._signatures.get(function, ()))

    def run(self, function: Function, job: Job) -> Run:
        """What comes of one call. Never raises for anything that the module does."""
        count = self._counts[function.name] = self._counts.get(function.name, -1) + 1
        request = self._request(function, job, count)
        call = self._carried_out(function, request, job)
        if not call.run.finished:
            return call.run
        keeps = self._restored
        found = next(self._troubles(function, request, job, call), None)
        if found is None and keeps:
            found = self._after_another(function, request, job, call)
        if found is None and count == 1:
            found = self._otherwise(function, request, job, call)
        return found or call.run

    def plan(self, function: Function, job: Job) -> LaunchPlan | str:
        """What a call plans where nothing is carried out; or why that is not known."""
        try:
            plan = self._planned(function, self._request(function, job, 0), job, carry_out=False)[0]
            return "it reads numbers of the device, which are not known here" if plan.reads else plan
        except _EndedError as ended:
            return next((fault.message for fault in ended.run.faults), "it does not come to its end")

    def native_plan(self, function: Function, job: Job, device: DeviceFacts, read: AnswerRead) -> NativePlan | Run:
        """What a call plans for `device`, whose numbers `read` gives; or how the call ended instead.

        It is the plan of a second call, which finds what it keeps; all that follow have to ask for the same.
        """
        request = replace(self._request(function, job, 0), device=device)
        found = self._native(function, request, job, read)
        for number in range(_REPEATS if isinstance(found, NativePlan) else 0):
            assert isinstance(found, NativePlan)
            asked = replace(request, objects=_OBJECTS[number % len(_OBJECTS)], answers=found.reads)
            again = self._native(function, asked, job, read)
            if isinstance(again, Run):
                return again
            if number and not same_work(LaunchPlan(again.steps), LaunchPlan(found.steps)):
                return _run(
                    (Fault(FaultKind.KEPT, "", 0, "", "its calls do not ask for the same each time", fatal=True),)
                )
            found = replace(again, reads=found.reads)
        return found

    def _native(self, function: Function, request: PlanRequest, job: Job, read: AnswerRead) -> NativePlan | Run:
        prepared: list[Step] = []
        steps: list[Step] = []
        reads: list[tuple[Number, ...]] = []
        try:
            self._admission.begin(_sizes(job), function.permitted)
            part = self._planning.plan(request)
            while True:
                restoring, _ = self._admitted(part, function)
                steps += part.steps
                prepared += restoring
                if not part.asks:
                    return NativePlan(tuple(prepared), tuple(steps), tuple(reads))
                reads.append(read(steps, prepared))
                part = self._planning.answer(reads[-1])
        except _EndedError as ended:
            return ended.run
        except DeadError as dead:
            return _run((_of_death(dead.death),))
        except PlanRefusedError as refused:
            self._planning.close()
            return _run((Fault(refused.kind, self._file, refused.line, "", refused.message, fatal=True),))

    def rehearse(self, function: Function, job: Job) -> Run:
        """What a call at the sizes of `job` plans; nothing is launched, and what is read is zero."""
        request = self._request(function, job, 0)
        try:
            plan = self._planned(function, request, job, carry_out=False)[0]
        except _EndedError as ended:
            return ended.run
        known = self._launched.get(function.name, set())
        extents = {extent for value in job.arguments if isinstance(value, TensorValue) for extent in value.shape}
        unknown = [_unknown(launch, self._kernels, known, extents) for launch in plan.launches]
        # A kernel that nobody has seen is more than one with another value.
        named = (*sorted(filter(None, unknown), key=len), *self._unchanged(function, job, plan))
        faults = [Fault(FaultKind.UNKNOWN, "", 0, "", what) for what in named]
        if known and not function.permitted & _MOVING:
            faults += [
                Fault(FaultKind.DECOY, "", 0, "", f"at sizes for a device {what}")
                for what in self._missing(function, job, plan)
            ]
        return replace(_run(tuple(faults)), finished=True)

    def _missing(self, function: Function, job: Job, plan: LaunchPlan) -> Iterator[str]:
        """What the launches of a plan that nobody carried out cannot have done."""
        if not plan.launches:
            yield "it launches nothing"
        for index, result in enumerate(plan.returned):
            if not isinstance(result, TensorView) or 0 in result.shape:
                continue
            if not self._admission.is_launched(result.buffer):
                yield f"no launch writes result {index}"
        given = (step for step in plan.steps if isinstance(step, Input))
        empty = any(isinstance(value, TensorValue) and 0 in value.shape for value in job.arguments)
        for step in given if not empty else ():
            if (function.name, step.argument) in self._outputs and not self._admission.is_launched(step.buffer):
                yield f"no launch writes argument {step.argument}"

    def _unchanged(self, function: Function, job: Job, plan: LaunchPlan) -> Iterator[str]:
        """Launches that are the same for outputs of another size, where launches alone write all of these.

        That is no proof: a kernel may read on the device how large they are.
        """
        by_others = {to.buffer for step in plan.steps if isinstance(step, (Fill, Move)) for to in written(step)}
        views = {view for view in plan.returned if isinstance(view, TensorView) and view.buffer not in by_others}
        size = sum(extent_bytes(view)[1] for view in views)
        size += sum(
            value.count * value.dtype.bytes
            for number, value in enumerate(job.arguments)
            if isinstance(value, TensorValue) and self._overwritten.get((function.name, number))
        )
        seen = self._sizes.setdefault((function.name, numbers_of(plan)), size)
        if seen != size:
            yield f"it launches for outputs of {max(seen, size)} bytes just what it launches for {min(seen, size)}"

    def idle(self, function: Function) -> tuple[Fault, ...]:
        """What shows, once all workloads were run, that a result owes nothing to the candidate's kernels."""
        if function.permitted & _MOVING:
            return ()
        return tuple(
            Fault(FaultKind.DECOY, "", 0, "", f"output {index} is the same when no kernel is launched")
            for (name, index), contributed in sorted(self._contributed.items())
            if name == function.name and not contributed
        )

    def _request(self, function: Function, job: Job, count: int) -> PlanRequest:
        return PlanRequest(
            function.name,
            tuple(_spec(value) if isinstance(value, TensorValue) else value.value for value in job.arguments),
            DEVICES[0],
            (job.grid, job.block, job.shared_bytes) if function.launch else None,
            job.construction,
            _OBJECTS[count % len(_OBJECTS)],
            count % self._configurations.get(function.name, 1),
            capturing=count % 4 == 3,
        )

    def _carried_out(self, function: Function, request: PlanRequest, job: Job) -> Call:
        try:
            plan, finished = self._planned(function, request, job)
        except _EndedError as ended:
            return Call(LaunchPlan(()), ended.run)
        assert finished is not None
        self._signatures.setdefault(function.name, {}).update(dict.fromkeys(finished.signatures))
        self._launched.setdefault(function.name, set()).update(
            _switches(launch, self._kernels) for launch in plan.launches
        )
        return Call(plan, self._without_outputs(function, job, finished.run), finished.signatures)

    def _without_outputs(self, function: Function, job: Job, run: Run) -> Run:
        """The run less what is said of arguments that are for results: there the same may stand as before."""
        tensors = [number for number, value in enumerate(job.arguments) if isinstance(value, TensorValue)]
        for number, left in zip(tensors, run.outputs, strict=False):
            key, given = (function.name, number), _tensor(job.arguments[number])
            if not _same(left, given):
                self._outputs.add(key)
            self._overwritten[key] = self._overwritten.get(key, True) and _is_other_everywhere(left, given)
        excused = {PUT_BACK.format(number) for name, number in self._outputs if name == function.name}
        said = (fault for fault in run.faults if fault.message not in excused)
        return replace(run, faults=tuple(replace(f, file=f.file or (self._file if f.line else "")) for f in said))

    def _planned(
        self,
        function: Function,
        request: PlanRequest,
        job: Job,
        *,
        carry_out: bool = True,
        launches: bool = True,
        restores: bool = True,
    ) -> tuple[LaunchPlan, Finished | None]:
        """The whole plan of a call, and what came of it where it was carried out. Raises `_EndedError`.

        Without `restores` memory that is kept from earlier calls holds what the last one left.
        """
        if not self._planning.is_there:
            self._admission = Admission()
            self._admission.know(tuple(self._kernels))
        self._admission.begin(_sizes(job), function.permitted)
        steps: list[Step] = []
        reads: list[tuple[Number, ...]] = []
        finished: Finished | None = None
        self._restored = False
        try:
            part = self._planning.plan(request)
            while True:
                restoring, admitted = self._admitted(part, function)
                self._restored = self._restored or bool(restoring)
                admitted = admitted if restores else list(part.steps)
                steps += part.steps
                begins = restores and len(steps) == len(part.steps)
                done = self._done(admitted, job, function, begins=begins, launches=launches) if carry_out else None
                if not part.asks:
                    finished = _with_host_branches(done, part) if isinstance(done, Finished) else None
                    break
                if isinstance(done, Finished):  # it ended at a fault, and the module waits for an answer
                    self._planning.close()
                    return LaunchPlan(tuple(steps), tuple(reads)), done
                values = done.values if isinstance(done, Numbers) else _zeros(part)
                reads.append(values)
                part = self._planning.answer(values)
        except DeadError as dead:
            raise _EndedError(_run((_of_death(dead.death),))) from None
        except PlanRefusedError as refused:
            fault = Fault(
                refused.kind, self._file if refused.line else "", refused.line, "", refused.message, fatal=True
            )
            self._planning.close()  # it may be in the midst of a call
            raise _EndedError(_run((fault,))) from None
        return LaunchPlan(tuple(steps), tuple(reads)), finished

    def _admitted(self, part: Recorded, function: Function) -> tuple[list[Step], list[Step]]:
        """The steps that restore memory for `part`, and all that are to be carried out for it.

        Raises `PlanRefusedError`, and `_EndedError` where the call has ended.
        """
        for kernel in part.kernels:
            if self._kernels.setdefault(kernel.key, kernel) != kernel:
                raise PlanRefusedError(FaultKind.FORGED, f"two kernels are called {kernel.key!r}")
        self._admission.know([kernel.key for kernel in part.kernels])
        self._configurations[function.name] = min(max(1, part.configurations), _MOST_CONFIGURATIONS)
        restoring: list[Step] = []
        admitted: list[Step] = []
        for step in part.steps:
            first = self._admission.admit(step)
            restoring += first
            admitted += (*first, step)
        if part.ended is not None:
            raise _EndedError(_run((_of_end(part.ended),)))
        last = part.steps[-1] if part.steps else None
        if not isinstance(last, Read if part.asks else Return):
            raise PlanRefusedError(FaultKind.FORGED, "the plan has no end")
        return restoring, admitted

    def _done(
        self, steps: list[Step], job: Job, function: Function, *, begins: bool, launches: bool
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

    def _troubles(self, function: Function, request: PlanRequest, job: Job, call: Call) -> Iterator[Run]:
        """Runs that show what a call that came to its end does wrong."""
        for result in call.plan.returned:
            if isinstance(result, TensorView) and not _is_dense(result) and not function.permitted & _STRIDING:
                message = f"the result has strides {result.strides}, not those of a dense tensor of {result.shape}"
                yield replace(call.run, faults=(*call.run.faults, Fault(FaultKind.RESULT, "", 0, "", message)))
        if self._admission.looked and self._hands_on(function, request, job, call.plan):
            message = "it hands numbers on that it read from the device, which no kernel of its own did"
            yield replace(call.run, faults=(*call.run.faults, Fault(FaultKind.HOST_WORK, "", 0, "", message)))
        if any(isinstance(step, (Move, Compute, Constant)) for step in call.plan.steps) and call.plan.launches:
            self._without_launches(function, job, call)

    def _hands_on(self, function: Function, request: PlanRequest, job: Job, plan: LaunchPlan) -> bool:
        """Returns True where the plan is another when the numbers read are a little larger."""
        plans = []
        for answers in (plan.reads, nudged(plan.reads, self._admission.whole)):
            asked = replace(request, objects=Arguments.SAME, answers=answers)
            try:
                plans.append(self._planned(function, asked, job, carry_out=False)[0])
            except _EndedError:
                return True
        return not same_work(*plans)

    def _without_launches(self, function: Function, job: Job, call: Call) -> None:
        """Keeps in mind which outputs differ when nothing is launched: the others owe nothing to kernels."""
        asked = replace(self._request(function, job, 0), objects=Arguments.SAME, answers=call.plan.reads)
        try:
            _, done = self._planned(function, asked, job, launches=False)
        except _EndedError:
            return
        if done is None or not done.run.finished:
            return
        given = [value for value in job.arguments if isinstance(value, TensorValue)]
        pairs = [
            *zip(call.run.outputs, done.run.outputs, strict=True),
            *zip(call.run.results, done.run.results, strict=False),
        ]
        for index, (with_launches, without) in enumerate(pairs):
            unchanged = index < len(given) and _same(with_launches, given[index])
            if not unchanged and with_launches.count:
                key = function.name, index
                self._contributed[key] = self._contributed.get(key, False) or not _same(with_launches, without)

    def _after_another(self, function: Function, request: PlanRequest, job: Job, call: Call) -> Run | None:
        """Returns the run of a call that finds what one just like it left, where it does not answer as `call` did."""
        asked = replace(request, objects=Arguments.SAME, answers=call.plan.reads)
        try:
            self._planned(function, asked, job)
            _, done = self._planned(function, asked, job, restores=False)
        except _EndedError as ended:
            return ended.run
        assert done is not None
        other = self._without_outputs(function, job, done.run)
        return other if not other.finished or other.faults or _distance(other, call.run) > 0 else None

    def _otherwise(self, function: Function, request: PlanRequest, job: Job, call: Call) -> Run | None:
        """Returns the first run of another plan of the call that fails, else the one that answers farthest off."""
        seen = [call.plan]
        farthest: tuple[float, Run] | None = None
        for asked in _variants(request, self._configurations.get(function.name, 1)):
            try:
                plan = self._planned(function, asked, job, carry_out=False)[0]
            except _EndedError as ended:
                return ended.run
            if any(same_work(plan, other) for other in seen):
                continue
            seen.append(plan)
            other = self._carried_out(function, asked, job)
            if not other.run.finished or other.run.faults:
                return other.run
            distance = _distance(other.run, call.run)
            if distance > 0 and (farthest is None or distance > farthest[0]):
                farthest = distance, other.run
        return farthest[1] if farthest else None


class _EndedError(Exception):
    """A call that did not come to its end; `run` says how."""

    def __init__(self, run: Run) -> None:
        super().__init__()
        self.run = run


def _variants(request: PlanRequest, configurations: int) -> Iterator[PlanRequest]:
    """The same call with each configuration of its autotuners, then as host code may tell it from others."""
    for configuration in range(configurations):
        yield replace(request, configuration=configuration)
    for number in range(_REPEATS):
        yield replace(request, objects=_OBJECTS[number % len(_OBJECTS)], capturing=number % 2 == 1)
    for device in DEVICES[1:]:
        yield replace(request, device=device)


def _sizes(job: Job) -> dict[int, int]:
    """The bytes of each argument that is a tensor, by its number."""
    tensors = ((index, value) for index, value in enumerate(job.arguments) if isinstance(value, TensorValue))
    return {index: value.count * value.dtype.bytes for index, value in tensors if not value.null}


def _spec(value: TensorValue) -> TensorSpec | None:
    return None if value.null else TensorSpec(value.dtype, tuple(map(int, value.shape)))


def _with_host_branches(done: Finished, last: Recorded) -> Finished:
    """Returns what came of a call, with the branches of its host code among those that it took."""
    return replace(done, run=replace(done.run, coverage=done.run.coverage | coverage_of(dict(last.branches))))


def _zeros(part: Recorded) -> tuple[Number, ...]:
    """What is read where nothing is carried out."""
    last = part.steps[-1]
    assert isinstance(last, Read)
    zero: Number = 0.0 if DType(last.source.dtype).is_float else 0
    return (zero,) * int(np.prod(last.source.shape, dtype=np.int64))


def _run(faults: tuple[Fault, ...]) -> Run:
    return Run(False, 1, (), (), (), (), (), faults, "", "", 0.0)


def _of_death(death: Death) -> Fault:
    return Fault(death.kind, "", 0, "", death.message, fatal=True)


_KINDS: Mapping[str, FaultKind] = {kind.value: kind for kind in FaultKind}


def _of_end(ended: Ended) -> Fault:
    file = ended.file.rpartition("/")[2]
    return Fault(_KINDS.get(ended.kind, FaultKind.CRASH), file, ended.line, "", ended.message[:2000], fatal=True)


def _is_dense(view: TensorView) -> bool:
    """Returns True for strides of rows one behind the other; an axis of one element may have any."""
    expected = 1
    for extent, stride in zip(reversed(view.shape), reversed(view.strides), strict=True):
        if extent > 1 and stride != expected:
            return False
        expected *= extent
    return True


def _tensor(value: Value) -> TensorValue:
    assert isinstance(value, TensorValue)
    return value


def _same(one: TensorValue, other: TensorValue) -> bool:
    return one.shape == other.shape and one.storage.tobytes() == other.storage.tobytes()


def _is_other_everywhere(left: TensorValue, given: TensorValue) -> bool:
    pair = (np.ascontiguousarray(v.storage).reshape(-1).view(np.uint8).reshape(v.count, -1) for v in (left, given))
    return left.count > 0 and bool(np.not_equal(*pair).any(axis=1).all())


def _distance(one: Run, other: Run) -> float:
    """Returns the largest difference between two elements of the answers: infinite where one is no number."""
    if len(one.results) != len(other.results):
        return math.inf
    pairs = (*zip(one.outputs, other.outputs, strict=True), *zip(one.results, other.results, strict=True))
    return max((_apart(a, b) for a, b in pairs if not _same(a, b)), default=0.0)


def _apart(one: TensorValue, other: TensorValue) -> float:
    if one.shape != other.shape or one.dtype != other.dtype:
        return math.inf
    a, b = (decode(value.storage, value.dtype).astype(np.float64) for value in (one, other))
    with np.errstate(invalid="ignore", over="ignore"):
        apart = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0.0, np.abs(a - b))
    return float(np.where(np.isnan(apart), np.inf, apart).max(initial=0.0))


def _switches(launch: Launch, kernels: Mapping[str, KernelText]) -> tuple[str, str]:
    """A kernel, and the arguments of a launch that are compiled into it, or are no sizes."""
    compiled = constants_of(kernels[launch.kernel])
    chosen = [
        f"{name}={argument.value}"
        for name, argument in launch.arguments
        if isinstance(argument, Scalar) and (name in compiled or isinstance(argument.value, (bool, str)))
    ]
    return kernels[launch.kernel].name, ", ".join(sorted(chosen))


def _unknown(launch: Launch, kernels: Mapping[str, KernelText], known: set[tuple[str, str]], extents: set[int]) -> str:
    """What a launch executes that none did before: a kernel, or one with other values; empty where that is nothing.

    A block as large as an axis of the call's tensors is no other value.
    """
    kernel, switches = _switches(launch, kernels)
    before = {switch for name, other in known if name == kernel for switch in other.split(", ")}
    if all(name != kernel for name, _ in known):
        return f"it launches {kernel}, which no workload did"
    sizes = {str(size) for extent in extents for size in (extent, 1 << max(0, extent - 1).bit_length())}
    new = [s for s in switches.split(", ") if s not in before and s.partition("=")[2] not in sizes]
    return f"it launches {kernel} with {', '.join(new)}, which no workload did" if any(new) else ""

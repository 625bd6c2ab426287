"""Remembers what calls of one function launched and left, and finds what is new in a plan that is not carried out."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from porter.execution.job import Fault, FaultKind, Job, Run, TensorValue
from porter.launch_plan.admission import Admission
from porter.launch_plan.normal import numbers_of
from porter.launch_plan.steps import Fill, Input, Launch, LaunchPlan, Move, Scalar, TensorView
from porter.launch_plan.views import extent_bytes, written
from porter.simt.grids import Grids, fewest_that_shrink
from porter_triton.differences import is_other_everywhere, same
from porter_triton.kernel_rules import constants_of
from porter_triton.records import CompileTime, KernelText
from porter_triton.size_arguments import SizeArgument, sizes_of
from porter_triton.whole_numbers import operations

Kernels = Mapping[str, KernelText]


@dataclass
class CallHistory:
    """Remembers calls: arguments by their numbers, outputs by their place among the tensors and results of a call.

    `changed` are the arguments that a call left changed; of those in `overwritten` every call changed every element.
    `contributed` says which outputs differ when nothing is launched. `launched` are kernels with their values,
    `output_bytes` are the sizes of outputs, by what was launched for them. `arguments` has the value of each whole
    number that kernels took in every call, `numbers` are those that were compiled into them, `operations` is the
    largest number of operations in the kernels of one call. `remembered` are the parameters of a class for which a call
    used an earlier call's work.
    """

    calls: int = 0
    signatures: dict[str, None] = field(default_factory=dict)
    changed: set[int] = field(default_factory=set)
    contributed: dict[int, bool] = field(default_factory=dict)
    overwritten: dict[int, bool] = field(default_factory=dict)
    launched: set[tuple[str, str]] = field(default_factory=set)
    output_bytes: dict[object, int] = field(default_factory=dict)
    arguments: dict[tuple[str, str], SizeArgument] = field(default_factory=dict)
    numbers: set[int] = field(default_factory=set)
    operations: int = 0
    remembered: dict[str, None] = field(default_factory=dict)
    grids: Grids = field(default_factory=Grids)

    def note_launches(self, plan: LaunchPlan, job: Job, kernels: Kernels) -> None:
        """Keeps in mind what a plan of `job` that was carried out launches."""
        self.launched.update(_switches(launch, kernels) for launch in plan.launches)
        sizes = sizes_of(job)
        for key, value in _whole_numbers(plan, kernels):
            self.arguments.setdefault(key, SizeArgument(frozenset(sizes))).note(value, sizes)
        written = sum(operations(kernels[launch.kernel].text) for launch in plan.launches)
        self.operations = max(self.operations, written)
        for launch in plan.launches:
            self.numbers.update(_compiled_numbers(launch, kernels[launch.kernel]))
            self.grids.add(kernels[launch.kernel].name, launch.grid)

    def note_remembered(self, job: Job, arguments: Collection[int]) -> None:
        """Notes parameters, by their numbers among the arguments, for which an earlier call's work was used."""
        state = job.construction.state if job.construction else ()
        first = len(job.arguments) - len(state)
        self.remembered.update(dict.fromkeys(state[number - first] for number in sorted(arguments) if number >= first))

    def otherwise(self, plan: LaunchPlan, job: Job, kernels: Kernels) -> Iterator[str]:
        """Yields numbers in a plan of `job` that were a size of the tensors in every call before, and now are not.

        A kernel may be told of fewer rows than there are.
        """
        sizes = sizes_of(job)
        for (kernel, name), value in _whole_numbers(plan, kernels):
            known = self.arguments.get((kernel, name))
            if known is not None and (broken := known.broken(value, sizes)):
                yield f"it launches {kernel} with {name}={value}, which was {broken} in every workload"

    def note_arguments(self, job: Job, run: Run) -> None:
        """Keeps in mind which arguments a run left changed."""
        for (number, given), left in zip(_tensors(job), run.outputs, strict=False):
            if not same(left, given):
                self.changed.add(number)
            self.overwritten[number] = self.overwritten.get(number, True) and is_other_everywhere(left, given)

    def note_contributions(self, job: Job, run: Run, without: Run) -> None:
        """Keeps in mind which outputs of `run` differ from those `without` launches: others owe nothing to kernels."""
        given = [value for _, value in _tensors(job)]
        pairs = [*zip(run.outputs, without.outputs, strict=True), *zip(run.results, without.results, strict=False)]
        for index, (own, other) in enumerate(pairs):
            unchanged = index < len(given) and same(own, given[index])
            if not unchanged and own.count:
                self.contributed[index] = self.contributed.get(index, False) or not same(own, other)

    def unknown(self, plan: LaunchPlan, job: Job, kernels: Kernels) -> Iterator[Fault]:
        """Yields launches of a plan that no call had: first kernels that nobody has seen, then those with other values.

        A block as large as an axis of the call's tensors does not count as another value.
        """
        extents = {extent for _, value in _tensors(job) for extent in value.shape}
        sizes = {str(size) for extent in extents for size in (extent, 1 << max(0, extent - 1).bit_length())}
        found = (self._unknown(launch, kernels, sizes) for launch in plan.launches)
        yield from sorted(filter(None, found), key=lambda fault: len(fault.message))

    def _unknown(self, launch: Launch, kernels: Kernels, sizes: Collection[str]) -> Fault | None:
        kernel, switches = _switches(launch, kernels)
        if all(name != kernel for name, _ in self.launched):
            return Fault(FaultKind.UNKNOWN, "", 0, kernel, f"it launches {kernel}, which no workload did")
        before = {switch for name, other in self.launched if name == kernel for switch in other.split(", ")}
        new = [s for s in switches.split(", ") if s not in before and s.partition("=")[2] not in sizes]
        if not any(new):
            return None
        names = ", ".join(switch.partition("=")[0] for switch in new)
        message = f"it launches {kernel} with {', '.join(new)}, which no workload did"
        return Fault(FaultKind.UNKNOWN, "", 0, kernel, message, about=f"launches of {kernel} with other {names}")

    def stopping(self, plan: LaunchPlan, job: Job, kernels: Kernels) -> Iterator[str]:
        """Yields launches whose grids stop growing at more programs than any call had.

        The call before shows that, which was rehearsed with the arguments `before`.
        """
        launches = ((kernels[launch.kernel].name, launch.grid) for launch in plan.launches)
        for stop in self.grids.unreached(launches, fewest_that_shrink(job.before, job.arguments)):
            yield f"the grid of {stop.kernel} {stop.described('programs')}"

    def missing(self, plan: LaunchPlan, job: Job, admission: Admission) -> Iterator[str]:
        """Yields what the launches of a plan, which `admission` has seen last, cannot have done."""
        if not plan.launches:
            yield "it launches nothing"
        for index, result in enumerate(plan.returned):
            if isinstance(result, TensorView) and 0 not in result.shape and not admission.is_launched(result.buffer):
                yield f"no launch writes result {index}"
        empty = any(0 in value.shape for _, value in _tensors(job))
        for step in plan.steps if not empty else ():
            if isinstance(step, Input) and step.argument in self.changed and not admission.is_launched(step.buffer):
                yield f"no launch writes argument {step.argument}"

    def unchanged(self, plan: LaunchPlan, job: Job) -> Iterator[str]:
        """Yields launches that are the same for outputs of another size, where launches alone write all of these.

        That is not a proof: a kernel may read on the device how large they are.
        """
        by_others = {to.buffer for step in plan.steps if isinstance(step, (Fill, Move)) for to in written(step)}
        views = {view for view in plan.returned if isinstance(view, TensorView) and view.buffer not in by_others}
        size = sum(extent_bytes(view)[1] for view in views)
        size += sum(v.count * v.dtype.bytes for number, v in _tensors(job) if self.overwritten.get(number))
        seen = self.output_bytes.setdefault(numbers_of(plan), size)
        if seen != size:
            yield f"it launches for outputs of {max(seen, size)} bytes just what it launches for {min(seen, size)}"


def _tensors(job: Job) -> Iterator[tuple[int, TensorValue]]:
    return ((number, value) for number, value in enumerate(job.arguments) if isinstance(value, TensorValue))


def _whole_numbers(plan: LaunchPlan, kernels: Kernels) -> Iterator[tuple[tuple[str, str], int]]:
    """Yields the kernel, the name and the value of each whole number that a launch takes."""
    for launch in plan.launches:
        for name, argument in launch.arguments:
            if isinstance(argument, Scalar) and type(argument.value) is int:
                yield (kernels[launch.kernel].name, name), argument.value


def _compiled_numbers(launch: Launch, kernel: KernelText) -> Iterator[int]:
    compiled = constants_of(kernel)
    given = (argument.value for name, argument in launch.arguments if name in compiled and isinstance(argument, Scalar))
    bound = (value.value for _, value in kernel.bindings if isinstance(value, CompileTime))
    values = (*given, *(scalar.value for scalar in bound if isinstance(scalar, Scalar)))
    return (value for value in values if type(value) is int)


def _switches(launch: Launch, kernels: Kernels) -> tuple[str, str]:
    """Returns a kernel, and the arguments of a launch that are compiled into it, or are no sizes."""
    compiled = constants_of(kernels[launch.kernel])
    chosen = [
        f"{name}={argument.value}"
        for name, argument in launch.arguments
        if isinstance(argument, Scalar) and (name in compiled or isinstance(argument.value, (bool, str)))
    ]
    return kernels[launch.kernel].name, ", ".join(sorted(chosen))

"""Plans what a call launches at sizes for a device, and compiles the code of each launch."""

from __future__ import annotations

import json
import pickle
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path

from porter.backend import Port, Target
from porter.contract.model.contract import Contract, Workload
from porter.errors import MachineError
from porter.evaluate.judge.calling import Called
from porter.evaluate.judge.judge import Candidate
from porter.evaluate.problem.bench import Bench
from porter.evaluate.timing.empty_job import job_of
from porter.execution.job import Construction, Job, Limits, Run
from porter.launch_plan.steps import Allocate, Compute, Constant, Input, LaunchPlan, TensorView
from porter.launch_plan.steps import Launch as PlannedLaunch
from porter.launch_plan.views import extent_bytes, item_bytes, used, views_of
from porter.translation_unit import TranslationUnit
from porter.worker.child import Child, Death
from porter.worker.frames import MACHINE
from porter_triton.proof import InterpretedPort, Module, devices_of
from porter_triton.records import KernelText
from porter_triton.requests import ADDRESS_BITS, AssembleRequest
from porter_triton.targets import device

_LIMITS = Limits(cpu_s=60.0, wall_s=300.0, memory_bytes=16 << 30, file_bytes=1 << 30)
_NOTHING = Run(False, 1, (), (), (), (), (), (), "", "", 0.0)


@dataclass(frozen=True, slots=True)
class Compiled:
    """A kernel as it is launched: its code, and a program's part of a multiprocessor.

    `local_bytes` of a thread lie in memory, since its registers do not hold them.
    """

    ptx: str
    warps: int
    registers: int
    shared_bytes: int
    local_bytes: int


@dataclass(frozen=True, slots=True)
class CompiledLaunch:
    """One launch: `arguments` are the values of the compiled kernel's parameters, addresses for tensors.

    `tensors` has the names of the kernel's parameters by the first address of the buffer that each points into.
    """

    kernel: str
    grid: tuple[int, int, int]
    arguments: tuple[int | float, ...]
    compiled: Compiled
    tensors: Mapping[int, str]


@dataclass(frozen=True, slots=True)
class CompiledPlan:
    """The launches of a call in order; `buffers` are the bytes of all tensors by their first address.

    `returned_bytes` are those of the tensors that the call returns.
    """

    launches: tuple[CompiledLaunch, ...]
    buffers: Mapping[int, int]
    returned_bytes: int


def compiled_plan(  # noqa: PLR0917 - a candidate, what is asked of it, and where
    port: Port,
    original: TranslationUnit,
    contract: Contract,
    workload: Workload,
    target: Target,
    place: Bench,
    construction: Construction | None = None,
) -> CompiledPlan | str:
    """Returns what a call at `workload` launches, or why that is not told; a class is built as `construction` says."""
    with (
        tempfile.TemporaryDirectory(prefix="porter-triton-", ignore_cleanup_errors=True) as name,
        ExitStack() as workers,
    ):
        devices, cache = devices_of(target), place.cache / "triton"
        ready = _PlannedPort(port.files, original, devices, Path(name), cache, place.limits, workers, [])
        (found,) = Called(ready).candidates([contract])
        if not isinstance(found, tuple):
            return found.because
        found[0].execute(replace(job_of(contract, workload), construction=construction))
        plan, kernels = ready.plans[0]
        return plan if isinstance(plan, str) else _compiled(plan, kernels, target, Path(name), cache)


@dataclass(frozen=True)
class _PlannedPort(InterpretedPort):
    """A module whose calls are planned alone; executing a candidate of it puts its plan into `plans`."""

    plans: list[tuple[LaunchPlan | str, tuple[KernelText, ...]]]

    def candidate(self, contract: Contract, function: str, module: Module) -> Candidate:
        """Returns the `function` of `module`, planned where others are run."""
        called = self.called(contract, function)

        def execute(job: Job) -> Run:
            self.plans.append((module.calls.plan(called, job), module.calls.kernels))
            return _NOTHING

        return Candidate(None, execute)


def _compiled(
    plan: LaunchPlan, kernels: Sequence[KernelText], target: Target, folder: Path, cache: Path
) -> CompiledPlan | str:
    """Returns `plan` with the code of its launches. Raises `MachineError` where the machine failed the compiler."""
    cache.mkdir(parents=True, exist_ok=True)
    (work := folder / "compiling").mkdir()
    child = Child("porter_triton.programs", [str(work), str(cache), "compile"], work, _LIMITS, forked=True)
    try:
        if death := child.begin():
            return f"the compiler ended: {death.message}"
        launches = []
        for launch in plan.launches:
            answer = child.ask(pickle.dumps(AssembleRequest(tuple(kernels), launch, device(target))), parts=1)
            made = (
                f"the compiler ended: {answer.message}"
                if isinstance(answer, Death)
                else _read(answer[0], launch, kernels)
            )
            if isinstance(made, str):
                return made
            launches.append(made)
    finally:
        child.end()
    returned = (view for view in plan.returned if isinstance(view, TensorView))
    return CompiledPlan(
        tuple(launches), dict(_buffers(plan)), sum(prod(v.shape) * item_bytes(v.dtype) for v in returned)
    )


def _read(answer: bytes, launch: PlannedLaunch, kernels: Sequence[KernelText]) -> CompiledLaunch | str:
    said = answer.decode("utf-8", "replace")
    if said.startswith(MACHINE):
        raise MachineError(said.removeprefix(MACHINE), "`porter doctor` names the cache")
    told = json.loads(said)
    if "because" in told:
        return str(told["because"])
    name = next(kernel.name for kernel in kernels if kernel.key == launch.kernel)
    made = Compiled(told["ptx"], told["warps"], told["registers"], told["shared_bytes"], told["local_bytes"])
    views = ((parameter, view) for parameter, argument in launch.arguments for view in views_of(argument))
    tensors = {_address(view.buffer): parameter for parameter, view in views}
    return CompiledLaunch(name, launch.grid, tuple(told["arguments"]), made, tensors)


def _address(buffer: int) -> int:
    """Returns the first address of a buffer of the plan."""
    return buffer + 1 << ADDRESS_BITS


def _buffers(plan: LaunchPlan) -> Iterable[tuple[int, int]]:
    """Returns the first address and the bytes of each buffer of the plan."""
    sizes: dict[int, int] = {}
    for step in plan.steps:
        match step:
            case Allocate(buffer, size_bytes):
                sizes[buffer] = size_bytes
            case Constant(buffer, content):
                sizes[buffer] = len(content) // 4 * 3
            case Compute(results=results):
                sizes |= {view.buffer: extent_bytes(view)[1] for view in results}
            case Input(buffer):
                sizes.setdefault(buffer, 0)
            case PlannedLaunch():
                for view in used(step):
                    sizes[view.buffer] = max(sizes.get(view.buffer, 0), extent_bytes(view)[1])
    return ((_address(buffer), size) for buffer, size in sizes.items())

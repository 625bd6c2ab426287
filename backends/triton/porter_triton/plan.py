"""What a module would launch at sizes for a device, as the planning process tells it, which runs the module's code."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from porter.backend import Target
from porter.contract.contract import Argument, Contract, EntryKind, TensorArg, Workload
from porter.contract.dtype import encode
from porter.contract.expressions import evaluate, number
from porter.contract.materialise import is_null, shape_of
from porter.errors import MachineError
from porter.evaluate.judge import Candidate
from porter.simt.job import Job, Limits, Run, ScalarValue, TensorValue, Value
from porter.worker.child import Child, Death
from porter.worker.frames import MACHINE
from porter_triton.proof import InterpretedPort, Module
from porter_triton.targets import device

_LIMITS = Limits(cpu_s=60.0, wall_s=300.0, memory_bytes=16 << 30, file_bytes=1 << 30)
_NOTHING = Run(False, 1, (), (), (), (), (), (), "", "", 0.0)


@dataclass(frozen=True, slots=True)
class Call:
    """What is planned: a function of the module with the arguments of `job`, for a device as Triton names it."""

    function: str
    job: Job
    launch: bool
    device: tuple[str, int | str, int]


@dataclass(frozen=True, slots=True)
class Compiled:
    """A kernel as it is launched: what a program of it has of its multiprocessor, and its code."""

    ptx: str
    warps: int
    registers: int
    shared_bytes: int


@dataclass(frozen=True, slots=True)
class Launch:
    """One launch: `arguments` are the values of the compiled kernel's parameters, addresses for tensors."""

    kernel: str
    grid: tuple[int, int, int]
    arguments: tuple[int | float, ...]
    compiled: Compiled


@dataclass(frozen=True, slots=True)
class Plan:
    """The launches of a call in order; `buffers` are the bytes of all tensors by their first address."""

    launches: tuple[Launch, ...]
    buffers: Mapping[int, int]

    @classmethod
    def of(cls, text: str) -> Plan | str:
        """What the process answered, whose word is not taken for it that this is a plan; or why there is none."""
        try:
            told = json.loads(text)
            if "because" in told:
                return str(told["because"])
            made = [
                Compiled(str(p["ptx"]), int(p["warps"]), int(p["registers"]), int(p["shared_bytes"]))
                for p in told["programs"]
            ]
            launches = [
                Launch(str(one["kernel"]), _grid(one["grid"]), tuple(one["arguments"]), made[one["program"]])
                for one in told["launches"]
            ]
            return cls(tuple(launches), {int(base): int(size) for base, size in told["buffers"].items()})
        except (ValueError, KeyError, TypeError, IndexError, AttributeError):
            return "what plans it was given other answers than a plan"


def arguments_of(contract: Contract, workload: Workload) -> tuple[Value, ...]:
    """The arguments of a call without the elements of tensors, but for those that host code reads."""
    return tuple(_argument(argument, workload) for argument in contract.arguments)


def job_of(contract: Contract, workload: Workload) -> Job:
    """A call of the contract's entry at `workload`."""
    shape, arguments = contract.entry.launch, arguments_of(contract, workload)
    if shape is None or contract.entry.kind is not EntryKind.KERNEL:
        return Job(arguments)
    grid, block = ([evaluate(text, workload.sizes) for text in texts] for texts in (shape.grid, shape.block))
    return Job(
        arguments, grid=_grid(grid), block=_grid(block), shared_bytes=evaluate(shape.shared_bytes, workload.sizes)
    )


@dataclass(frozen=True)
class PlannedPort(InterpretedPort):
    """A module whose launches are planned for `target`; executing a candidate of it puts its plan into `plans`."""

    target: Target
    plans: list[Plan | str] = field(default_factory=list)

    def candidate(self, contract: Contract, function: str, module: Module) -> Candidate:
        """The `function` of `module`, planned where others are run."""
        launch = contract.entry.kind is EntryKind.KERNEL

        def execute(job: Job) -> Run:
            self.plans.append(self._asked(Call(function, job, launch, device(self.target)), module))
            return _NOTHING

        return Candidate(None, execute)

    def _asked(self, call: Call, module: Module) -> Plan | str:
        self.cache.mkdir(parents=True, exist_ok=True)
        (work := module.folder / "plan").mkdir(exist_ok=True)
        environment = {"TRITON_CACHE_DIR": str(self.cache)}
        child = Child("porter_triton.planner", [str(module.path)], work, _LIMITS, environment, born=True)
        try:
            answer = child.begin() or child.ask(pickle.dumps(call), parts=1)
        finally:
            child.end()
        if isinstance(answer, Death):
            return f"what plans it ended: {answer.message}"
        said = answer[0].decode("utf-8", "replace")
        if said.startswith(MACHINE):
            raise MachineError(said.removeprefix(MACHINE), "`porter doctor` names the cache")
        return Plan.of(said)


def _argument(argument: Argument, workload: Workload) -> Value:
    if isinstance(argument, TensorArg):
        if is_null(argument, workload):
            return TensorValue.none(argument.dtype)
        shape = shape_of(argument, workload)
        if argument.elements:
            listed = np.array([evaluate(element, workload.sizes) for element in argument.elements], dtype=np.int64)
            return TensorValue(argument.dtype, shape, encode(listed, argument.dtype).reshape(shape))
        return TensorValue(argument.dtype, shape, np.zeros(0, argument.dtype.storage))
    given = workload.scalars.get(argument.name)
    return ScalarValue(number(argument.value, workload.sizes) if given is None else given)


def _grid(extents: Iterable[int]) -> tuple[int, int, int]:
    x, y, z = (int(extent) for extent in extents)
    return x, y, z

"""Carries out the steps of a call, one after the other, in memory of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

from porter.comparison.garbage import POISONS
from porter.contract.model.dtype import DType, encode
from porter.execution.job import FaultKind, Schedule, TensorValue
from porter.launch_plan import steps as plan
from porter.launch_plan.steps import Number, Step, TensorView
from porter.launch_plan.views import used, views_of, written
from porter.simt.layouts import laid_out
from porter.worker.torch_types import TORCH_TYPES
from porter_triton.kernel_functions import KernelFunctions
from porter_triton.replay.interpreter import Interpreter, Launched
from porter_triton.replay.memory import Memory
from porter_triton.replay.stream_order import StreamOrder
from porter_triton.replay.watch import Region
from porter_triton.requests import ReplayRequest


class Executor:
    """One call after the other; `kernels` are those that launches name."""

    def __init__(self, interpreter: Interpreter, kernels: KernelFunctions) -> None:
        self._interpreter = interpreter
        self._kernels = kernels
        self._memory = Memory(0)
        self._arguments: dict[int, TensorValue] = {}
        self._places: dict[int, int] = {}
        self._scratch: set[int] = set()
        self._moved: set[int] = set()  # arguments that held something else than what the call was given
        self._streams = StreamOrder()
        self._launches = True
        self.numbers: tuple[Number, ...] | None = None
        self.results: list[TensorValue] = []

    def carry_out(self, asked: ReplayRequest) -> None:
        """Carries out the steps; `numbers` are those of a `Read` at their end, `results` those of a `Return`."""
        if asked.begins:
            # A kernel that takes fresh memory for a number it knows is found by another number there.
            self._memory = Memory(asked.poison, None if asked.schedule is Schedule.FORWARD else POISONS[1])
            self._arguments, self._places = dict(asked.arguments), {}
            self._moved.clear()
            self._streams = StreamOrder()
        self._streams.look_ahead(asked.steps)
        ends = bool(asked.steps) and isinstance(asked.steps[-1], plan.Return)
        self._scratch = {s.buffer for s in asked.steps if isinstance(s, plan.Allocate)} if ends else set()
        self._scratch -= {view.buffer for view in used(asked.steps[-1])} if ends else set()
        self._launches = asked.launches
        self.numbers, self.results = None, []
        self._kernels.add(asked.kernels)
        for step in asked.steps:
            self.numbers = None
            self._step(step, asked.number)
            if not isinstance(step, plan.Launch):
                self._streams.follow(step)
            self._compare_arguments(step)

    def left(self) -> list[TensorValue]:
        """Returns the tensors among the arguments as they are now; null pointers stay as they were."""
        return [
            self._memory.content(self._places[number], value) if number in self._places else value
            for number, value in sorted(self._arguments.items())
        ]

    def put_back(self) -> list[int]:
        """Returns the arguments that held something else meanwhile, and now hold what they held at first."""
        return [number for number in sorted(self._moved) if self._is_as_given(number)]

    def _compare_arguments(self, step: Step) -> None:
        changed = {view.buffer for view in written(step)}
        for number, buffer in self._places.items():
            if buffer in changed and number not in self._moved and not self._is_as_given(number):
                self._moved.add(number)

    def _is_as_given(self, number: int) -> bool:
        given = self._arguments[number]
        left = self._memory.content(self._places[number], given)
        return left.storage.tobytes() == given.storage.tobytes()

    def _step(self, step: Step, number: DType | None) -> None:
        memory = self._memory
        match step:
            case plan.Input(buffer, argument):
                memory.write(
                    buffer, np.ascontiguousarray(laid_out(self._arguments[argument])).reshape(-1).view(np.uint8)
                )
                self._places[argument] = buffer
            case plan.Allocate(buffer, size_bytes):
                memory.allocate(buffer, size_bytes, is_scratch=buffer in self._scratch)
            case plan.Constant(buffer, content):
                memory.constant(buffer, content)
            case plan.Fill(to, value):
                memory.tensor(to).fill_(value)
            case plan.Move(to, source):
                memory.tensor(to).copy_(memory.tensor(source))
            case plan.Compute():
                self._compute(step)
            case plan.Launch():
                if self._launches:
                    self._launch(step)
            case plan.Read(source):
                self.numbers = tuple(memory.tensor(source).reshape(-1).tolist())
            case plan.Return(results):
                self.results = [value for result in results for value in self._result(result, number)]

    def _result(self, result: TensorView | plan.Scalar, number: DType | None) -> Sequence[TensorValue]:
        if isinstance(result, TensorView):
            return [self._memory.value(result)]
        if number is None or not isinstance(result.value, (bool, int, float)):
            return []
        return [TensorValue(number, (), encode(np.array(result.value), number))]

    def _compute(self, step: plan.Compute) -> None:
        name, _, overload = step.operator.partition(".")
        operator = getattr(getattr(torch.ops.aten, name), overload or "default")
        passed = {argument: self._passed(value) for argument, value in step.arguments}
        found = operator(**{_PARAMETERS.get(argument, argument): value for argument, value in passed.items()})
        for view, tensor in zip(step.results, [found] if isinstance(found, torch.Tensor) else found, strict=True):
            self._memory.keep(tensor, view)

    def _launch(self, step: plan.Launch) -> None:
        kernel = self._kernels[step.kernel]
        arguments = {name: self._passed(value) for name, value in step.arguments}
        options = {name: scalar.value for name, scalar in step.options}
        text = self._kernels.text(step.kernel)
        launched = Launched(text.name, text.key, step.grid, options, step.line)
        regions = self._regions(step)
        self._interpreter.launch(kernel, launched, arguments, list(regions.values()), self._kernels)
        for race in self._streams.raced_by(step, text.name, regions):
            self._interpreter.observation.note(FaultKind.RACE, race, step.line)

    def _regions(self, step: plan.Launch) -> Mapping[int, Region]:
        """Returns the allocations that a launch may touch: each whole, under the first name that it has."""
        found: dict[int, Region] = {}
        for name, argument in step.arguments:
            for view in views_of(argument):
                begin, end = self._memory.extent(view.buffer)
                if end > begin:
                    found.setdefault(view.buffer, Region.of(name, begin, end, DType(view.dtype).bytes))
        return found

    def _passed(self, argument: plan.Argument) -> Any:  # noqa: ANN401 - what a kernel or an operator takes
        match argument:
            case TensorView():
                return self._memory.tensor(argument)
            case plan.Scalar(value):
                return value
            case plan.ElementType(name):
                return TORCH_TYPES[DType(name)] if name in _TORCH_NAMES else tl.dtype(name)
            case plan.KernelName(name):
                return self._kernels[name]
            case plan.Descriptor(base, shape, strides, block, padding):
                tensor = self._memory.tensor(base)
                return TensorDescriptor(tensor, list(shape), list(strides), list(block), padding)
            case plan.Sequence(items):
                return tuple(map(self._passed, items))


# What a schema calls an argument that Python cannot.
_PARAMETERS: Mapping[str, str] = {"from": "from_", "self": "self"}
_TORCH_NAMES = frozenset(dtype.value for dtype in DType)

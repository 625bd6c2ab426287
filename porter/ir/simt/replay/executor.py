"""Carries out the steps of a launch plan: memory, moves and launches, on numbers."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from porter.contract.model.dtype import DType, decode, encode
from porter.ir.simt.interpret.concrete import Concrete
from porter.ir.simt.interpret.domain import ExecutionError
from porter.ir.simt.interpret.machine import Geometry, execute
from porter.ir.simt.interpret.memory import Bytes
from porter.ir.simt.replay.arguments import arguments_of
from porter.ir.simt.replay.kernels import Kernels
from porter.launch_plan import steps as plan
from porter.launch_plan.steps import Launch, LaunchPlan, TensorView


@dataclass
class Executor:
    """One call: `arguments` are the bytes of each tensor argument, None for a number."""

    kernels: Kernels
    arguments: Sequence[bytes | None]
    domain: Concrete = field(default_factory=Concrete)
    memory: Bytes = field(default_factory=Bytes)
    _addresses: dict[int, int] = field(default_factory=dict)
    _sizes: dict[int, int] = field(default_factory=dict)
    _inputs: dict[int, int] = field(default_factory=dict)

    def run(self, steps: LaunchPlan) -> None:
        """Carries out all steps. Raises `ExecutionError`, and `NotExpressibleError` for a kernel that is not built."""
        for step in steps.steps:
            self._step(step)

    def tensor(self, view: TensorView) -> NDArray[np.generic]:
        """Returns what a tensor holds, as raw storage."""
        return self._elements(view).copy()

    def argument(self, number: int) -> bytes:
        """Returns the bytes that argument `number` holds afterwards."""
        return self.memory.held(self._addresses[self._inputs[number]]).tobytes()

    @property
    def inputs(self) -> tuple[int, ...]:
        """The numbers of the arguments that the call uses as tensors."""
        return tuple(self._inputs)

    def _step(self, step: plan.Step) -> None:
        match step:
            case plan.Input(buffer, argument):
                content = self.arguments[argument]
                if content is None:
                    raise ExecutionError(f"argument {argument} is not a tensor")
                self._hold(buffer, content)
                self._inputs[argument] = buffer
            case plan.Allocate(buffer, size):
                self._addresses[buffer] = self.memory.allocate(size, 1)[0]
            case plan.Constant(buffer, content, pointers):
                data = bytearray(base64.b64decode(content))
                for pointer in pointers:
                    place = self._address(pointer.buffer, pointer.offset)
                    data[pointer.at : pointer.at + 8] = place.to_bytes(8, "little")
                self._hold(buffer, bytes(data))
            case plan.Fill(to, value):
                self._elements(to)[...] = np.array(value).astype(DType(to.dtype).storage)
            case plan.Move(to, source):
                self._moved(to, source)
            case Launch():
                self._launch(step)
            case plan.Compute(operator):
                raise ExecutionError(f"the host applies the library's operator '{operator}'")
            case plan.Variable(_, name):
                raise ExecutionError(f"the device's variable '{name}'")
            case plan.Read():
                raise ExecutionError("the host reads from the device")

    def _hold(self, buffer: int, content: bytes) -> None:
        self._addresses[buffer] = self.memory.hold(content)

    def _address(self, buffer: int, offset: int) -> int:
        return self._addresses[buffer] + offset

    def _elements(self, view: TensorView) -> NDArray[np.generic]:
        """The elements of a tensor, in its buffer."""
        storage = DType(view.dtype).storage
        held = self.memory.held(self._addresses[view.buffer])
        if 0 in view.shape:
            return np.zeros(view.shape, storage)
        whole = held[: held.size // storage.itemsize * storage.itemsize].view(storage)[view.offset :]
        strides = tuple(stride * storage.itemsize for stride in view.strides)
        return np.lib.stride_tricks.as_strided(whole, view.shape, strides)

    def _moved(self, to: TensorView, source: TensorView) -> None:
        values = self._elements(source)
        if to.dtype != source.dtype:
            values = encode(decode(values, DType(source.dtype)), DType(to.dtype))
        self._elements(to)[...] = values

    def _launch(self, step: Launch) -> None:
        function = self.kernels.function(step.kernel)
        options = {name: scalar.value for name, scalar in step.options}
        x, y, z, shared = (int(options[name] or 0) for name in ("block_x", "block_y", "block_z", "shared_bytes"))
        passed = arguments_of(function, step, self._address, self.domain.number)
        execute(function, passed, Geometry(step.grid, (x, y, z), shared), self.domain, self.memory)

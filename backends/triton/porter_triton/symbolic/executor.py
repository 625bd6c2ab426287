"""Carries out the plan of a call on symbols."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import triton.language as tl
from triton.runtime.interpreter import TensorHandle, interpreter_semantic

from porter.contract.dtype import DType
from porter.launch_plan import steps as plan
from porter.launch_plan.steps import Number, Step, TensorView
from porter.lift.answer import Executed, SymbolicTensor
from porter.lift.nodes import Graph, NotLiftedError
from porter_triton.records import KernelText
from porter_triton.symbolic.casts import cast
from porter_triton.symbolic.launching import Interpreter, SymbolicFunctions
from porter_triton.symbolic.memory import Memory
from porter_triton.symbolic.operators import Operators
from porter_triton.symbolic.request import InputTensor, Probe
from porter_triton.symbolic.values import Values, is_float, language_type, meant

_TORCH_NAMES = frozenset(dtype.value for dtype in DType)


class SymbolicExecutor:
    """One call after the other; the texts of kernels are built in `folder`."""

    def __init__(self, interpreter: Interpreter, folder: Path) -> None:
        self._interpreter = interpreter
        self._folder = folder
        self._functions = SymbolicFunctions(folder, interpreter.builder)

    def know(self, kernels: Sequence[KernelText]) -> None:
        """Launches may name these kernels from here on."""
        self._functions.add(kernels)

    def run(self, probe: Probe) -> Executed:
        """Returns what a call computes, in a graph of its own. Raises `NotLiftedError`."""
        return _Execution(self._interpreter, self._functions, self._folder, probe).run()


class _Execution:
    """One call."""

    def __init__(self, interpreter: Interpreter, functions: SymbolicFunctions, folder: Path, probe: Probe) -> None:
        self._interpreter, self._functions, self._folder, self._probe = interpreter, functions, folder, probe
        self._graph = Graph()
        self._values = Values(self._graph)
        self._memory = Memory(self._values)
        self._operators = Operators(self._values, self._memory)
        self._inputs: dict[int, InputTensor] = {}
        self._reads = iter(probe.plan.reads)

    def run(self) -> Executed:
        """Carries out all steps."""
        self._interpreter.begin(self._values, self._memory)
        for step in self._probe.plan.steps:
            self._step(step)
        results = tuple(self._result(result) for result in self._probe.plan.returned)
        after = {source.name: self._left(number, source) for number, source in self._inputs.items()}
        shapes = {source.name: source.shape for source in self._inputs.values()}
        return Executed(self._graph, shapes, results, after)

    def _step(self, step: Step) -> None:
        memory = self._memory
        match step:
            case plan.Input(buffer, argument):
                self._inputs[buffer] = source = self._argument(argument)
                memory.hold(buffer, source)
            case plan.Allocate(buffer, size_bytes):
                memory.allocate(buffer, size_bytes)
            case plan.Constant(buffer, content):
                memory.constant(buffer, base64.b64decode(content))
            case plan.Fill(to, value):
                memory.write(to, np.full(to.shape, self._number(value, to.dtype), np.int64))
            case plan.Move(to, source_view):
                memory.write(to, cast(self._graph, memory.read(source_view), source_view.dtype, to.dtype))
            case plan.Compute():
                self._operators.compute(step)
            case plan.Launch():
                self._launch(step)
            case plan.Read(source_view):
                self._check_read(source_view)
            case plan.Variable(_, name):
                raise NotLiftedError(f"it uses the variable '{name}' of the device, which lasts from call to call")

    def _argument(self, number: int) -> InputTensor:
        source = self._probe.arguments[number] if number < len(self._probe.arguments) else None
        if source is None:
            raise NotLiftedError(f"argument {number} is no tensor")
        return source

    def _number(self, value: Number, dtype: str) -> int:
        number = meant(float(value)) if is_float(dtype) else int(value)
        return self._graph.number(number, dtype)

    def _check_read(self, view: TensorView) -> None:
        """Checks that the host was answered, while the call was planned, with the values that are there."""
        answered = next(self._reads, None)
        values = [self._graph.value(node) for node in self._memory.read(view).ravel().tolist()]
        if None in values:
            raise NotLiftedError("the host reads a value of the data, and goes on as it says")
        if answered is None or [meant(float(number)) for number in answered] != values:
            raise NotLiftedError("the call was planned with other numbers than the host reads")

    def _launch(self, step: plan.Launch) -> None:
        function = self._functions[step.kernel]
        if not hasattr(function, "rewrite"):
            raise NotLiftedError(f"it launches '{self._functions.text(step.kernel).name}', a function")
        arguments = {name: self._passed(value) for name, value in step.arguments}
        self._interpreter.launch(function, step.grid, arguments, self._folder)

    def _passed(self, argument: plan.Argument) -> Any:  # noqa: ANN401 - what a kernel takes
        match argument:
            case TensorView():
                return self._pointer(argument)
            case plan.Scalar(value):
                return value
            case plan.ElementType(name):
                return language_type(name) if name in _TORCH_NAMES else tl.dtype(name)
            case plan.KernelName(name):
                return self._functions[name]
            case plan.Sequence(items):
                return tuple(map(self._passed, items))
            case plan.Descriptor():
                return self._descriptor(argument)
        raise NotLiftedError("a kernel takes an argument that is no tensor and no number")

    def _pointer(self, view: TensorView) -> tl.tensor:
        type_ = tl.pointer_type(language_type(view.dtype))
        return tl.tensor(TensorHandle(np.array([self._memory.address(view)], np.uint64), type_), type_)

    def _descriptor(self, given: plan.Descriptor) -> Any:  # noqa: ANN401 - Triton has no types
        *outer, _ = given.strides
        return interpreter_semantic.make_tensor_descriptor(
            self._pointer(given.base),
            [interpreter_semantic.to_tensor(extent) for extent in given.shape],
            [*map(interpreter_semantic.to_tensor, outer), tl.constexpr(1)],
            [tl.constexpr(extent) for extent in given.block],
            given.padding,
        )

    def _result(self, result: TensorView | plan.Scalar) -> SymbolicTensor:
        if isinstance(result, TensorView):
            return self._defined(SymbolicTensor(DType(result.dtype), result.shape, self._memory.read(result)))
        value = result.value
        if not isinstance(value, (bool, int, float)):
            raise NotLiftedError("it returns what is no number")
        dtype = DType.FLOAT64 if isinstance(value, float) else DType.INT64
        return SymbolicTensor(dtype, (), np.array(self._number(value, dtype.value), np.int64))

    def _left(self, buffer: int, source: InputTensor) -> SymbolicTensor:
        nodes = self._memory.held(buffer).reshape(source.shape)
        return self._defined(SymbolicTensor(source.dtype, source.shape, nodes))

    def _defined(self, made: SymbolicTensor) -> SymbolicTensor:
        undefined = np.flatnonzero(made.nodes.ravel() == self._graph.undefined)
        if undefined.size:
            raise NotLiftedError(f"element {undefined[0]} of a result is not defined")
        return made

"""Carries out the plan of a call on symbols: each element of a tensor argument is one."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

import numpy as np

from porter.contract.model.dtype import DType
from porter.ir.simt.interpret.domain import ExecutionError
from porter.ir.simt.interpret.machine import Geometry, Turns, execute
from porter.ir.simt.ops import Function, walk
from porter.ir.simt.replay.arguments import arguments_of
from porter.ir.simt.types import Scalar
from porter.launch_plan import steps as plan
from porter.launch_plan.steps import Launch, LaunchPlan, TensorView
from porter.lift.agreement import trials
from porter.lift.answer import Executed, SymbolicTensor
from porter.lift.nodes import Graph, Nodes, NoTensorProgramError, NotLiftedError
from porter.symbolic.domain import Symbolic, refused
from porter.symbolic.memory import Cells, Source
from porter.symbolic.request import InputTensor
from porter.symbolic.values import meant, scalar_of, symbols

_MOST_THREADS = 1 << 20
_COMMUTING = frozenset({"add", "sub", "min", "max", "and", "or", "xor"})


def executed(kernels: Mapping[str, Function], steps: LaunchPlan, arguments: Sequence[InputTensor | None]) -> Executed:
    """Returns what a call computes, in a graph of its own. Raises `NotLiftedError`.

    Where an atomic finds what is another number in another order of threads, the call is executed in the opposite
    order, too, and has to give the same.
    """
    graph = Graph()
    try:
        forward = _Execution(kernels, arguments, graph)
        told = forward.run(steps)
        if forward.asks_for_order:
            _check_same(told, _Execution(kernels, arguments, graph, backwards=True).run(steps))
        return told
    except ExecutionError as error:
        raise refused(error) from error


@dataclass
class _Execution:
    """One call."""

    kernels: Mapping[str, Function]
    arguments: Sequence[InputTensor | None]
    graph: Graph
    backwards: bool = False
    asks_for_order: bool = False
    _addresses: dict[int, int] = field(default_factory=dict)
    _inputs: dict[int, InputTensor] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.domain = Symbolic(self.graph)
        self.memory = Cells(self.domain)

    def run(self, steps: LaunchPlan) -> Executed:
        """Carries out all steps."""
        for step in steps.steps:
            self._step(step)
        results = tuple(self._result(result) for result in steps.returned)
        after = {source.name: self._left(buffer, source) for buffer, source in self._inputs.items()}
        shapes = {source.name: source.shape for source in self._inputs.values()}
        return Executed(self.graph, shapes, results, after)

    def _step(self, step: plan.Step) -> None:
        match step:
            case plan.Input(buffer, argument):
                source = self.arguments[argument]
                if source is None:
                    raise NotLiftedError(f"argument {argument} is not a tensor")
                held = Source(source.name, source.dtype, prod(source.shape))
                self._addresses[buffer], self._inputs[buffer] = self.memory.hold(held), source
            case plan.Allocate(buffer, size):
                self._addresses[buffer] = self.memory.allocate(size, 1)[0]
            case plan.Constant(buffer, content, pointers):
                if pointers:
                    raise NotLiftedError("a host passes a table of addresses")
                self._addresses[buffer] = self.memory.constant(base64.b64decode(content))
            case plan.Fill(to, value):
                self._fill(to, int(value))
            case plan.Move(to, source_view):
                self._write(to, self._converted(self._read(source_view), DType(source_view.dtype), DType(to.dtype)))
            case Launch():
                self._launch(step)
            case plan.Compute(operator):
                raise NoTensorProgramError(f"the host applies the operator '{operator}'")
            case plan.Variable(_, name):
                raise NotLiftedError(f"it uses the variable '{name}' of the device, which lasts from call to call")
            case plan.Read():
                raise NoTensorProgramError("the host reads from the device, and goes on as it says")

    def _fill(self, to: TensorView, bits: int) -> None:
        """Puts `bits` into each element, of which no plan says what type it has."""
        address = self._addresses[to.buffer]
        if to.dtype == DType.UINT8.value and self.memory.refill(address, to, bits):
            return
        self._write(to, np.full(to.shape, self.graph.number(bits, to.dtype), np.int64))

    def _converted(self, nodes: Nodes, source: DType, to: DType) -> Nodes:
        """Returns elements as the host converts them."""
        types = scalar_of(source), scalar_of(to)
        if source == to:
            return nodes
        if None in types:
            raise NotLiftedError(f"the host converts {source} to {to}")
        given, wanted = (type_ for type_ in types if type_ is not None)
        return self.domain.values.nodes(self.domain.apply("cast", wanted, [given], [symbols(nodes)]), wanted)

    def _launch(self, step: Launch) -> None:
        options = {name: scalar.value for name, scalar in step.options}
        x, y, z, shared = (int(options[name] or 0) for name in ("block_x", "block_y", "block_z", "shared_bytes"))
        if prod(step.grid) * x * y * z > _MOST_THREADS:
            raise NotLiftedError(f"{prod(step.grid) * x * y * z} threads are too many to follow")
        function = self.kernels[step.kernel]
        passed = arguments_of(function, step, self._address, self.domain.passed)
        geometry, self.memory.is_contested = Geometry(step.grid, (x, y, z), shared), False
        self.memory.order.launch(geometry, backwards=self.backwards)
        turns = Turns(self.memory.order, self.backwards)
        execute(function, passed, geometry, self.domain, self.memory, turns)
        self.asks_for_order |= self.memory.is_contested and _asks_for_order(function)

    def _address(self, buffer: int, offset: int) -> int:
        return self._addresses[buffer] + offset

    def _places(self, view: TensorView) -> Nodes:
        places = np.full(view.shape, view.offset, np.int64)
        for axis, (extent, stride) in enumerate(zip(view.shape, view.strides, strict=True)):
            places += (np.arange(extent) * stride).reshape([-1 if a == axis else 1 for a in range(len(view.shape))])
        return places

    def _read(self, view: TensorView) -> Nodes:
        return self.memory.cells(self._addresses[view.buffer], DType(view.dtype))[self._places(view)]

    def _write(self, to: TensorView, nodes: Nodes) -> None:
        cells = self.memory.cells(self._addresses[to.buffer], DType(to.dtype))
        cells[self._places(to)] = nodes
        self.memory.written(self._addresses[to.buffer])

    def _result(self, result: TensorView | plan.Scalar) -> SymbolicTensor:
        if isinstance(result, TensorView):
            return self._defined(DType(result.dtype), self._read(result))
        value = result.value
        if not isinstance(value, (bool, int, float)):
            raise NotLiftedError("it returns what is not a number")
        dtype = DType.FLOAT64 if isinstance(value, float) else DType.INT64
        number = self.graph.number(meant(value, Scalar.F64) if isinstance(value, float) else int(value), dtype.value)
        return SymbolicTensor(dtype, (), np.array(number, np.int64))

    def _left(self, buffer: int, source: InputTensor) -> SymbolicTensor:
        return self._defined(
            source.dtype, self.memory.cells(self._addresses[buffer], source.dtype).reshape(source.shape)
        )

    def _defined(self, dtype: DType, nodes: Nodes) -> SymbolicTensor:
        undefined = np.flatnonzero(nodes.ravel() == self.graph.undefined)
        if undefined.size:
            raise NotLiftedError(f"element {undefined[0]} of a result is not defined")
        type_ = scalar_of(dtype)
        made = nodes if type_ is None else self.domain.keys.taken_for(nodes, type_)
        return SymbolicTensor(dtype, nodes.shape, made)


def _asks_for_order(function: Function) -> bool:
    """Returns whether a function uses what atomics find, or has some that do not commute."""
    used = {operand for op in walk(function.body) for operand in op.operands}
    atomics = [op for op in walk(function.body) if op.kind == "atomic"]
    return any(op.result in used or op.attribute("op") not in _COMMUTING for op in atomics)


def _check_same(forward: Executed, backward: Executed) -> None:
    """Raises `NotLiftedError` where two executions in one graph leave results that differ by more than rounding."""
    for trial in trials(forward.graph, forward.inputs):
        pairs = zip(
            (*forward.results, *forward.arguments_after.values()),
            (*backward.results, *backward.arguments_after.values()),
            strict=True,
        )
        for one, other in pairs:
            if not np.allclose(trial.values[one.nodes], trial.values[other.nodes], equal_nan=True):
                raise NotLiftedError("a result depends on the order of threads, by what an atomic finds")

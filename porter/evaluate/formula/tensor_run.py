"""Lets a tensor program answer for its operator: it is judged as any port is."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import torch

from porter.contract.model.contract import Contract, ScalarArg, TensorArg, Values
from porter.contract.model.dtype import DType
from porter.contract.model.expressions import evaluate, names_in, number
from porter.contract.model.syntax import ExpressionError
from porter.execution.job import Fault, FaultKind, Job, LaunchRecord, Run, ScalarValue, TensorValue, Value
from porter.ir.tensor.interpret import interpret
from porter.ir.tensor.program import Output, TensorProgram
from porter.ir.tensor.quantities import Sizes
from porter.worker.torch_types import TORCH_TYPES

_LARGEST_SYMBOL = 1 << 16  # that is searched for where no extent is the symbol itself
_EXECUTED = LaunchRecord("tensor program", (1, 1, 1), (1, 1, 1), 0, 0)


class UnknownSizeError(Exception):
    """The arguments of a call do not determine a size of the program; the message names it."""


@dataclass(frozen=True)
class Case:
    """A program, whose symbols stand in the shapes of `contract`, and which holds for its choices alone."""

    program: TensorProgram
    contract: Contract

    def other(self, arguments: Sequence[Value]) -> str:
        """Returns in what a call differs from those that the program was lifted from; empty where it does not."""
        for argument, value in zip(self.contract.arguments, arguments, strict=True):
            if isinstance(argument, TensorArg) and isinstance(value, TensorValue):
                if value.null != (argument.values is Values.NULL):
                    return f"'{argument.name}' is {'' if value.null else 'not '}null"
                if not value.null and value.dtype != argument.dtype:
                    return f"'{argument.name}' is of {value.dtype}, not of {argument.dtype}"
            elif isinstance(argument, ScalarArg) and isinstance(value, ScalarValue) and self._varies(argument, value):
                return f"'{argument.name}' is {value.value}, not {argument.value}"
        return ""

    def told(self, arguments: Sequence[Value]) -> Mapping[str, TensorValue]:
        """Returns what the program gives for `arguments`, by output. Raises `UnknownSizeError`."""
        sizes = sizes_of(self.program, self.contract, arguments)
        given = {
            argument.name: value
            for argument, value in zip(self.contract.arguments, arguments, strict=True)
            if isinstance(value, TensorValue) and not value.null
        }
        shapes = {tensor.name: _shape(tensor.shape, sizes) for tensor in self.program.inputs}
        tensors = {name: _tensor(given[name]).reshape(shape) for name, shape in shapes.items()}
        asked = {o.name: _asked(o, sizes, shapes, given) for o in self.program.outputs}
        told = interpret(self.program, tensors, sizes, asked)
        return {
            o.name: _value(told[o.name].reshape(given[o.name].shape if o.name in given else asked[o.name]), o.dtype)
            for o in self.program.outputs
        }

    def _varies(self, argument: ScalarArg, value: ScalarValue) -> bool:
        """Returns whether a scalar that the program has no name for has another value than in the contract."""
        if argument.name in (*self.program.symbols, *self.program.parameters) or names_in(argument.value):
            return False
        return float(value.value) != float(number(argument.value, {}))


@dataclass(frozen=True)
class TensorRun:
    """Runs of an operator that has a program for each of its choices."""

    cases: tuple[Case, ...]

    def __call__(self, job: Job) -> Run:
        """Returns what the program of the call's choices gives for the arguments of `job`, in double precision."""
        begin = time.process_time()
        others = [case.other(job.arguments) for case in self.cases]
        case = next((c for c, other in zip(self.cases, others, strict=True) if not other), None)
        if case is None:
            message = f"it was not lifted for this call: {others[0]}"
            return _refused(Fault(FaultKind.HOST_CHECK, "", 0, "", message, fatal=True), begin)
        try:
            told = case.told(job.arguments)
        except (UnknownSizeError, ArithmeticError, LookupError, MemoryError, RuntimeError, ValueError) as error:
            message = f"{type(error).__name__}: {error}"
            return _refused(Fault(FaultKind.CRASH, "", 0, "", message, fatal=True), begin)
        names = frozenset(argument.name for argument in case.contract.arguments)
        results = tuple(told[o.name] for o in case.program.outputs if o.name not in names)
        after = (
            told.get(argument.name, value)
            for argument, value in zip(case.contract.arguments, job.arguments, strict=True)
        )
        return _finished(tuple(value for value in after if isinstance(value, TensorValue)), results, begin)


def sizes_of(program: TensorProgram, contract: Contract, arguments: Sequence[Value]) -> Sizes:
    """Returns the values of all symbols and parameters that a call's arguments determine. Raises `UnknownSizeError`."""
    known: dict[str, int] = {}
    scalars: dict[str, Fraction] = {}
    equations: list[tuple[str, int]] = []
    for argument, value in zip(contract.arguments, arguments, strict=True):
        if isinstance(argument, TensorArg) and isinstance(value, TensorValue):
            equations += zip(argument.shape, value.shape, strict=False)
        elif isinstance(argument, ScalarArg) and isinstance(value, ScalarValue):
            scalars[argument.name] = Fraction(value.value)
            if isinstance(value.value, int) and names_in(argument.value):
                equations.append((argument.value, value.value))
    equations.sort(key=lambda equation: len(equation[0]))
    before = -1
    while len(known) > before:
        before = len(known)
        for text, wanted in equations:
            unknown = names_in(text) - known.keys()
            if len(unknown) == 1:
                known |= dict(_solution(text, wanted, next(iter(unknown)), known))
    told = {**{name: Fraction(value) for name, value in known.items()}, **scalars}
    missing = [name for name in (*program.symbols, *program.parameters) if name not in told]
    if missing:
        raise UnknownSizeError(f"no argument gives '{missing[0]}'")
    return {name: told[name] for name in (*program.symbols, *program.parameters)}


def _solution(text: str, wanted: int, symbol: str, known: Mapping[str, int]) -> Iterator[tuple[str, int]]:
    """Yields the value of `symbol` with which an expression is `wanted`, if there is one."""
    if text == symbol:
        yield symbol, wanted
        return
    found = []
    for value in range(min(_LARGEST_SYMBOL, 4 * wanted + 4)):
        try:
            if evaluate(text, {**known, symbol: value}) == wanted:
                found.append(value)
        except ExpressionError:
            continue
    if len(found) == 1:  # of several none is told
        yield symbol, found[0]


def _tensor(value: TensorValue) -> torch.Tensor:
    if not value.count:
        return torch.empty(value.shape, dtype=TORCH_TYPES[value.dtype])
    raw = torch.from_numpy(np.ascontiguousarray(value.storage).reshape(-1).view(np.uint8).copy())
    return raw.view(TORCH_TYPES[value.dtype]).reshape(value.shape)


def _value(tensor: torch.Tensor, dtype: DType) -> TensorValue:
    dense = tensor.to(TORCH_TYPES[dtype]).contiguous()
    raw = dense.reshape(-1).view(torch.uint8).numpy() if dense.numel() else np.zeros(0, np.uint8)
    return TensorValue(dtype, tuple(dense.shape), raw.view(dtype.storage).reshape(tuple(dense.shape)))


def _asked(
    output: Output, sizes: Sizes, shapes: Mapping[str, tuple[int, ...]], given: Mapping[str, TensorValue]
) -> tuple[int, ...]:
    """Returns the extents of `output`: those of the argument that it is, else those that the sizes give."""
    if output.name in shapes:
        return shapes[output.name]
    if output.name in given and len(given[output.name].shape) == len(output.shape):
        return given[output.name].shape
    if not all(output.shape):
        raise UnknownSizeError(f"no expression over the sizes gives the shape of '{output.name}'")
    return _shape(output.shape, sizes)


def _shape(extents: Sequence[str], sizes: Sizes) -> tuple[int, ...]:
    whole = {name: int(value) for name, value in sizes.items() if value.denominator == 1}
    return tuple(evaluate(extent, whole) for extent in extents)


def _refused(fault: Fault, begin: float) -> Run:
    return replace(_finished((), (), begin), finished=False, exit_code=1, faults=(fault,))


def _finished(outputs: tuple[TensorValue, ...], results: tuple[TensorValue, ...], begin: float) -> Run:
    seconds = time.process_time() - begin
    return Run(True, 0, outputs, results, (), (), (_EXECUTED,), (), "", "", seconds)

"""A tensor program as what answers for its operator: it is judged as any port is."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import torch

from porter.contract.contract import Contract, ScalarArg, TensorArg
from porter.contract.dtype import DType
from porter.contract.expressions import evaluate, names_in
from porter.contract.syntax import ExpressionError
from porter.ir.tensor.interpret import interpret
from porter.ir.tensor.program import Output, TensorProgram
from porter.ir.tensor.quantities import Sizes
from porter.simt.job import Fault, FaultKind, Job, LaunchRecord, Run, ScalarValue, TensorValue, Value
from porter.worker.torch_types import TORCH_TYPES

_LARGEST_SYMBOL = 1 << 16  # that is searched for where no extent is the symbol itself
_EXECUTED = LaunchRecord("tensor program", (1, 1, 1), (1, 1, 1), 0, 0)


class UnknownSizeError(Exception):
    """The arguments of a call do not tell a size of the program; the message names it."""


@dataclass(frozen=True)
class TensorRun:
    """Runs of `program`, whose symbols stand in the shapes of `contract`."""

    program: TensorProgram
    contract: Contract

    def __call__(self, job: Job) -> Run:
        """Returns what the program gives for the arguments of `job`, in double precision."""
        begin = time.process_time()
        if other := self._other_type(job.arguments):
            return _refused(Fault(FaultKind.HOST_CHECK, "", 0, "", other, fatal=True), begin)
        try:
            told = self._told(job.arguments)
        except (UnknownSizeError, ArithmeticError, LookupError, MemoryError, RuntimeError, ValueError) as error:
            message = f"{type(error).__name__}: {error}"
            return _refused(Fault(FaultKind.CRASH, "", 0, "", message, fatal=True), begin)
        results = tuple(told[o.name] for o in self.program.outputs if o.name not in self._arguments)
        after = (
            told.get(argument.name, value)
            for argument, value in zip(self.contract.arguments, job.arguments, strict=True)
        )
        return _finished(tuple(value for value in after if isinstance(value, TensorValue)), results, begin)

    def _other_type(self, arguments: Sequence[Value]) -> str:
        """Returns in what the tensors of a call are of another type than those that the program was lifted from."""
        for argument, value in zip(self.contract.arguments, arguments, strict=True):
            if isinstance(argument, TensorArg) and isinstance(value, TensorValue) and value.dtype != argument.dtype:
                return f"it was lifted for '{argument.name}' of {argument.dtype}"
        return ""

    @property
    def _arguments(self) -> frozenset[str]:
        return frozenset(a.name for a in self.contract.arguments)

    def _told(self, arguments: Sequence[Value]) -> Mapping[str, TensorValue]:
        sizes = sizes_of(self.program, self.contract, arguments)
        tensors = {
            argument.name: _tensor(value)
            for argument, value in zip(self.contract.arguments, arguments, strict=True)
            if isinstance(value, TensorValue) and not value.null
        }
        shapes = {output.name: _shape(output, sizes, tensors) for output in self.program.outputs}
        told = interpret(self.program, tensors, sizes, shapes)
        return {output.name: _value(told[output.name], output.dtype) for output in self.program.outputs}


def sizes_of(program: TensorProgram, contract: Contract, arguments: Sequence[Value]) -> Sizes:
    """The values of all symbols and parameters that the arguments of a call tell. Raises `UnknownSizeError`."""
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
        raise UnknownSizeError(f"no argument tells '{missing[0]}'")
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


def _shape(output: Output, sizes: Sizes, tensors: Mapping[str, torch.Tensor]) -> tuple[int, ...]:
    if output.name in tensors:
        return tuple(tensors[output.name].shape)
    if not all(output.shape):
        raise UnknownSizeError(f"no expression over the sizes gives the shape of '{output.name}'")
    whole = {name: int(value) for name, value in sizes.items() if value.denominator == 1}
    return tuple(evaluate(extent, whole) for extent in output.shape)


def _refused(fault: Fault, begin: float) -> Run:
    return replace(_finished((), (), begin), finished=False, exit_code=1, faults=(fault,))


def _finished(outputs: tuple[TensorValue, ...], results: tuple[TensorValue, ...], begin: float) -> Run:
    seconds = time.process_time() - begin
    return Run(True, 0, outputs, results, (), (), (_EXECUTED,), (), "", "", seconds)

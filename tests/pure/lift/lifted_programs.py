"""Programs that are lifted from kernels on symbols, and what they give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np
import torch
from numpy.typing import NDArray

from porter.contract.model.dtype import DType
from porter.ir.tensor.expressions import Expression
from porter.ir.tensor.interpret import interpret
from porter.ir.tensor.program import Input, Output, TensorProgram
from porter.ir.tensor.verify import verify
from tests.pure.lift.symbolic_floats import Kernel, Shapes, Whole, extents_at, lifted, type_of_input

Arrays = Mapping[str, NDArray[np.float64]]


def lifted_program(kernel: Kernel, inputs: Shapes, output: Sequence[str], probes: Sequence[Whole]) -> TensorProgram:
    """The program of a kernel, from its executions at probes. Raises `NotLiftedError`."""
    return program_of(lifted(kernel, inputs, output, probes), inputs, output, tuple(probes[0]))


def program_of(body: Expression, inputs: Shapes, output: Sequence[str], symbols: tuple[str, ...]) -> TensorProgram:
    """A well-formed program with one output, `out`."""
    tensors = tuple(Input(name, DType(type_of_input(name)), shape) for name, shape in inputs.items())
    coordinates = tuple(f"o{axis}" for axis in range(len(output)))
    out = Output("out", DType.FLOAT32, coordinates, tuple(output), body)
    program = TensorProgram("kernel", symbols, (), tensors, (out,))
    verify(program)
    return program


def values(program: TensorProgram, arrays: Arrays, sizes: Whole) -> NDArray[np.float64]:
    """What a program gives for arrays."""
    types = {name: torch.int64 if type_of_input(name) == "int64" else torch.float64 for name in arrays}
    given = {name: torch.from_numpy(np.ascontiguousarray(array)).to(types[name]) for name, array in arrays.items()}
    extents = extents_at(program.outputs[0].shape, sizes)
    told = interpret(program, given, {name: Fraction(size) for name, size in sizes.items()}, {"out": extents})
    return np.asarray(told["out"].to(torch.float64).numpy())


def arrays_of(inputs: Shapes, sizes: Whole, *, ties: bool = False, labels: int = 0, seed: int = 0) -> Arrays:
    """Random inputs of their shapes; with `ties` few different numbers; `labels` is what labels are below."""
    random = np.random.default_rng(seed)

    def array(name: str, shape: tuple[int, ...]) -> NDArray[np.float64]:
        if type_of_input(name) == "int64":
            return random.integers(0, labels, shape).astype(np.float64)
        return random.integers(-1, 2, shape).astype(float) if ties else random.normal(size=shape)

    return {name: array(name, extents_at(extents, sizes)) for name, extents in inputs.items()}

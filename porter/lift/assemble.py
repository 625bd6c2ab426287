"""The outputs of all probes joined to a program of the tensor IR."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import torch

from porter.contract.model.contract import Contract, Role, ScalarArg
from porter.contract.model.expressions import evaluate, names_in
from porter.ir.tensor.interpret import interpret
from porter.ir.tensor.notation import quantity_text
from porter.ir.tensor.places import tensors_read, used_names
from porter.ir.tensor.program import Input, Output, TensorProgram
from porter.lift.fitted import FittedOutput, FittedProbe, FittedProbes, RefusedProbe
from porter.lift.nodes import NotLiftedError
from porter.lift.probes import Probe, parameters
from porter.lift.size_products import Quantities
from porter.lift.sizes import Joining
from porter.lift.structure import Structure, structure

_LEAST_AGREEING = 4  # probes


def assembled(contract: Contract, probes: Sequence[Probe], fitted: FittedProbes) -> TensorProgram:
    """Returns the program of the operator under `contract`, from the most probes that differ only in numbers.

    Raises `NotLiftedError` where they are too few.
    """
    asked, told = probes, fitted.probes
    probes, parts = _agreeing(probes, fitted)
    whole, fractional = parameters(contract)
    held = _held(contract, probes)
    program = TensorProgram(
        contract.entry.name,
        (*contract.symbols, *(a.name for a in whole if a.name in probes[0].whole and a.name not in held)),
        tuple(a.name for a in fractional),
        tuple(Input(t.name, t.dtype, t.shape) for t in contract.tensors if t.role is not Role.OUT),
        tuple(_output(contract, probes, own) for own in zip(*(part.outputs for part in parts), strict=True)),
        tuple(sorted({assumption for part in parts for assumption in part.assumptions}))
        + tuple(f"{name} is {value}" for name, value in held.items()),
        tuple(held),
    )
    for name in sorted({tensor.name for tensor in contract.tensors if tensor.role is Role.OUT} & tensors_read(program)):
        raise NotLiftedError(f"elements of '{name}' keep what they held where no condition of the source holds")
    for probe, part in zip(asked, told, strict=True):
        if isinstance(part, FittedProbe) and part not in parts:
            _check(contract, program, probe, part)
    return _with_used_names(program)


def _with_used_names(program: TensorProgram) -> TensorProgram:
    """Returns `program` without symbols and parameters that nothing depends on, such as an extent of a grid."""
    used = used_names(program)
    symbols, parameters = (tuple(n for n in names if n in used) for names in (program.symbols, program.parameters))
    return replace(program, symbols=symbols, parameters=parameters)


def _check(contract: Contract, program: TensorProgram, probe: Probe, part: FittedProbe) -> None:
    """Raises `NotLiftedError` where the program is not the same at the sizes of a probe with another structure."""
    whole = {name: int(value) for name, value in probe.values.items() if value.denominator == 1}
    inputs: dict[str, torch.Tensor] = {}
    for tensor in contract.tensors:
        shape = [evaluate(extent, whole) for extent in tensor.shape]
        generator = torch.Generator().manual_seed(len(inputs))
        drawn = torch.rand(shape, dtype=torch.float64, generator=generator) + 0.5
        inputs[tensor.name] = drawn if tensor.dtype.is_float else (drawn > 1).to(torch.int64)
    bodies = {output.name: output for output in part.outputs}
    if set(bodies) != {output.name for output in program.outputs}:
        raise NotLiftedError("which outputs there are differs with the sizes")
    own = replace(program, outputs=tuple(replace(o, body=bodies[o.name].body) for o in program.outputs))
    shapes = {output.name: output.shape for output in part.outputs}
    given = {tensor.name: inputs[tensor.name] for tensor in program.inputs}
    try:
        first, second = (interpret(one, given, probe.values, shapes) for one in (program, own))
    except (IndexError, ZeroDivisionError, ValueError) as error:
        raise NotLiftedError(f"what was fitted has no value at other sizes: {error}") from error
    if not all(torch.allclose(first[name], second[name], equal_nan=True) for name in shapes):
        raise NotLiftedError("what is computed differs with the sizes")


def _agreeing(probes: Sequence[Probe], fitted: FittedProbes) -> tuple[Sequence[Probe], Sequence[FittedProbe]]:
    """Returns probes whose outputs differ only in numbers.

    The others have sizes where a reduction has a single element, or a coordinate a single value.
    """
    groups: dict[Structure, list[tuple[Probe, FittedProbe]]] = {}
    because = ""
    for probe, part in zip(probes, fitted.probes, strict=True):
        if isinstance(part, RefusedProbe):
            because = because or part.because
            continue
        key = tuple((o.name, str(o.dtype), len(o.shape), structure(o.body)) for o in part.outputs)
        groups.setdefault(key, []).append((probe, part))
    # A group of one is not a group: where enough probes show more, they are right.
    enough = [key for key, own in groups.items() if len(own) >= _LEAST_AGREEING]
    if not enough:
        raise NotLiftedError(because or "what is computed differs with the sizes")
    largest = groups[max(enough, key=lambda key: len(repr(key)))]
    return [probe for probe, _ in largest], [part for _, part in largest]


def _held(contract: Contract, probes: Sequence[Probe]) -> dict[str, str]:
    """Returns the scalars that had one value in all `probes`, with that value: the program is only for it.

    Host code may have refused others, or nothing was fitted at them.
    """
    scalars = {a.name: a.value for a in contract.arguments if isinstance(a, ScalarArg) and not names_in(a.value)}
    seen = {name: {probe.values.get(name) for probe in probes} for name in scalars}
    one = {name: next(iter(values)) for name, values in seen.items() if len(values) == 1}
    return {name: scalars[name] if value is None else str(value) for name, value in one.items()}


def _output(contract: Contract, probes: Sequence[Probe], parts: Sequence[FittedOutput]) -> Output:
    first = parts[0]
    sizes = [probe.values for probe in probes]
    try:
        body = Joining(sizes).expression([one.body for one in parts])
    except NotLiftedError as error:
        raise NotLiftedError(f"{first.name}: {error}") from error
    columns = list(zip(*(one.shape for one in parts), strict=True))
    shape = tuple(_extent(probes, column, _axis(contract, len(columns), axis)) for axis, column in enumerate(columns))
    return Output(first.name, first.dtype, tuple(f"o{axis}" for axis in range(len(shape))), shape, body)


def _axis(contract: Contract, rank: int, axis: int) -> str:
    """Returns the symbol of this axis in an input of that rank; empty where there is none."""
    named = (tensor.shape[axis] for tensor in contract.tensors if len(tensor.shape) == rank)
    return next((extent for extent in named if extent in contract.symbols), "")


def _extent(probes: Sequence[Probe], extents: Sequence[int], likely: str) -> str:
    """Returns the expression of an extent: a product of sizes, or the number of windows on an axis; else empty."""
    values = [{name: value for name, value in probe.values.items() if name in probe.sizes} for probe in probes]
    try:
        return quantity_text(Quantities(values).fitted([Fraction(extent) for extent in extents])).text
    except NotLiftedError:
        return _tiles(probes, extents, likely) or _windows(probes, extents, likely)


def _tiles(probes: Sequence[Probe], extents: Sequence[int], likely: str) -> str:
    """Returns the expression of how many tiles cover an axis, the roundest of the tiles that fit."""
    for length in sorted(probes[0].sizes, key=lambda symbol: symbol != likely):
        pairs = [(probe.sizes[length], extent) for probe, extent in zip(probes, extents, strict=True)]
        if any(extent < 1 for _, extent in pairs) or max(extents) < 2:
            continue
        least = max(-(-size // extent) for size, extent in pairs)
        most = min(-(-size // (extent - 1)) - 1 for size, extent in pairs if extent > 1)
        if least <= most:
            tile = max(range(least, most + 1), key=lambda number: number & -number)
            return f"({length} + {tile - 1}) // {tile}"
    return ""


def _windows(probes: Sequence[Probe], extents: Sequence[int], likely: str) -> str:
    """Returns the expression of how many windows lie on an axis, that of `likely` if it can be."""
    symbols, whole = sorted(probes[0].sizes, key=lambda symbol: symbol != likely), tuple(probes[0].whole)
    values = [{**probe.sizes, **probe.whole} for probe in probes]
    for length, kernel in itertools.product(symbols, whole):
        others = [name for name in whole if name != kernel]
        for padding, dilation, stride in itertools.product(("0", *others), ("1", *others), (*whole, "1")):
            text = _windows_text(length, kernel, padding, dilation, stride)
            if [evaluate(text, at) for at in values] == list(extents):
                return text
    return ""


def _windows_text(length: str, kernel: str, padding: str, dilation: str, stride: str) -> str:
    """Returns how many windows of `kernel` elements lie on an axis, as an expression."""
    padded = length if padding == "0" else f"{length} + 2 * {padding}"
    window = kernel if dilation == "1" else f"{dilation} * ({kernel} - 1) + 1"
    return f"({padded} - ({window})) // {stride} + 1" if dilation != "1" else f"({padded} - {window}) // {stride} + 1"

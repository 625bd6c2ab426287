"""Makes one tensor program of a module's formulas at several sizes."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from porter.contract.model.contract import Contract
from porter.contract.model.expressions import evaluate
from porter.ir.tensor.notation import quantity_text
from porter.ir.tensor.places import used_names
from porter.ir.tensor.program import Input, Output, TensorProgram
from porter.ir.tensor.quantities import Quantity
from porter.lift.exported.graph import ExportedGraph
from porter.lift.exported.lifting import coordinate_name
from porter.lift.fitted import FittedOutput
from porter.lift.nodes import NotLiftedError
from porter.lift.size_products import Quantities
from porter.lift.sizes import Joining
from porter.lift.structure import structure

_STRIDES = range(1, 9)
_MOST_OFFSET = 33
Outputs = Sequence[FittedOutput]


def joined(
    contract: Contract,
    sizes: Sequence[Mapping[str, int]],
    graphs: Sequence[ExportedGraph],
    outputs: Sequence[Outputs],
    assumptions: Sequence[str],
) -> TensorProgram:
    """Returns the program whose outputs at each of `sizes`, values of the contract's symbols, are those of `outputs`.

    The outputs were read from `graphs`. Raises `NotLiftedError` where they differ in more than numbers, or a number is
    no expression over the sizes.
    """
    spans = _spans(sizes, graphs)
    sizes, outputs = _agreeing(sizes, outputs)
    columns = enumerate(zip(*outputs, strict=True))
    program = TensorProgram(
        contract.entry.name,
        contract.symbols,
        (),
        tuple(Input(tensor.name, tensor.dtype, tensor.shape) for tensor in contract.tensors),
        tuple(_output(number, sizes, own, spans) for number, own in columns),
        tuple(assumptions),
    )
    used = used_names(program)
    symbols = tuple(name for name in program.symbols if name in used)
    return TensorProgram(program.name, symbols, (), program.inputs, program.outputs, program.assumptions)


def _agreeing(
    sizes: Sequence[Mapping[str, int]], outputs: Sequence[Outputs]
) -> tuple[Sequence[Mapping[str, int]], Sequence[Outputs]]:
    """Returns the sizes at which outputs differ only in numbers: at others an axis has a single element.

    Raises `NotLiftedError` where these are not most of them.
    """
    groups: dict[object, list[int]] = {}
    for place, own in enumerate(outputs):
        key = tuple((one.name, one.dtype, len(one.shape), structure(one.body)) for one in own)
        groups.setdefault(key, []).append(place)
    kept = max(groups.values(), key=len)
    if 2 * len(kept) <= len(outputs):
        raise NotLiftedError("what is computed differs with the sizes")
    return [sizes[place] for place in kept], [outputs[place] for place in kept]


def _spans(sizes: Sequence[Mapping[str, int]], graphs: Sequence[ExportedGraph]) -> tuple[Quantity, ...]:
    """Returns the extents of values that are a size with a number more or less, as a window leaves them."""
    shapes = [[extent for node in g.nodes for one in node.results for extent in one.shape] for g in graphs]
    if len({len(own) for own in shapes}) != 1:
        return ()
    found: dict[Quantity, None] = {}
    for column in dict.fromkeys(zip(*shapes, strict=True)):
        for symbol in sizes[0]:
            apart = {extent - at[symbol] for extent, at in zip(column, sizes, strict=True)}
            if len(apart) == 1 and 0 < abs(offset := apart.pop()) < _MOST_OFFSET:
                found[Quantity(Fraction(1), ((symbol, 1),), Fraction(offset))] = None
    return tuple(found)


def _output(
    number: int, sizes: Sequence[Mapping[str, int]], parts: Sequence[FittedOutput], spans: Sequence[Quantity]
) -> Output:
    first = parts[0]
    values = [{name: Fraction(value) for name, value in at.items()} for at in sizes]
    try:
        body = Joining(values, spans).expression([part.body for part in parts])
    except NotLiftedError as error:
        raise NotLiftedError(f"{first.name}: {error}") from error
    columns = list(zip(*(part.shape for part in parts), strict=True))
    shape = tuple(extent_text(sizes, column) for column in columns)
    names = tuple(coordinate_name(number, axis) for axis in range(len(shape)))
    return Output(first.name, first.dtype, names, shape, body)


def extent_text(sizes: Sequence[Mapping[str, int]], extents: Sequence[int]) -> str:
    """Returns the extent as an expression over the sizes.

    Raises `NotLiftedError` where it is no product of sizes, no sum of two, and no count of windows along one.
    """
    values = [{name: Fraction(value) for name, value in at.items()} for at in sizes]
    try:
        return quantity_text(Quantities(values).fitted([Fraction(extent) for extent in extents])).text
    except NotLiftedError:
        pass
    for text in _candidates(sizes[0], extents[0]):
        if [evaluate(text, at) for at in sizes] == list(extents):
            return text
    shown = ", ".join(map(str, extents))
    raise NotLiftedError(f"an extent has no known form over the sizes: {shown}")


def _candidates(at: Mapping[str, int], extent: int) -> Iterator[str]:
    """Yields expressions that are `extent` at the sizes `at`: sums of two sizes, then windows along one."""
    for first, second in itertools.combinations(at, 2):
        yield f"{first} + {second}"
    for stride, symbol in itertools.product(_STRIDES, at):
        for more in range(stride):
            offset = stride * (extent - 1) + more - at[symbol]
            if abs(offset) < _MOST_OFFSET:
                moved = f"{symbol} {'+' if offset >= 0 else '-'} {abs(offset)}"
                yield f"({moved}) // {stride} + 1" if stride > 1 else f"{moved} + 1"

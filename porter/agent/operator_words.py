"""A contract in words: what is called with which tensors, what counts as right, at which sizes it is checked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod

from porter.backend import Chip
from porter.contract.model.contract import Contract, EntryKind, Role, TensorArg, Values, Workload
from porter.contract.workload.materialise import is_null, shape_of
from porter.evolve.scoring.diagnosis import ScoredSize

_ROLES = {Role.IN: "read", Role.OUT: "written", Role.INOUT: "read and written"}
_KINDS = {
    EntryKind.TORCH: "a function on tensors that returns its results",
    EntryKind.POINTER: "a function on device pointers",
    EntryKind.KERNEL: "a kernel that is launched directly",
    EntryKind.PROGRAM: "a whole program",
}
_MB = 1e6


def operator_in_words(contract: Contract) -> str:
    """Says how the entry is called and what a right answer is, as Markdown; without workloads for devices alone."""
    names = ", ".join(argument.name for argument in contract.arguments)
    lines = [f"`{contract.entry.name}({names})` is {_KINDS[contract.entry.kind]}.", "", *_arguments(contract)]
    if contract.conditions:
        lines += ["", f"Sizes satisfy {' and '.join(f'`{one}`' for one in contract.conditions)}."]
    lines += ["", *_right(contract), "", "It is checked at these sizes and at others that are drawn near them:", ""]
    lines += [f"- {_checked(workload)}" for workload in contract.workloads if not workload.device_only]
    return "\n".join(lines)


def sizes_in_words(sizes: Sequence[ScoredSize], chip: Chip | None) -> str:
    """Says where the score is taken, what must move there, and how long that takes at least; a line for each size."""
    return "\n".join(f"- {' '.join(_scored(size, chip))}" for size in sizes)


def _arguments(contract: Contract) -> Iterator[str]:
    for argument in contract.arguments:
        if not isinstance(argument, TensorArg):
            chosen = f"; one of {', '.join(argument.choices)}" if argument.choices else ""
            yield f"- `{argument.name}`: {argument.type}, {argument.value} where nothing else is said{chosen}"
            continue
        shape = f"[{', '.join(argument.shape)}]"
        values = "" if argument.values is Values.NORMAL else f"; its values are {_values(argument)}"
        optional = "; it may be a null pointer" if argument.optional else ""
        yield f"- `{argument.name}`: {argument.dtype.value} {shape}, {_ROLES[argument.role]}{values}{optional}"
        for field, part in zip(argument.fields, argument.parts, strict=False):
            values = "" if part.values is Values.NORMAL else f"; its values are {_values(part)}"
            yield f"  - byte {field.at} of each {argument.group} is `{field.name}`: {field.dtype.value}{values}"


def _values(argument: TensorArg) -> str:
    below = f", below {argument.bound}" if argument.bound else ""
    listed = f" ({', '.join(argument.elements)})" if argument.elements else ""
    return f"{argument.values.value}{below}{listed}"


def _right(contract: Contract) -> Iterator[str]:
    for dtype, tolerance in contract.tolerance.items():
        yield (
            f"An element of {dtype.value} is right where |got - want| <= {tolerance.atol:g} + "
            f"{tolerance.rtol:g} * |want|, and the original's own rounding error is added to that."
        )


def _checked(workload: Workload) -> str:
    parts = [_sizes(workload.sizes)]
    parts += [f"{name} is {dtype.value}" for name, dtype in workload.dtypes.items()]
    parts += [f"{name} = {value:g}" for name, value in workload.scalars.items()]
    parts += [f"{name} is a view ({layout.value})" for name, layout in workload.layouts.items()]
    return f"{workload.name!r}: {'; '.join(part for part in parts if part)}"


def _sizes(sizes: Mapping[str, int]) -> str:
    return ", ".join(f"{name} = {size}" for name, size in sizes.items())


def _scored(size: ScoredSize, chip: Chip | None) -> Iterator[str]:
    contract, workload = size.contract, size.workload
    yield f"{workload.name} of `{contract.entry.name}`: {_sizes(workload.sizes)}."
    given = [t for t in contract.tensors if not is_null(t, workload)]
    yield f"{'; '.join(_tensor(tensor, workload) for tensor in given)}."
    least = "" if size.whole else "at least "
    yield f"Each tensor read or written once, results included, is {least}{size.needed_bytes / _MB:.5g} MB."
    if chip is not None:
        limit_us = size.needed_bytes / chip.copy_bytes_per_us
        yield f"At the bandwidth of a copy ({chip.name}) that takes {least}{limit_us:.4g} us: the limit of any kernel."


def _tensor(tensor: TensorArg, workload: Workload) -> str:
    shape, dtype = shape_of(tensor, workload), workload.dtypes.get(tensor.name, tensor.dtype)
    return f"`{tensor.name}` {dtype.value} {list(shape)}, {prod(shape) * dtype.bytes / _MB:.4g} MB"

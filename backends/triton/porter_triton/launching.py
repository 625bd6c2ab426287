"""The call that launches a lowered kernel, as Python text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from porter_triton.kernel_records import LoweredKernel, LoweredParameter, ParameterKind
from porter_triton.refusal import Refusal

_ITEM_BYTES = {"float64": 8, "int64": 8, "uint64": 8, "float32": 4, "int32": 4, "uint32": 4}
_ITEM_BYTES |= {"float16": 2, "bfloat16": 2, "int16": 2, "uint16": 2, "int8": 1, "uint8": 1, "bool": 1}
_ITEM_BYTES |= {"float8_e4m3fn": 1, "float8_e5m2": 1}
_LANES = 32
_MOST_WARPS = 16  # of 64 lanes are 1024 threads


@dataclass(frozen=True, slots=True)
class LaunchText:
    """A launch in Python: `arguments` by the name of the CUDA parameter, extents of grid and block, dynamic memory.

    `device` is a tensor's text: where scratch buffers are made. `nullable` are parameters that may be given no tensor.
    """

    arguments: Mapping[str, str]
    grid: tuple[str, str, str]
    block: tuple[str, str, str]
    shared_bytes: str = "0"
    device: str = "None"
    nullable: frozenset[str] = frozenset()


def call(kernel: LoweredKernel, launch: LaunchText) -> str:
    """The statement that launches `kernel`, on one line.

    Raises `Refusal` where the kernel wants something that `launch` does not have.
    """
    values = [_value(parameter, launch) for parameter in kernel.parameters]
    inside = ", ".join([*values, f"num_warps={_warps(kernel, launch.block)}"])
    return f"{kernel.name}[{_tuple(launch.grid)}]({inside})"


def product(factors: tuple[str, ...]) -> str:
    """The product of extents: a number where all are, else without the ones."""
    if all(factor.isdecimal() for factor in factors):
        result = 1
        for factor in factors:
            result *= int(factor)
        return str(result)
    return " * ".join(_atom(factor) for factor in factors if factor != "1")


def _value(parameter: LoweredParameter, launch: LaunchText) -> str:
    match parameter.kind:
        case ParameterKind.BLOCK:
            return f"{parameter.name}={launch.block['xyz'.index(parameter.source)]}"
        case ParameterKind.THREADS:
            return f"{parameter.name}={_power_of_2(product(launch.block))}"
        case ParameterKind.SHARED:
            return f"{parameter.name}={_shared(parameter, launch)}"
        case ParameterKind.TEMPLATE:
            return f"{parameter.name}={parameter.elements}"
        case ParameterKind.SCRATCH:
            one = str(parameter.elements) if parameter.elements else _shared(parameter, launch)
            threads = (_power_of_2(product(launch.block) or "1"),) if parameter.per_thread else ()
            count = product((one, *threads, *launch.grid))
            return f"torch.empty({count}, dtype=torch.{_held(parameter)}, device={launch.device}.device)"
        case ParameterKind.POINTER | ParameterKind.SCALAR | ParameterKind.CONSTANT:
            if parameter.source not in launch.arguments:
                raise Refusal(0, _unknown(parameter))
            return _tensor(parameter, launch)


def _unknown(parameter: LoweredParameter) -> str:
    if parameter.kind is not ParameterKind.CONSTANT:
        return f"nothing is known to pass for '{parameter.source}'"
    return (
        f"nothing is known of what '{parameter.source}' holds, which no function fills that is ported; "
        "a function that copies to it and launches the kernel would be"
    )


def _tensor(parameter: LoweredParameter, launch: LaunchText) -> str:
    """Returns what is passed for a kernel's own argument: the bytes of a tensor of 8-bit floats."""
    given = launch.arguments[parameter.source]
    passed = given
    if parameter.dtype != _held(parameter) and given != "None":
        passed = f"{_atom(given)}.view(torch.uint8)"
        if parameter.asked:
            return f"None if {_atom(given)} is None else {passed}"
    if parameter.source not in launch.nullable or parameter.asked or parameter.unread:
        return passed
    # Triton compiles for None what a kernel that does not ask for it only reaches where there is a tensor.
    nowhere = f"torch.empty(0, dtype=torch.{_held(parameter)}, device={launch.device}.device)"
    return nowhere if given == "None" else f"{nowhere} if {_atom(given)} is None else {passed}"


def _held(parameter: LoweredParameter) -> str:
    """The dtype of the elements that the kernel is given."""
    return "uint8" if parameter.dtype.startswith("float8") else parameter.dtype


def _shared(parameter: LoweredParameter, launch: LaunchText) -> str:
    """Returns how many elements the launch's dynamic shared memory holds, padded to a power of two."""
    return _power_of_2(_elements(launch.shared_bytes, parameter.dtype))


def _power_of_2(count: str) -> str:
    if count.isdecimal():
        return str(1 << (int(count) - 1).bit_length())
    return f"triton.next_power_of_2({count})"


def _elements(size: str, dtype: str) -> str:
    item = _ITEM_BYTES[dtype]
    if size.isdecimal():
        return str(max(1, int(size) // item))
    return f"{_atom(size)} // {item}" if item > 1 else size


def _warps(kernel: LoweredKernel, block: tuple[str, str, str]) -> str:
    """As many as hold the block's threads, several a lane."""
    per_warp = _LANES * kernel.threads_per_lane
    threads = product(block)
    if threads.isdecimal():
        wanted = max(1, min(_MOST_WARPS, int(threads) // per_warp))
        return str(1 << (wanted.bit_length() - 1))
    return f"max(1, min({_MOST_WARPS}, {_power_of_2(threads)} // {per_warp}))"


def _tuple(extents: tuple[str, str, str]) -> str:
    """A grid without its trailing ones; one that is given whole stays so."""
    if extents == ("grid[0]", "grid[1]", "grid[2]"):
        return "grid"
    x, y, z = extents
    if z != "1":
        return f"({x}, {y}, {z})"
    return f"({x}, {y})" if y != "1" else f"({x},)"


def _atom(text: str) -> str:
    return text if re.fullmatch(r"[\w.]+(\[[\w.]+\])?|[\w.]+\(([^()]|\([^()]*\))*\)", text) else f"({text})"

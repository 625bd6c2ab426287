"""The call that launches a lowered kernel, as Python text."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from porter_triton.kernel_records import LoweredKernel, LoweredParameter, ParameterKind
from porter_triton.refusal import Refusal

_ITEM_BYTES = {"float64": 8, "int64": 8, "uint64": 8, "float32": 4, "int32": 4, "uint32": 4}
_ITEM_BYTES |= {"float16": 2, "bfloat16": 2, "int16": 2, "uint16": 2, "int8": 1, "uint8": 1, "bool": 1}
_ITEM_BYTES |= {"float8_e4m3fn": 1, "float8_e5m2": 1}
_LANES = 32
_MOST_WARPS = 16  # of 64 lanes are 1024 threads


@dataclass(frozen=True, slots=True)
class Given:
    """A value that a launch gives, as text; `number` is set where it is known. If `is_atom`, it may stand anywhere."""

    text: str
    is_atom: bool = True
    number: int | None = None

    @property
    def atom(self) -> str:
        """The text with brackets where it needs some."""
        return self.text if self.is_atom else f"({self.text})"


def number(value: int) -> Given:
    """Returns a whole number."""
    return Given(str(value), value >= 0, value)


NOTHING = Given("None")
_WHOLE_GRID = tuple(Given(f"grid[{axis}]") for axis in range(3))


@dataclass(frozen=True, slots=True)
class LaunchText:
    """A launch in Python: `arguments` by the name of the CUDA parameter, extents of grid and block, dynamic memory.

    `device` is a tensor's text: where scratch buffers are made. `nullable` are parameters that may be given no tensor.
    """

    arguments: Mapping[str, Given]
    grid: tuple[Given, Given, Given]
    block: tuple[Given, Given, Given]
    shared_bytes: Given = field(default_factory=lambda: number(0))
    device: str = "None"
    nullable: frozenset[str] = frozenset()


def call(kernel: LoweredKernel, launch: LaunchText) -> str:
    """Returns the statement that launches `kernel`, on one line.

    Raises `Refusal` where the kernel needs something that `launch` does not have.
    """
    values = [_value(parameter, launch) for parameter in kernel.parameters]
    inside = ", ".join([*values, f"num_warps={_warps(kernel, launch.block)}"])
    return f"{kernel.name}[{_tuple(launch.grid)}]({inside})"


def product(factors: tuple[Given, ...]) -> Given:
    """Returns the product of extents: a number where all are, else without the ones."""
    known = [factor.number for factor in factors if factor.number is not None]
    if len(known) == len(factors):
        return number(math.prod(known))
    others = [factor.atom for factor in factors if factor.number != 1]
    return Given(" * ".join(others), is_atom=len(others) == 1)


def _value(parameter: LoweredParameter, launch: LaunchText) -> str:
    match parameter.kind:
        case ParameterKind.BLOCK:
            return f"{parameter.name}={launch.block['xyz'.index(parameter.source)].text}"
        case ParameterKind.THREADS:
            return f"{parameter.name}={_power_of_2(product(launch.block)).text}"
        case ParameterKind.SHARED:
            return f"{parameter.name}={_shared(parameter, launch).text}"
        case ParameterKind.TEMPLATE:
            return f"{parameter.name}={parameter.elements}"
        case ParameterKind.SCRATCH:
            one = number(parameter.elements) if parameter.elements else _shared(parameter, launch)
            threads = (_power_of_2(product(launch.block)),) if parameter.per_thread else ()
            count = product((one, *threads, *launch.grid)).text
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
    passed = given.text
    if parameter.dtype != _held(parameter) and given != NOTHING:
        passed = f"{given.atom}.view(torch.uint8)"
        if parameter.asked:
            return f"None if {given.atom} is None else {passed}"
    if parameter.source not in launch.nullable or parameter.asked or parameter.unread:
        return passed
    # Triton compiles for None what a kernel that does not ask for it only reaches where there is a tensor.
    nowhere = f"torch.empty(0, dtype=torch.{_held(parameter)}, device={launch.device}.device)"
    return nowhere if given == NOTHING else f"{nowhere} if {given.atom} is None else {passed}"


def _held(parameter: LoweredParameter) -> str:
    """Returns the dtype of the elements that the kernel is given."""
    return "uint8" if parameter.dtype.startswith("float8") else parameter.dtype


def _shared(parameter: LoweredParameter, launch: LaunchText) -> Given:
    """Returns how many elements the launch's dynamic shared memory holds, padded to a power of two."""
    return _power_of_2(_elements(launch.shared_bytes, parameter.dtype))


def _power_of_2(count: Given) -> Given:
    if count.number is not None:
        return number(1 << (count.number - 1).bit_length())
    return Given(f"triton.next_power_of_2({count.text})")


def _elements(size: Given, dtype: str) -> Given:
    item = _ITEM_BYTES[dtype]
    if size.number is not None:
        return number(max(1, size.number // item))
    return Given(f"{size.atom} // {item}", is_atom=False) if item > 1 else size


def _warps(kernel: LoweredKernel, block: tuple[Given, Given, Given]) -> str:
    """Returns as many warps as hold the block's threads, several a lane."""
    per_warp = _LANES * kernel.threads_per_lane
    threads = product(block)
    if threads.number is not None:
        wanted = max(1, min(_MOST_WARPS, threads.number // per_warp))
        return str(1 << (wanted.bit_length() - 1))
    return f"max(1, min({_MOST_WARPS}, {_power_of_2(threads).text} // {per_warp}))"


def _tuple(extents: tuple[Given, Given, Given]) -> str:
    """Returns a grid without its trailing ones; a grid that is a single value stays as it is."""
    if extents == _WHOLE_GRID:
        return "grid"
    x, y, z = (extent.text for extent in extents)
    if z != "1":
        return f"({x}, {y}, {z})"
    return f"({x}, {y})" if y != "1" else f"({x},)"

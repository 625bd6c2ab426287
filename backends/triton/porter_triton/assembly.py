"""Compiles a launch of a plan to assembly, and finds what a program of it takes of a multiprocessor."""

from __future__ import annotations

import inspect
import struct
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.runtime.jit import KernelParam, mangle_type

from porter.contract.model.dtype import DType
from porter.launch_plan.steps import Argument, ElementType, KernelName, Launch, Scalar, TensorView
from porter.launch_plan.views import item_bytes
from porter.worker.torch_types import TORCH_TYPES
from porter_triton.requests import ADDRESS_BITS

_ALIGNED = 16  # bytes, and what whole numbers are told to be multiples of
_WITH_PAYLOAD, _REGISTER_COUNT, _STACK_BYTES = 4, 0x2F, 0x11  # EIFMT_SVAL, EIATTR_REGCOUNT, EIATTR_FRAME_SIZE
_OPTIONS = ("num_warps", "num_stages", "num_ctas", "maxnreg")


def assembled(
    kernel: Any,  # noqa: ANN401 - Triton has no types
    launch: Launch,
    device: tuple[str, int | str, int],
    function: Callable[[str], object],
) -> Mapping[str, object]:
    """Returns the code of `launch` for `device`, and its parameters' values; `function` gives kernels by key."""
    source, values = _specialised(kernel, dict(launch.arguments), function)
    options = {name: scalar.value for name, scalar in launch.options if name in _OPTIONS}
    compiled = triton.compile(source, target=GPUTarget(*device), options=options)
    attributes = _attributes(compiled.asm.get("cubin", b""))
    return {
        "arguments": values, "ptx": compiled.asm["ptx"], "warps": compiled.metadata.num_warps,
        "shared_bytes": compiled.metadata.shared, "registers": attributes.get(_REGISTER_COUNT, 0),
        "local_bytes": attributes.get(_STACK_BYTES, 0),
    }  # fmt: skip


def _specialised(
    kernel: Any,  # noqa: ANN401
    arguments: Mapping[str, Argument],
    function: Callable[[str], object],
) -> tuple[ASTSource, list[float]]:
    """Returns what Triton compiles for a launch with `arguments`, and the values of the parameters that are left."""
    types: dict[str, str] = {}
    constants: dict[str, object] = {}
    attributes: dict[tuple[int, ...], list[list[object]]] = {}
    values: list[float] = []
    for index, parameter in enumerate(inspect.signature(kernel.fn).parameters.values()):
        given = arguments[parameter.name]
        known = KernelParam(index, parameter, False, False)
        if known.is_constexpr or given == Scalar(None):
            types[parameter.name] = "constexpr"
            constants[parameter.name] = _constant(given, function)
            continue
        types[parameter.name], number = _typed(known, given)
        if types[parameter.name] == "constexpr":  # Triton's launcher has 1 as a constant
            constants[parameter.name] = number
            continue
        values.append(number)
        if types[parameter.name][0] in "*iu" and number % _ALIGNED == 0 and types[parameter.name] != "u1":
            attributes[index,] = [["tt.divisibility", _ALIGNED]]
    return ASTSource(kernel, types, constants, attributes), values


def _constant(given: Argument, function: Callable[[str], object]) -> object:
    match given:
        case Scalar(value):
            return value
        case ElementType(name):
            return tl.dtype(name)
        case KernelName(key):
            return function(key)
    raise TypeError(f"a {type(given).__name__} is not a constant")


def _typed(parameter: KernelParam, given: Argument) -> tuple[str, float]:
    """Returns the type of a parameter and its value; an address for a tensor."""
    match given:
        case TensorView(buffer, dtype, _, _, offset):
            address = (buffer + 1 << ADDRESS_BITS) + offset * item_bytes(dtype)
            return str(mangle_type(_Pointed(TORCH_TYPES[DType(dtype)]))), address
        case Scalar(bool() | int() | float() as value):
            return str(parameter.annotation_type or mangle_type(value, specialize=True)), value
    raise TypeError(f"a {type(given).__name__} is not walked")


class _Pointed:
    """Stands for a tensor that Triton asks for its type."""

    def __init__(self, dtype: torch.dtype) -> None:
        self.dtype = dtype

    def data_ptr(self) -> int:
        """Returns an address that says nothing."""
        return 0


def _attributes(cubin: bytes) -> Mapping[int, int]:
    """Returns the attributes in the section `.nv.info` of an NVIDIA binary, by name; none for other binaries."""
    at, size, count, names = *struct.unpack_from("<Q", cubin, 40), *struct.unpack_from("<HHH", cubin, 58)
    sections = [struct.unpack_from("<IIQQQQII", cubin, at + index * size) for index in range(count)]
    strings = sections[names][4]
    for name, _, _, _, begin, length, *_ in sections:
        if cubin[strings + name : cubin.index(b"\0", strings + name)] == b".nv.info":
            return dict(_numbers(cubin[begin : begin + length]))
    return {}


def _numbers(info: bytes) -> Iterator[tuple[int, int]]:
    """Names and numbers of a list of attributes: a form, a name, two bytes, or that many more, for a function each."""
    place = 0
    while place + 4 <= len(info):
        form, name, short = struct.unpack_from("<BBH", info, place)
        if form == _WITH_PAYLOAD and short == 8:  # the function's symbol, and its number
            yield name, int(struct.unpack_from("<II", info, place + 4)[1])
        place += 4 + (short if form == _WITH_PAYLOAD else 0)

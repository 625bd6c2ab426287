"""The child process that says what a module would launch at sizes for a device, and what that compiles to.

The module's own host code runs, on tensors of torch's `meta` device: they have shapes and no elements. So a launch is
known by its grid and arguments, wherever host code does not look at results. A question is a `Call` pickled, an answer
JSON: `launches` and the `programs` they are of, or `because`.
"""

from __future__ import annotations

import inspect
import json
import os
import pickle
import struct
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, cast

import torch
import triton
from torch.overrides import TorchFunctionMode
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.runtime.autotuner import Autotuner
from triton.runtime.cache import triton_key
from triton.runtime.jit import JITFunction, KernelParam, mangle_type

from porter.errors import exhaustion
from porter.simt.job import TensorValue
from porter.worker.confine import confine
from porter.worker.frames import MACHINE, read_frame, write_frame
from porter.worker.load import load
from porter.worker.torch_types import TORCH_TYPES
from porter_triton.device_answers import answer_for_the_device
from porter_triton.plan import Call

_ALIGNED = 16  # bytes, and what whole numbers are told to be multiples of
_SPAN = 1 << 40  # bytes between the beginnings of two tensors: more than any has
_META = torch.device("meta")
_WITH_PAYLOAD, _REGISTER_COUNT = 4, 0x2F  # EIFMT_SVAL, EIATTR_REGCOUNT
_OPTIONS = ("num_warps", "num_stages", "num_ctas", "maxnreg")


def prepare() -> None:
    """What every planner needs is imported by now, and what Triton's compiler keeps; torch answers for a device."""
    triton_key()
    # The first shape that torch computes in Python imports sympy.
    torch.empty_like(torch.empty((1, 1), device=_META))
    answer_for_the_device()
    torch.Tensor.is_cuda = property(lambda _tensor: True)  # type: ignore[assignment]


def serve(arguments: list[str]) -> None:
    """Serves until standard input ends."""
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    confine(Path.cwd(), Path(os.environ["TRITON_CACHE_DIR"]), programs=True)
    planner = _Planner(Path(arguments[0]))
    write_frame(replies, b"")
    while (frame := read_frame(sys.stdin.buffer)) is not None:
        write_frame(replies, planner.answer(pickle.loads(frame)).encode())


class _NotPlannedError(Exception):
    """What the module does cannot be told without running it."""


class _Planner:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._module: ModuleType | None = None
        self._seen: list[tuple[JITFunction[Any], tuple[int, ...], dict[str, object], dict[str, object]]] = []
        JITFunction.run = self._recording()
        Autotuner.run = _first_configuration

    def answer(self, call: Call) -> str:
        """The plan as JSON. A failure of the machine is no answer: it begins with `MACHINE`."""
        self._seen = []
        try:
            with _OnDevice():
                self._run(call)
            return json.dumps(self._plan(call.device))
        except Exception as error:  # noqa: BLE001 - whatever the module or the compiler raises is the reason
            if failed := exhaustion(error):
                return f"{MACHINE}{failed.message}"
            return json.dumps({"because": f"{type(error).__name__}: {error}"})

    def _run(self, call: Call) -> None:
        self._module = self._module or load(self._path)
        function = getattr(self._module, call.function)
        if isinstance(function, type):
            raise _NotPlannedError("it answers by a class")
        arguments = [_argument(value) for value in call.job.arguments]
        if not call.launch:
            function(*arguments)
            return
        job = call.job
        function(*arguments, grid=job.grid, block=job.block, shared_bytes=job.shared_bytes)

    def _recording(self) -> Callable[..., None]:
        def run(kernel: JITFunction[Any], *given: object, grid: object, warmup: bool = False, **named: object) -> None:
            signature = inspect.signature(kernel.fn)
            options = {name: named[name] for name in _OPTIONS if name in named}
            passed = {name: value for name, value in named.items() if name in signature.parameters}
            bound = signature.bind(*given, **passed)
            bound.apply_defaults()
            extents = grid({**bound.arguments, **options}) if callable(grid) else grid
            extents = (extents,) if isinstance(extents, int) else tuple(cast("tuple[int, ...]", extents))
            if not warmup:
                self._seen.append((kernel, extents, dict(bound.arguments), options))

        return run

    def _plan(self, device: tuple[str, int | str, int]) -> dict[str, object]:
        programs: dict[str, int] = {}
        made: list[dict[str, object]] = []
        launches: list[dict[str, object]] = []
        storages = _Storages()
        for kernel, grid, arguments, options in self._seen:
            source, values = _specialised(kernel, arguments, storages)
            key = f"{id(kernel)} {source.signature} {source.constants} {source.attrs} {options}"
            if key not in programs:
                programs[key] = len(made)
                made.append(_compiled(source, device, options))
            extents = [*map(int, grid), 1, 1][:3]
            launches.append(
                {"kernel": kernel.fn.__name__, "grid": extents, "arguments": values, "program": programs[key]}
            )
        return {"launches": launches, "programs": made, "buffers": storages.bytes}


class _OnDevice(TorchFunctionMode):
    """Whatever asks for a device gets one whose tensors have no elements."""

    def __torch_function__(
        self,
        func: Callable[..., object],
        types: object,
        args: tuple[object, ...] = (),
        kwargs: Mapping[str, object] | None = None,
    ) -> object:
        named = dict(kwargs or {})
        if getattr(func, "__name__", "") == "to":
            args = tuple(_META if _is_device(a) else a for a in args)
        if getattr(func, "__name__", "") in ("cuda", "pin_memory", "record_stream"):
            return args[0]
        if named.get("device") is not None or _makes(func):
            named["device"] = _META
        return func(*args, **named)


def _is_device(value: object) -> bool:
    return isinstance(value, torch.device) or (isinstance(value, str) and value.split(":")[0] in ("cuda", "cpu"))


_FACTORIES = frozenset(
    (
        torch.empty,
        torch.zeros,
        torch.ones,
        torch.full,
        torch.tensor,
        torch.arange,
        torch.empty_strided,
        torch.scalar_tensor,
    )
)


def _makes(function: object) -> bool:
    return function in _FACTORIES


def _argument(value: object) -> object:
    if not isinstance(value, TensorValue):
        return getattr(value, "value", value)
    if value.null:
        return None
    dtype = TORCH_TYPES[value.dtype]
    if value.is_whole and value.count:
        # Sizes that host code reads.
        return torch.from_numpy(value.storage).view(dtype)
    return torch.empty(value.shape, dtype=dtype, device=_META)


def _first_configuration(tuner: Autotuner, *given: object, **options: object) -> object:
    """Of what would be tried on a device the first is planned."""
    chosen = tuner.configs[0]
    return tuner.fn.run(*given, **options, **chosen.all_kwargs())


def _specialised(
    kernel: JITFunction[Any], arguments: Mapping[str, object], storages: _Storages
) -> tuple[ASTSource, list[float]]:
    """What Triton compiles for a launch with `arguments`, and the values of the parameters that are left."""
    types: dict[str, str] = {}
    attributes: dict[tuple[int, ...], list[list[object]]] = {}
    values: list[float] = []
    for index, parameter in enumerate(inspect.signature(kernel.fn).parameters.values()):
        value = arguments[parameter.name]
        known = KernelParam(index, parameter, False, False)
        types[parameter.name], number = _type_of(known, value, storages)
        if types[parameter.name] == "constexpr":
            continue
        values.append(number)
        if types[parameter.name][0] in "*iu" and number % _ALIGNED == 0 and types[parameter.name] != "u1":
            attributes[index,] = [["tt.divisibility", _ALIGNED]]
    constants = {name: arguments[name] for name, type_ in types.items() if type_ == "constexpr"}
    return ASTSource(kernel, types, constants, attributes), values


def _type_of(parameter: KernelParam, value: object, storages: _Storages) -> tuple[str, float]:
    if parameter.is_constexpr or value is None:
        return "constexpr", 0
    if isinstance(value, torch.Tensor):
        return str(mangle_type(_Pointed(value.dtype))), storages.address(value)
    type_ = str(parameter.annotation_type or mangle_type(value, specialize=True))
    return type_, float(value) if isinstance(value, float) else int(cast("int", value))


class _Storages:
    """Where tensors would lie; `bytes` are how long each storage is, by its first address."""

    def __init__(self) -> None:
        self.bytes: dict[int, int] = {}
        self._bases: dict[int, int] = {}

    def address(self, tensor: torch.Tensor) -> int:
        """Of the tensor's first element. The launches that are planned keep their tensors, so none has another's."""
        storage = tensor.untyped_storage()
        base = self._bases.setdefault(storage._cdata, _SPAN * (len(self._bases) + 1))
        self.bytes[base] = storage.nbytes()
        return base + int(tensor.storage_offset()) * tensor.element_size()


class _Pointed:
    """What Triton asks of a tensor to tell its type."""

    def __init__(self, dtype: torch.dtype) -> None:
        self.dtype = dtype

    def data_ptr(self) -> int:
        return 0


def _compiled(source: ASTSource, device: tuple[str, int | str, int], options: dict[str, object]) -> dict[str, object]:
    kernel = triton.compile(source, target=GPUTarget(*device), options=options)
    cubin = kernel.asm.get("cubin", b"")
    return {
        "ptx": kernel.asm["ptx"],
        "warps": kernel.metadata.num_warps,
        "shared_bytes": kernel.metadata.shared,
        "registers": _registers(cubin),
    }


def _registers(cubin: bytes) -> int:
    """The registers of a thread, an attribute in the section `.nv.info` of a binary for NVIDIA; 0 where it is not."""
    at, size, count, names = *struct.unpack_from("<Q", cubin, 40), *struct.unpack_from("<HHH", cubin, 58)
    sections = [struct.unpack_from("<IIQQQQII", cubin, at + index * size) for index in range(count)]
    strings = sections[names][4]
    for name, _, _, _, begin, length, *_ in sections:
        if cubin[strings + name : cubin.index(b"\0", strings + name)] == b".nv.info":
            return _attribute(cubin[begin : begin + length])
    return 0


def _attribute(info: bytes) -> int:
    """The number behind `_REGISTER_COUNT` in a list of attributes: a form, a name, two bytes, or that many more."""
    place = 0
    while place + 4 <= len(info):
        form, name, short = struct.unpack_from("<BBH", info, place)
        if (form, name) == (_WITH_PAYLOAD, _REGISTER_COUNT):
            return int(struct.unpack_from("<II", info, place + 4)[1])
        place += 4 + (short if form == _WITH_PAYLOAD else 0)
    return 0

"""What launchers ask torch and Triton of the device, answered for the one that originals run on.

Honest launchers guard the device, ask for the current stream, and choose grids by multiprocessors. There is no device:
without these answers they would fail for what they are right to do.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from contextlib import nullcontext
from types import ModuleType, SimpleNamespace
from typing import Any

import torch
import triton
from triton import knobs
from triton.backends.compiler import GPUTarget
from triton.runtime import interpreter, jit
from triton.runtime.driver import driver
from triton.runtime.interpreter import InterpretedFunction

from porter_triton.emulated import MULTIPROCESSORS

_CAPABILITY, _LANES = (9, 0), 32
_SHARED_BYTES, _REGISTERS, _MEMORY_BYTES = 232448, 65536, 80 << 30
_CUDA = "12.8"
_STREAM = SimpleNamespace(cuda_stream=0, stream_id=0, device=torch.device("cuda", 0), synchronize=lambda: None)
_PROPERTIES = SimpleNamespace(
    name="NVIDIA H100 80GB HBM3", major=_CAPABILITY[0], minor=_CAPABILITY[1], total_memory=_MEMORY_BYTES,
    multi_processor_count=MULTIPROCESSORS, warp_size=_LANES, max_threads_per_multi_processor=2048,
    regs_per_multiprocessor=_REGISTERS, shared_memory_per_block=49152, shared_memory_per_block_optin=_SHARED_BYTES,
    shared_memory_per_multiprocessor=_SHARED_BYTES, gcnArchName="", L2_cache_size=50 << 20,
)  # fmt: skip
_OF_TRITON = {
    "max_shared_mem": _SHARED_BYTES, "max_num_regs": _REGISTERS, "multiprocessor_count": MULTIPROCESSORS,
    "warpSize": _LANES, "sm_clock_rate": 1_000_000, "mem_clock_rate": 1_000_000, "mem_bus_width": 5120,
}  # fmt: skip


class _Driver:
    """What modules ask of Triton's driver."""

    utils = SimpleNamespace(get_device_properties=lambda _device: dict(_OF_TRITON))

    def get_active_torch_device(self) -> torch.device:
        return torch.device("cuda", 0)

    def get_current_device(self) -> int:
        return 0

    def set_current_device(self, _device: int) -> None:
        return

    def get_current_stream(self, _device: int) -> int:
        return 0

    def get_current_target(self) -> GPUTarget:
        return GPUTarget("cuda", _CAPABILITY[0] * 10 + _CAPABILITY[1], _LANES)

    def get_device_interface(self) -> object:
        return torch.cuda


def answer_for_the_device() -> None:
    """From here on torch and Triton answer for one device, once for the process."""
    torch.cuda.device = _Guard  # type: ignore[misc,assignment]
    torch.cuda.device_of = _Guard  # type: ignore[misc,assignment]
    for name, answer in _ANSWERS.items():
        setattr(torch.cuda, name, answer)
    torch.version.cuda = _CUDA
    driver.set_active(_Driver())


def look_compiled() -> None:
    """From here on kernels look as on a device: what asks whether they are interpreted behaves as it does there.

    Where Triton itself asks in order to interpret, it is told so; gluon, which a launch imports, asks there and then.
    """
    gluon = importlib.import_module("triton.experimental.gluon._runtime")
    importlib.import_module("triton.experimental.gluon.language")
    gluon.GluonJITFunction.run = _refuse_gluon
    jit.knobs = _Interpreting(knobs)
    knobs.runtime.interpret = False
    for place in (triton, triton.runtime):
        place.JITFunction = Compiled
    interpreter.InterpretedFunction = Compiled
    for name in ("run", "rewrite", "__call__"):  # names of its own, which replacing would show
        setattr(Compiled, name, getattr(InterpretedFunction, name))


class NotInterpretedError(Exception):
    """A kernel is none that can be interpreted."""


def _refuse_gluon(*_: object, **__: object) -> object:
    raise NotInterpretedError("Triton's interpreter executes no kernels in gluon")


class Compiled(InterpretedFunction):  # type: ignore[misc]
    """A kernel that is interpreted, and says that it is not."""

    __class__ = property(lambda _: jit.JITFunction)

    def __getattr__(self, name: str) -> object:
        if name.startswith("_") or "fn" not in vars(self):
            raise AttributeError(name)
        return getattr(jit.JITFunction(self.fn), name)


Compiled.__name__ = Compiled.__qualname__ = jit.JITFunction.__name__
Compiled.__module__ = jit.JITFunction.__module__


class _InterpretingRuntime:
    interpret = True

    def __getattr__(self, name: str) -> object:
        return getattr(knobs.runtime, name)


class _Interpreting(ModuleType):
    """Triton's settings, as they are, but for interpreting."""

    def __init__(self, settings: ModuleType) -> None:
        super().__init__(settings.__name__)
        self.__settings = settings
        self.runtime = _InterpretingRuntime()

    def __getattr__(self, name: str) -> object:
        return getattr(self.__settings, name)


class _Guard(nullcontext[None]):
    """A context in which the only device is the current one."""

    def __init__(self, device: object = None) -> None:  # noqa: ARG002 - there is one
        super().__init__()


def _always(answer: object) -> Callable[..., Any]:
    return lambda *_, **__: answer


_ANSWERS: dict[str, Callable[..., Any]] = {
    "is_available": _always(True),
    "is_initialized": _always(True),
    "is_bf16_supported": _always(True),
    "device_count": _always(1),
    "current_device": _always(0),
    "set_device": _always(None),
    "current_stream": _always(_STREAM),
    "default_stream": _always(_STREAM),
    "synchronize": _always(None),
    "get_device_capability": _always(_CAPABILITY),
    "get_device_name": _always(_PROPERTIES.name),
    "get_device_properties": _always(_PROPERTIES),
    "mem_get_info": _always((_MEMORY_BYTES, _MEMORY_BYTES)),
}

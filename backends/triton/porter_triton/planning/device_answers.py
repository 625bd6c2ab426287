"""Answers what host code asks torch and Triton of the device, with the facts of a request.

Honest launchers guard the device, ask for the current stream, and choose grids by multiprocessors.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import torch
from triton.backends.compiler import GPUTarget
from triton.runtime.driver import driver

from porter_triton.planning.device_tensor import DEVICE
from porter_triton.planning.recorder import Recorder
from porter_triton.planning.streams import Event, Stream, Streams
from porter_triton.records import DeviceFacts

_LANES, _REGISTERS, _THREADS = 32, 65536, 2048
_SHARED_BYTES, _SHARED_STATIC_BYTES = 232448, 49152
_CLOCK_KHZ, _MEMORY_CLOCK_KHZ, _BUS_BITS = 1_980_000, 2_619_000, 5120
_OF_THE_DRIVER = 611 << 20  # bytes that no program gets
_CUDA = "13.0"


class DeviceAnswers:
    """Replaces what torch and Triton ask a driver, once for the process; `facts` may change between calls."""

    def __init__(self, recorder: Recorder, facts: DeviceFacts) -> None:
        self.facts = facts
        self._recorder = recorder
        self._streams = Streams(recorder)
        torch.version.cuda = _CUDA
        driver.set_active(_Driver(self))
        for name, answer in self._answers().items():
            setattr(
                torch.cuda, name, answer if isinstance(answer, type) else called_as(answer, getattr(torch.cuda, name))
            )

    @property
    def properties(self) -> _CudaDeviceProperties:
        """The properties that `torch.cuda.get_device_properties` returns."""
        facts = self.facts
        return _CudaDeviceProperties(
            name=facts.name, major=facts.capability[0], minor=facts.capability[1], total_memory=facts.memory_bytes,
            multi_processor_count=facts.multiprocessors, warp_size=_LANES, max_threads_per_multi_processor=_THREADS,
            regs_per_multiprocessor=_REGISTERS, shared_memory_per_block=_SHARED_STATIC_BYTES,
            shared_memory_per_block_optin=_SHARED_BYTES, shared_memory_per_multiprocessor=_SHARED_BYTES,
            gcnArchName=facts.name, L2_cache_size=facts.l2_bytes, is_integrated=0, is_multi_gpu_board=0, pci_bus_id=101,
            pci_device_id=0, pci_domain_id=0, uuid="5b7c1d90-64a2-4f0e-9d3b-0c2f8e6a7714",
            clock_rate=_CLOCK_KHZ, memory_clock_rate=_MEMORY_CLOCK_KHZ, memory_bus_width=_BUS_BITS,
            max_threads_per_block=1024,
        )  # fmt: skip

    @property
    def of_triton(self) -> dict[str, int]:
        """The properties that Triton's driver returns."""
        return {
            "max_shared_mem": _SHARED_BYTES, "max_num_regs": _REGISTERS, "warpSize": _LANES,
            "multiprocessor_count": self.facts.multiprocessors, "sm_clock_rate": _CLOCK_KHZ,
            "mem_clock_rate": _MEMORY_CLOCK_KHZ, "mem_bus_width": _BUS_BITS,
        }  # fmt: skip

    def _answers(self) -> dict[str, Callable[..., Any]]:
        def memory(*_: object) -> tuple[int, int]:
            return self.facts.memory_bytes - _OF_THE_DRIVER, self.facts.memory_bytes

        return {
            **{name: _always(True) for name in ("is_available", "is_initialized", "is_bf16_supported")},
            **{name: _always(None) for name in ("_lazy_init", "init", "set_device", "empty_cache")},
            **{name: _always(0) for name in ("current_device", "memory_allocated", "max_memory_allocated")},
            **dict.fromkeys(("device", "device_of"), _Guard),
            "device_count": _always(1), "mem_get_info": memory,
            "get_device_capability": lambda *_: self.facts.capability,
            "get_device_name": lambda *_: self.facts.name,
            "get_device_properties": lambda *_: self.properties,
            "get_arch_list": lambda: ["sm_{}{}".format(*self.facts.capability)],
            "is_current_stream_capturing": lambda: self._recorder.capturing,
            "Stream": Stream, "Event": Event, "stream": self._streams.within,
            "set_stream": self._streams.choose,
            "synchronize": self._streams.synchronise, "current_stream": self._streams.current,
            "default_stream": self._streams.main, "ExternalStream": self._streams.main,
        }  # fmt: skip


class _CudaDeviceProperties(SimpleNamespace):
    """As `torch.cuda` has them."""

    __module__ = "torch._C"


class _Driver:
    """Stands for Triton's driver, and answers what host code asks of it."""

    def __init__(self, answers: DeviceAnswers) -> None:
        self._answers = answers
        self.utils = SimpleNamespace(get_device_properties=lambda _device: dict(answers.of_triton))

    def get_active_torch_device(self) -> torch.device:
        return DEVICE

    def get_current_device(self) -> int:
        return 0

    def set_current_device(self, _device: int) -> None:
        return

    def get_current_stream(self, _device: int) -> int:
        return 0

    def get_current_target(self) -> GPUTarget:
        major, minor = self._answers.facts.capability
        return GPUTarget("cuda", major * 10 + minor, _LANES)

    def get_device_interface(self) -> object:
        return torch.cuda


_Driver.__name__ = _Driver.__qualname__ = "CudaDriver"
_Driver.__module__ = "triton.backends.nvidia.driver"


class _Guard(nullcontext[None]):
    """A context in which the only device is the current one."""

    def __init__(self, device: object = None) -> None:  # noqa: ARG002 - there is one
        super().__init__()


def called_as(answer: Callable[..., Any], original: object) -> Callable[..., Any]:
    """Returns `answer` under the name of the function that it replaces."""

    def answered(*given: Any, **named: Any) -> Any:
        return answer(*given, **named)

    for name in ("__module__", "__name__", "__qualname__", "__doc__"):
        setattr(answered, name, getattr(original, name, None))
    return answered


def _always(answer: object) -> Callable[..., Any]:
    return lambda *_, **__: answer

"""Tensors of the device that have a shape, a type and an address, and no contents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import torch

from porter.launch_plan.steps import TensorView
from porter.simt.job import FaultKind
from porter_triton.planning.recorder import Recorder, dtype_name
from porter_triton.requests import ADDRESS_BITS

if TYPE_CHECKING:
    from collections.abc import Callable

DEVICE = torch.device("cuda", 0)


def names_device(device: object) -> bool:
    """Returns True for what names the device in a call of torch."""
    if isinstance(device, torch.device):
        return device.type == "cuda"
    return (isinstance(device, str) and device.startswith("cuda")) or type(device) is int


class DeviceTensor(torch.Tensor):
    """A tensor in a buffer of the plan. `meta` has its geometry.

    `host` has its elements where they were made from sizes alone, `buffer` is made when a step needs it.
    """

    recorder: Recorder
    operators: Callable[..., object]
    meta: torch.Tensor
    host: torch.Tensor | None
    _buffer: int | None

    @staticmethod
    def __new__(
        cls: type[DeviceTensor], meta: torch.Tensor, buffer: int | None, host: torch.Tensor | None = None
    ) -> DeviceTensor:
        """A tensor with the geometry of `meta`, which says it is of the device."""
        made: DeviceTensor = torch.Tensor._make_wrapper_subclass(
            cls, meta.size(), strides=meta.stride(), storage_offset=meta.storage_offset(), dtype=meta.dtype,
            device=torch.device("meta"),
        )  # fmt: skip
        made.meta, made._buffer, made.host = meta, buffer, host
        return made

    __torch_function__ = torch._C._disabled_torch_function_impl  # type: ignore[assignment]

    @classmethod
    def __torch_dispatch__(  # type: ignore[override]
        cls, function: object, types: object, args: tuple[object, ...] = (), kwargs: dict[str, object] | None = None
    ) -> object:
        """One call of an operator."""
        del types
        return cls.operators(function, args, kwargs or {})

    @property
    def buffer(self) -> int:
        """The number of the buffer that it lies in."""
        if self._buffer is None:
            assert self.host is not None
            self._buffer = self.recorder.constant(self.host)
        return self._buffer

    @buffer.setter
    def buffer(self, number: int) -> None:
        self._buffer = number

    @property
    def view_of_buffer(self) -> TensorView:
        """It as steps name it."""
        return TensorView(
            self.buffer, dtype_name(self.dtype), tuple(map(int, self.shape)), tuple(map(int, self.stride())),
            int(self.storage_offset()),
        )  # fmt: skip

    @property
    def device(self) -> torch.device:  # type: ignore[override]
        """The device that everything is planned for."""
        return DEVICE

    is_cuda = property(lambda _: True)
    is_meta = is_cpu = property(lambda _: False)

    def get_device(self) -> int:
        """The number of the device."""
        return 0

    def data_ptr(self) -> int:
        """An address of its own, aligned as the device's allocations are."""
        return ((self.buffer + 1) << ADDRESS_BITS) + int(self.storage_offset()) * self.element_size()

    def to(self, *args: Any, **kwargs: Any) -> Any:
        """As torch has it; the device is where it is."""
        given = list(args)
        if given and names_device(given[0]):
            given.pop(0)
        if given and isinstance(given[0], torch.Tensor):
            given = [given[0].dtype, *given[1:]]
        if names_device(kwargs.get("device")):
            kwargs.pop("device")
        kwargs.pop("non_blocking", None)
        if not given and not any(value for name, value in kwargs.items() if name != "copy"):
            return self.clone() if kwargs.get("copy") else self
        return torch.Tensor.to(self, *given, **kwargs)

    def cuda(self, *_: Any, **__: Any) -> Any:
        """It is there already."""
        return self

    def tolist(self) -> Any:
        """Its numbers, which the host reads."""
        return self.cpu().tolist()

    def is_pinned(self, *_: Any) -> bool:
        """It is no memory of the host."""
        return False

    def record_stream(self, *_: Any) -> None:
        """Memory of a plan lives as long as the plan."""

    def __deepcopy__(self, _memo: object) -> Any:
        return self.clone()

    def __repr__(self, **_: Any) -> str:  # type: ignore[override]
        return f"tensor(..., device='{DEVICE}', size={tuple(self.shape)}, dtype={self.dtype})"

    def numpy(self, *_: Any, **__: Any) -> NoReturn:
        """Raises what torch raises."""
        raise TypeError(
            "can't convert cuda:0 device type tensor to numpy. "
            "Use Tensor.cpu() to copy the tensor to host memory first."
        )

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        self.numpy()

    def __dlpack__(self, *_: Any, **__: Any) -> NoReturn:
        self._leads_out("DLPack")

    def untyped_storage(self) -> NoReturn:
        """There is none."""
        self._leads_out("untyped_storage")

    def storage(self) -> NoReturn:
        """There is none."""
        self._leads_out("storage")

    def pin_memory(self, *_: Any) -> NoReturn:
        """It is no memory of the host."""
        raise RuntimeError("cannot pin 'torch.cuda.FloatTensor' only dense CPU tensors can be pinned")

    def __reduce_ex__(self, _protocol: object) -> NoReturn:
        self._leads_out("pickling")

    @property
    def __cuda_array_interface__(self) -> Any:
        self._leads_out("__cuda_array_interface__")

    def _leads_out(self, what: str) -> NoReturn:
        self.recorder.refuse(
            FaultKind.REACHED, f"{what} of a tensor leads to its raw memory, which a plan has no step for"
        )
        raise AssertionError

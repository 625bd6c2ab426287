"""Tensors of the device that have a shape, a type and an address, and no contents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn, cast

import torch

from porter.execution.job import FaultKind
from porter.launch_plan.steps import TensorView
from porter_triton.planning.recorder import Recorder, dtype_name

if TYPE_CHECKING:
    from collections.abc import Callable

DEVICE = torch.device("cuda", 0)
# Of addresses, which are aligned and far from each other as a device's allocations may be.
_FIRST_ADDRESS, _ADDRESS_BITS, _SPREAD = 0x7E_0000_0000_00, 33, 0x9E37_79B9


def names_device(device: object) -> bool:
    """Returns True for what names the device in a call of torch."""
    if isinstance(device, torch.device):
        return device.type == "cuda"
    return (isinstance(device, str) and device.startswith("cuda")) or type(device) is int


@dataclass(slots=True)
class Contents:
    """The facts that the plan has of a tensor: its geometry, its buffer, and its elements where sizes alone tell them.

    `number` is the buffer's, which is made when a step needs it.
    """

    meta: torch.Tensor
    number: int | None
    host: torch.Tensor | None


class _Plan:
    """The recorder, and what carries out operators, set once for the process."""

    recorder: Recorder
    operators: Callable[..., object]


# No source can spell this as an attribute: host code cannot ask whether a tensor has it.
_CONTENTS = "contents in the plan"


def plan_with(recorder: Recorder, operators: Callable[..., object]) -> None:
    """Plans tensors of the device with these from here on."""
    _Plan.recorder, _Plan.operators = recorder, operators


def contents_of(tensor: DeviceTensor) -> Contents:
    """Returns what the plan knows of a tensor."""
    return cast("Contents", tensor.__dict__[_CONTENTS])


def buffer_of(tensor: DeviceTensor) -> int:
    """Returns the number of the buffer that a tensor lies in."""
    found = contents_of(tensor)
    if found.number is None:
        assert found.host is not None
        found.number = _Plan.recorder.constant(found.host)
    return found.number


def view_of(tensor: DeviceTensor) -> TensorView:
    """Returns a tensor as steps name it."""
    return TensorView(
        buffer_of(tensor), dtype_name(tensor.dtype), tuple(map(int, tensor.shape)), tuple(map(int, tensor.stride())),
        int(tensor.storage_offset()),
    )  # fmt: skip


def is_plain(tensor: torch.Tensor) -> bool:
    """Returns True for a tensor of the device that has nothing beside what torch gives it."""
    return type(tensor) is DeviceTensor and vars(tensor).keys() <= {_CONTENTS}


def _leads_out(what: str) -> NoReturn:
    _Plan.recorder.refuse(
        FaultKind.REACHED, f"{what} of a tensor leads to its raw memory, which a plan has no step for"
    )
    raise AssertionError


class DeviceTensor(torch.Tensor):
    """A tensor in a buffer of the plan. To host code it is one of torch's: it has no attribute of its own."""

    @staticmethod
    def __new__(
        cls: type[DeviceTensor], meta: torch.Tensor, buffer: int | None, host: torch.Tensor | None = None
    ) -> DeviceTensor:
        """Returns a tensor with the geometry of `meta`, which says it is of the device."""
        made: DeviceTensor = torch.Tensor._make_wrapper_subclass(
            cls, meta.size(), strides=meta.stride(), storage_offset=meta.storage_offset(), dtype=meta.dtype,
            device=torch.device("meta"),
        )  # fmt: skip
        made.__dict__[_CONTENTS] = Contents(meta, buffer, host)
        return made

    __torch_function__ = torch._C._disabled_torch_function_impl  # type: ignore[assignment]

    @classmethod
    def __torch_dispatch__(  # type: ignore[override]
        cls, function: object, types: object, args: tuple[object, ...] = (), kwargs: dict[str, object] | None = None
    ) -> object:
        """Returns one call of an operator."""
        del types
        return _Plan.operators(function, args, kwargs or {})

    @property
    def device(self) -> torch.device:  # type: ignore[override]
        """The device that everything is planned for."""
        return DEVICE

    is_cuda = property(lambda _: True)
    is_meta = is_cpu = property(lambda _: False)

    def get_device(self) -> int:
        """Returns the number of the device."""
        return 0

    def data_ptr(self) -> int:
        """Returns an address of its own, aligned as the device's allocations are."""
        number = buffer_of(self) + 1
        base = _FIRST_ADDRESS + (number << _ADDRESS_BITS) + number * _SPREAD % (1 << _ADDRESS_BITS - 1) // 512 * 512
        return base + int(self.storage_offset()) * self.element_size()

    def to(self, *args: Any, **kwargs: Any) -> Any:
        """Does what torch's `to` does; the device stays the same."""
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
        """Returns the tensor, which is on the device already."""
        return self

    def tolist(self) -> Any:
        """Returns its numbers, which the host reads."""
        return self.cpu().tolist()

    def is_pinned(self, *_: Any) -> bool:
        """Returns False: the tensor is not host memory."""
        return False

    def record_stream(self, *_: Any) -> None:
        """Does nothing: memory of a plan lives as long as the plan."""

    def __deepcopy__(self, _memo: object) -> Any:
        return self.clone()

    def __repr__(self, **_: Any) -> str:  # type: ignore[override]
        """Prints as torch does, which asks the device for the numbers."""
        return repr(self.cpu()).removesuffix(")") + f", device='{DEVICE}')"

    def numpy(self, *_: Any, **__: Any) -> NoReturn:
        """Raises what torch raises."""
        raise TypeError(
            "can't convert cuda:0 device type tensor to numpy. "
            "Use Tensor.cpu() to copy the tensor to host memory first."
        )

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        self.numpy()

    def __dlpack__(self, *_: Any, **__: Any) -> NoReturn:
        _leads_out("DLPack")

    def untyped_storage(self) -> NoReturn:
        """Refuses: there is no storage."""
        _leads_out("untyped_storage")

    def storage(self) -> NoReturn:
        """Refuses: there is no storage."""
        _leads_out("storage")

    def pin_memory(self, *_: Any) -> NoReturn:
        """Refuses: the tensor is not host memory."""
        raise RuntimeError("cannot pin 'torch.cuda.FloatTensor' only dense CPU tensors can be pinned")

    def __reduce_ex__(self, _protocol: object) -> NoReturn:
        _leads_out("pickling")

    @property
    def __cuda_array_interface__(self) -> Any:
        _leads_out("__cuda_array_interface__")


# What host code may ask of it, `type(x)` apart, it answers as a tensor of torch's.
DeviceTensor.__name__ = DeviceTensor.__qualname__ = torch.Tensor.__name__
DeviceTensor.__module__ = torch.Tensor.__module__

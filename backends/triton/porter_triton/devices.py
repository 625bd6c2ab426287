"""Which tensors are the device's and which the host's, although here all lie in host memory.

A launcher that hands a kernel a tensor of the host, adds one to a tensor of the device, or asks numpy for what lies on
the device runs where there is only one memory, and nowhere else. So every call of torch is followed: what is given to
the module is the device's, what is made says where, and what comes of it lies where that did.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
from torch._library.custom_ops import OPDEFS
from torch.overrides import TorchFunctionMode

from porter_triton.judging.flow import Flow
from porter_triton.tensors import tensors_in

_DEVICE_TYPE: Callable[..., object] = torch.device
_DEVICE, _HOST = torch.device("cuda", 0), torch.device("cpu")
_MARK = "_porter_on_device"
# What a tensor of one side does with one of the other: copying, and being indexed by it.
_MEETING = frozenset(("copy_", "__getitem__", "__setitem__", "index_put_", "set_"))
_ONLY_ON_HOST = frozenset(("numpy", "__array__", "__dlpack__"))
_MOVES = frozenset(("to", "cpu", "cuda"))


def put_on_device(tensor: torch.Tensor) -> torch.Tensor:
    """`tensor`, which from here on is the device's."""
    setattr(tensor, _MARK, True)
    return tensor


def on_device(tensor: torch.Tensor) -> bool:
    """Whether `tensor` is the device's."""
    return getattr(tensor, _MARK, False)


def is_marked_only(tensor: torch.Tensor) -> bool:
    """Whether `tensor` has no attributes but where it lies."""
    return vars(tensor).keys() <= {_MARK}


class TwoMemories(TorchFunctionMode):
    """While it is entered, torch keeps host and device apart as if there were two; raises what torch would.

    `flow` is told of each call.
    """

    def __init__(self, flow: Flow) -> None:
        super().__init__()
        self._flow = flow

    def __torch_function__(
        self,
        function: Callable[..., object],
        _types: object,
        args: tuple[object, ...] = (),
        kwargs: Mapping[str, object] | None = None,
    ) -> object:
        """One call of torch."""
        if function is _DEVICE_TYPE:
            return function(*args, **(kwargs or {}))
        if (own := _own_operator(function)) is not None:
            with self:  # what it is made of is followed, too
                return own(*args, **(kwargs or {}))
        name, named = _name(function), dict(kwargs or {})
        given = list(tensors_in((args, named)))
        if name in _ASKED and given:
            return _ASKED[name](on_device(given[0]))
        if name in _ONLY_ON_HOST and given and on_device(given[0]):
            raise TypeError("can't convert a tensor of the device to numpy; copy it to the host first: Tensor.cpu()")
        self._flow.asked(name, given)
        result = self._answer(function, name, given, args, named)
        self._flow.answered(name, given, tensors_in(result))
        return result

    def _answer(
        self,
        function: Callable[..., object],
        name: str,
        given: list[torch.Tensor],
        args: tuple[object, ...],
        named: Mapping[str, object],
    ) -> object:
        target = _target(name, args, named)
        if name in _MOVES:
            kept = [function(*map(_here, args), **_here_named(named))] if name == "to" else given
            return _moved(next(tensors_in(kept)), given[0], target)
        _meet(name, given)
        result = function(*map(_here, args), **_here_named(named))
        device = any(map(on_device, given)) if target is None else target.type != "cpu"
        for tensor in tensors_in(result):
            if device and not any(tensor is other for other in given):  # what is changed in place stays where it is
                put_on_device(tensor)
        return result


_ASKED: Mapping[str, Callable[[bool], object]] = {
    "device": lambda device: _DEVICE if device else _HOST,
    "is_cuda": lambda device: device,
    "is_cpu": lambda device: not device,
    "get_device": lambda device: 0 if device else -1,
}


def _own_operator(function: Callable[..., object]) -> Callable[..., object] | None:
    """What the module has registered as an operator of its own, if `function` is one."""
    operator = function.default if isinstance(function, torch._ops.OpOverloadPacket) else function
    if not isinstance(operator, torch._ops.OpOverload) or operator._schema.name not in OPDEFS:
        return None
    made_of: Callable[..., object] = OPDEFS[operator._schema.name]._init_fn
    return made_of


def _name(function: Callable[..., object]) -> str:
    """The name of a function or method, or of the property whose getter it is."""
    name = getattr(function, "__name__", "")
    return getattr(getattr(function, "__self__", None), "__name__", "") if name == "__get__" else name


def _target(name: str, args: tuple[object, ...], named: Mapping[str, object]) -> torch.device | None:
    """The device that a call asks for; None where it says nothing."""
    if name in ("cpu", "cuda"):
        return torch.device(name)
    asked = named.get("device")
    if name == "to":
        asked = asked or next((a for a in args[1:] if isinstance(a, (str, torch.device, torch.Tensor))), None)
    if isinstance(asked, torch.Tensor):
        return _DEVICE if on_device(asked) else _HOST
    return torch.device(asked) if isinstance(asked, (str, int, torch.device)) else None


def _moved(result: torch.Tensor, given: torch.Tensor, target: torch.device | None) -> torch.Tensor:
    """What moving `given` gives: a copy on the other side, itself where it is already there."""
    device = on_device(given) if target is None else target.type != "cpu"
    if device != on_device(given) and result is given:
        result = result.clone()
    return put_on_device(result) if device else result


def _meet(name: str, given: list[torch.Tensor]) -> None:
    """Numbers of the host may meet tensors of the device, its tensors may not."""
    sides = {on_device(tensor) for tensor in given if tensor.dim() or on_device(tensor)}
    if len(sides) > 1 and name not in _MEETING:
        raise RuntimeError("Expected all tensors to be on the same device, but found two devices, cuda:0 and cpu!")


def _here(value: object) -> object:
    """An argument with the only device there is instead of the one it names."""
    return _HOST if isinstance(value, torch.device) or (isinstance(value, str) and value.startswith("cuda")) else value


def _here_named(named: Mapping[str, object]) -> dict[str, object]:
    return {name: _here(value) for name, value in named.items()}

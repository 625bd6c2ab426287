"""Contexts in which a candidate's code runs: operators are recorded, also those that move tensors of the host."""

from __future__ import annotations

from typing import Any, Self

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from porter_triton.planning.device_tensor import DeviceTensor, names_device
from porter_triton.planning.operators import Operators, is_drawn

_TO_NUMBERS = frozenset(("tolist", "numpy", "__array__"))  # which no operator is called for
_FROM_NUMBERS = frozenset(("tensor", "as_tensor", "asarray"))


class _Dispatched(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Hands each operator on."""

    def __init__(self, operators: Operators) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._operators = operators

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Returns False: nothing is compiled here, and torch's guard would stand between each operator and its step."""
        return False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        del types
        return self._operators(func, args, kwargs or {})


class _Redirected(TorchFunctionMode):
    """Makes tensors of the device where torch would need one to make them: from numbers, and from the host's."""

    def __init__(self, operators: Operators) -> None:
        super().__init__()
        self._operators = operators

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        del types
        named, name = dict(kwargs or {}), getattr(func, "__name__", "")
        if name in _FROM_NUMBERS and names_device(named.get("device")):
            named.pop("device")
            made = func(*args, **named)
            return made if isinstance(made, DeviceTensor) else self._operators.from_host(made)
        if name in _TO_NUMBERS and args and is_drawn(args[0]):
            self._operators.refuse_chance()
        of_host = bool(args) and isinstance(args[0], torch.Tensor) and not isinstance(args[0], DeviceTensor)
        if of_host and name in ("to", "cuda") and self._goes_there(name, args, named):
            return self._moved(name, args, named)
        return func(*args, **named)

    def _goes_there(self, name: str, args: Any, named: dict[str, Any]) -> bool:
        other = any(isinstance(a, DeviceTensor) for a in (*args[1:], named.get("other")))
        return name == "cuda" or other or names_device(named.get("device")) or any(map(_is_place, args[1:]))

    def _moved(self, name: str, args: Any, named: dict[str, Any]) -> DeviceTensor:
        value = args[0]
        dtypes = [a for a in (*args[1:], named.get("dtype")) if isinstance(a, torch.dtype)]
        dtypes += [a.dtype for a in (*args[1:], named.get("other")) if isinstance(a, DeviceTensor)]
        if name == "to" and dtypes:
            value = value.to(dtypes[0])
        return self._operators.from_host(value)


def _is_place(value: object) -> bool:
    return isinstance(value, (str, torch.device)) and names_device(value)


class Planned:
    """A context in which both hold."""

    def __init__(self, operators: Operators) -> None:
        self._modes = (_Dispatched(operators), _Redirected(operators))

    def __enter__(self) -> Self:
        for mode in self._modes:
            mode.__enter__()  # type: ignore[no-untyped-call]
        return self

    def __exit__(self, *error: Any) -> None:
        for mode in reversed(self._modes):
            mode.__exit__(*error)  # type: ignore[no-untyped-call]

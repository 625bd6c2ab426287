"""The types of things as host code sees them: a tensor of a plan is one of torch's."""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from typing import Any

import torch

from porter_triton.planning.device_tensor import DeviceTensor


class _Asked(type):
    """Answers calls of `type`: gives the type of one thing, and tells whether something is a type."""

    def __call__(cls, *given: Any, **named: Any) -> Any:
        if len(given) != 1 or named:
            return type(*given, **named)
        found = type(given[0])
        return {DeviceTensor: torch.Tensor, type: Type, _Asked: Type}.get(found, found)

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, type)

    def __subclasscheck__(cls, value: type) -> bool:
        return issubclass(value, type)

    def __getitem__(cls, item: Any) -> Any:
        return type[item]


class Type(type, metaclass=_Asked):
    """Python's `type`, to which a tensor of a plan is a `torch.Tensor`."""


def builtins_seen() -> Mapping[str, object]:
    """Returns Python's builtins as host code has them."""
    return {**vars(builtins), "type": Type}

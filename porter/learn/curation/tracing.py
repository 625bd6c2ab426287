"""A module's computation, written down as it happens: one entry for each ATen operator that is called.

This is cheaper than `torch.export` by far, and modules whose code asks tensors for values have such a trace, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from porter.learn.curation.records import Operation

_ATTENTION = "_scaled_dot_product_"  # one operator for each device and library that has it


class Tracing(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """While it is entered, operators are written down, with what they read and how many bytes they move."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.operations: list[Operation] = []
        self.bytes_moved = 0
        self.is_random = False
        self._makers: dict[int, int] = {}
        self._held: list[torch.Tensor] = []  # so that no other tensor is given the identity of one of these

    def __torch_dispatch__(
        self,
        func: torch._ops.OpOverload,
        types: object,
        args: tuple[object, ...] = (),
        kwargs: Mapping[str, object] | None = None,
    ) -> object:
        """One call of an operator."""
        named = dict(kwargs or {})
        if func.namespace == "prim":  # questions for a device, that tensors without contents ask
            return func(*args, **named)
        given = list(_tensors([*args, *named.values()]))
        results = func(*args, **named)
        made = list(_tensors([results]))
        is_view = _is_view(func)
        if not is_view:
            self.bytes_moved += sum(tensor.numel() * tensor.element_size() for tensor in (*given, *made))
        self.is_random = self.is_random or torch.Tag.nondeterministic_seeded in func.tags
        self.operations.append(Operation(_name(func), tuple(self._makers.get(id(one), -1) for one in given), is_view))
        for tensor in made:
            self._makers[id(tensor)] = len(self.operations) - 1
            self._held.append(tensor)
        return results


def _name(func: torch._ops.OpOverload) -> str:
    name = str(func.overloadpacket).removeprefix("aten.")
    return "scaled_dot_product_attention" if name.startswith(_ATTENTION) else name


def _is_view(func: torch._ops.OpOverload) -> bool:
    """Returns whether its result is another look at what it was given."""
    returned = [one.alias_info for one in func._schema.returns]
    return bool(returned) and all(alias is not None and not alias.is_write for alias in returned)


def _tensors(values: object) -> Iterator[torch.Tensor]:
    if isinstance(values, torch.Tensor):
        yield values
    elif isinstance(values, (list, tuple)):
        for value in values:
            yield from _tensors(value)
    elif isinstance(values, Mapping):
        for value in values.values():
            yield from _tensors(value)


def tensors(values: object) -> list[torch.Tensor]:
    """Returns all tensors in lists, tuples and mappings, in order."""
    return list(_tensors(values))

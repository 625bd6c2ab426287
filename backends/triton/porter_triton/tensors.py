"""Which tensors are in what is given or returned, and which memory is theirs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import torch
from triton.runtime.jit import TensorWrapper
from triton.tools.tensor_descriptor import TensorDescriptor

from porter_triton.watch import Region


def tensors_in(value: object) -> Iterator[torch.Tensor]:
    """The tensors in arguments or results, however deep they lie: also those a kernel is given descriptors of."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from tensors_in(item)
    elif isinstance(value, dict):
        yield from tensors_in(list(value.values()))
    elif isinstance(value, (TensorDescriptor, TensorWrapper)):
        yield from tensors_in(value.base)


def given_to_kernel(arguments: Mapping[str, object]) -> Iterator[tuple[str, torch.Tensor]]:
    """The tensors that a launch with `arguments` is given, with the names of the parameters."""
    for name, value in arguments.items():
        for tensor in tensors_in(value):
            yield name, tensor


def place_of(tensor: torch.Tensor) -> int:
    """The address of the allocation that `tensor` lies in."""
    return tensor.untyped_storage().data_ptr()


def regions_of(arguments: Mapping[str, object], holds_floats: Callable[[int], bool]) -> Iterator[Region]:
    """The allocations that a launch with `arguments` may touch; `holds_floats` knows what is at a place."""
    seen: set[int] = set()
    for name, tensor in given_to_kernel(arguments):
        start, size = place_of(tensor), tensor.untyped_storage().nbytes()
        if size and start not in seen:
            seen.add(start)
            floats = are_floats(tensor) or holds_floats(start)
            yield Region.of(name, start, start + size, tensor.element_size(), floats=floats)


def are_floats(tensor: torch.Tensor) -> bool:
    """Whether its elements are floats, or pairs of them."""
    return tensor.is_floating_point() or tensor.is_complex()

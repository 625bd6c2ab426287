"""Whether a launch only copies what an operator of the library made.

Equal bytes may be chance: a ReLU of positive numbers leaves them as they are. So where they are equal the launch is run
once more on noise in their place, and everything is put back. What follows noise, too, is a copy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from porter_triton.judging.flow import Flow
from porter_triton.tensors import given_to_kernel, place_of
from porter_triton.watch import Region

_LEAST = 2  # elements: one number may be equal by chance of any kind


class Probe:
    """What a launch with `arguments` is about to read of what the library made."""

    def __init__(self, flow: Flow, arguments: Mapping[str, object]) -> None:
        tensors = [tensor for _, tensor in given_to_kernel(arguments) if tensor.numel() >= _LEAST]
        self._all = {place_of(tensor): tensor for tensor in tensors}
        self._made = [place for place in self._all if flow.is_made_by_library(place)]
        self._before = {place: _memory(tensor).copy() for place, tensor in self._all.items()} if self._made else {}

    def copied(self, touched: Sequence[Region], again: Callable[[], None]) -> Mapping[int, int]:
        """For the place of what is a mere copy, the place of what it copies."""
        pairs = [pair for pair in self._pairs(touched) if self._equal(*pair)]
        if not pairs:
            return {}
        after = {place: _memory(tensor).copy() for place, tensor in self._all.items()}
        self._put(self._before)
        for source in {source for source, _ in pairs}:
            _fill_with_noise(self._all[source])
        again()
        found = {target: source for source, target in pairs if self._equal(source, target)}
        self._put(after)
        return found

    def _pairs(self, touched: Sequence[Region]) -> Iterator[tuple[int, int]]:
        """What may be copied, and where to."""
        for source in (region for region in touched if region.start in self._made and region.was_read):
            for target in (region for region in touched if region.was_written and region is not source):
                if target.start in self._all:
                    yield source.start, target.start

    def _equal(self, source: int, target: int) -> bool:
        return np.array_equal(_memory(self._all[source]), _memory(self._all[target]))

    def _put(self, contents: Mapping[int, NDArray[np.uint8]]) -> None:
        for place, content in contents.items():
            _memory(self._all[place])[:] = content


def _memory(tensor: torch.Tensor) -> NDArray[np.uint8]:
    """All bytes of the allocation that `tensor` lies in."""
    whole = torch.empty(0, dtype=torch.uint8).set_(tensor.untyped_storage())
    return np.asarray(whole.numpy())


def _fill_with_noise(tensor: torch.Tensor) -> None:
    """New numbers of both signs, from a stream that is none of the module's."""
    memory = _memory(tensor)
    chance = np.random.default_rng(memory.size)
    count = memory.size // tensor.element_size()
    numbers = torch.from_numpy(chance.integers(-99, 100, count)).to(tensor.dtype)
    memory[: count * tensor.element_size()] = numbers.view(torch.uint8).numpy()

"""The numbers that launches and operators are given, beside tensors: sizes and constants, or what the host computed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np
import torch
import triton.language as tl

_Key = tuple[object, ...]
# What memory is filled with.
_FILLINGS = (0, 1, -1, float("inf"), float("-inf"))


class Numbers:
    """Follows one job after the other.

    What is made of shapes is the same whenever shapes are; what differs then is made of the numbers in tensors.
    """

    def __init__(self) -> None:
        self._before: dict[_Key, tuple[object, ...]] = {}
        self._given = frozenset[object]()
        self._job: _Key = ()
        self._launches = 0

    def begin(self, given: Iterable[object]) -> None:
        """A job starts, with the arguments `given`."""
        values = tuple(given)
        self._given = frozenset(_numbers_in(values))
        self._job = tuple(tuple(v.shape) if isinstance(v, torch.Tensor) else v for v in values)
        self._launches = 0

    def are_new(self, arguments: Mapping[str, object]) -> bool:
        """Whether the next launch, with `arguments`, is given floats that the job was not, or others than before."""
        self._launches += 1
        now = tuple(_numbers_in(tuple(arguments.values())))
        before = self._before.setdefault((self._job, self._launches), now)
        return repr(before) != repr(now) or any(isinstance(n, float) and n not in self._given for n in now)

    def is_made(self, value: object) -> bool:
        """Whether `value` is a number that the job was not given."""
        return isinstance(value, (int, float)) and value not in self._given and value not in _FILLINGS


def _numbers_in(value: object) -> Iterator[object]:
    if isinstance(value, (tuple, list)):
        for item in value:
            yield from _numbers_in(item)
    elif isinstance(value, tl.constexpr):
        yield from _numbers_in(value.value)
    elif isinstance(value, (bool, int, float, complex)):
        yield value
    elif isinstance(value, np.generic):
        yield value.item()

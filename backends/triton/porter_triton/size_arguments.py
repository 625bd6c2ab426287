"""Whole numbers that kernels take, and which sizes of the call's tensors they have always been."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from porter.execution.job import Job, ScalarValue, TensorValue

_ENOUGH = 3  # different values: a number that follows a size so often does so by no chance


@dataclass
class SizeArgument:
    """A number that kernels take: the `sizes` that it was in every call so far, and the `values` it had there."""

    sizes: frozenset[str]
    values: set[int] = field(default_factory=set)

    def note(self, value: int, sizes: Mapping[str, int]) -> None:
        """Keeps in mind that it was `value` in a call of these `sizes`."""
        self.values.add(value)
        self.sizes &= {name for name, size in sizes.items() if size == value}

    def broken(self, value: int, sizes: Mapping[str, int]) -> str:
        """Returns which size it has always been and is not as `value`; empty where it still is one, or never was."""
        if len(self.values) < _ENOUGH or not self.sizes or any(sizes.get(name) == value for name in self.sizes):
            return ""
        return min(self.sizes)


def sizes_of(job: Job) -> dict[str, int]:
    """Returns the extents and the numbers of elements of a call's tensors, and the whole numbers it is given."""
    found: dict[str, int] = {}
    for number, value in enumerate(job.arguments):
        if isinstance(value, TensorValue):
            found |= {f"extent {axis} of argument {number}": extent for axis, extent in enumerate(value.shape)}
            found[f"the number of elements of argument {number}"] = value.count
        elif isinstance(value, ScalarValue) and type(value.value) is int:
            found[f"argument {number}"] = value.value
    return found

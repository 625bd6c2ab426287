"""What a launch that is not executed does to its arguments, by what those of its kernel before it did.

A rehearsal runs the host code of a module at sizes that nobody interprets: which operators it calls there depends on
shapes, hardly ever on numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np
import torch

from porter.simt.job import Job, TensorValue
from porter.worker.torch_types import TORCH_TYPES
from porter_triton.devices import put_on_device
from porter_triton.tensors import given_to_kernel, place_of
from porter_triton.watch import Region

_ONCE, _NEVER = np.ones(1, np.int64), np.zeros(1, np.int64)


class Habits:
    """Learns of every launch. A kernel reads whatever it is given, and writes it, too.

    What it has always overwritten it does not read, what it has never written it only reads.
    """

    def __init__(self) -> None:
        self._overwritten: dict[tuple[str, str], bool] = {}
        self._written: dict[tuple[str, str], bool] = {}
        self._floats: dict[tuple[str, str], bool] = {}
        self._executed = set[tuple[str, str]]()

    def learn(self, kernel: str, arguments: Mapping[str, object], touched: Iterable[Region]) -> None:
        """A launch of `kernel` with `arguments` has ended."""
        self._executed.add((kernel, _switches(arguments)))
        for region in touched:
            key = kernel, region.name
            self._overwritten[key] = self._overwritten.get(key, True) and region.was_overwritten
            self._written[key] = self._written.get(key, False) or region.was_written
            self._floats[key] = self._floats.get(key, False) or region.floats

    def unknown(self, kernel: str, arguments: Mapping[str, object]) -> str:
        """What a launch executes that none did before: a kernel, or one with other switches; empty for nothing."""
        switches = _switches(arguments)
        if (kernel, switches) in self._executed:
            return ""
        known = any(kernel == executed for executed, _ in self._executed)
        return f"it launches {kernel}{f' with {switches}' if known else ''}, which no workload did"

    def expected(self, kernel: str, arguments: Mapping[str, object]) -> Iterator[Region]:
        """What a launch with `arguments` touches."""
        for name, tensor in given_to_kernel(arguments):
            if tensor.numel():
                start = place_of(tensor)
                key = kernel, name
                reads = _NEVER if self._overwritten.get(key, False) else _ONCE
                writes = _ONCE if self._written.get(key, True) else _NEVER
                yield Region(name, start, start + 1, 1, reads, writes, self._floats.get(key, False))


def _switches(arguments: Mapping[str, object]) -> str:
    """The arguments that choose what a kernel does, rather than say how large something is."""
    return ", ".join(f"{name}={value}" for name, value in sorted(arguments.items()) if isinstance(value, (bool, str)))


def rehearsed(job: Job) -> list[object]:
    """What a rehearsal calls the module with: zeros where not all elements are given, which take no memory."""
    return [_tensor(value) if isinstance(value, TensorValue) else value.value for value in job.arguments]


def _tensor(value: TensorValue) -> torch.Tensor | None:
    if value.null:
        return None
    whole = value.storage.reshape(-1) if value.is_whole else np.zeros(value.count, value.dtype.storage)
    return put_on_device(torch.from_numpy(whole).view(TORCH_TYPES[value.dtype]).reshape(value.shape))

"""Carries out plans on the device, in the process that holds it: it only has the text of the candidate's kernels.

The process imports this by name (`porter.native.requests.PlanEntry`). Everything is launched on the current stream, in
the order of the plan: work that a candidate puts on several streams runs one after the other.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

from porter.contract.model.dtype import DType
from porter.launch_plan import steps as plan
from porter.launch_plan.steps import Number, Step, TensorView
from porter.native.requests import PlanEntry
from porter.worker.torch_types import TORCH_TYPES
from porter_triton.kernel_functions import KernelFunctions
from porter_triton.records import KernelText

_POISON = 0xFF
_TORCH_NAMES = frozenset(dtype.value for dtype in DType)


class Carrier:
    """Makes calls of plans; the texts of kernels lie below `folder`."""

    def __init__(self, folder: Path) -> None:
        self._kernels = KernelFunctions(folder / "kernels")

    def call(self, entry: PlanEntry) -> Callable[[Sequence[object]], object]:
        """Returns what carries out the plan of `entry` with arguments. Raises `KernelRefusedError`."""
        self._kernels.add(cast("tuple[KernelText, ...]", entry.kernels))
        return _Call(entry, self._kernels)


@dataclass
class _Memory:
    """The buffers of calls with one set of arguments: what they keep, and what the last one allocated."""

    kept: dict[int, torch.Tensor] = field(default_factory=dict)
    scratch: list[torch.Tensor] = field(default_factory=list)


class _Call:
    def __init__(self, entry: PlanEntry, kernels: KernelFunctions) -> None:
        self._entry = entry
        self._kernels = kernels
        self._memories: dict[tuple[int, ...], _Memory] = {}

    def __call__(self, arguments: Sequence[object]) -> object:
        """Returns the results of one call."""
        memory = self._memory(arguments)
        buffers = dict(memory.kept)
        memory.scratch.clear()
        results: tuple[object, ...] = ()
        for step in self._entry.steps:
            if isinstance(step, plan.Return):
                results = tuple(_view(buffers, r) if isinstance(r, TensorView) else r.value for r in step.results)
            else:
                self._step(step, buffers, arguments, memory.scratch)
        return results[0] if len(results) == 1 else results

    def refresh(self, arguments: Sequence[object]) -> None:
        """Forgets all that earlier calls with these arguments left in memory beside them."""
        memory = self._memory(arguments)
        for tensor in (*memory.scratch, *memory.kept.values()):
            tensor.fill_(_POISON)
        self._prepare(memory, arguments)

    def _memory(self, arguments: Sequence[object]) -> _Memory:
        key = tuple(a.data_ptr() if isinstance(a, torch.Tensor) else 0 for a in arguments)
        if key not in self._memories:
            self._memories[key] = memory = _Memory()
            self._prepare(memory, arguments)
        return self._memories[key]

    def _prepare(self, memory: _Memory, arguments: Sequence[object]) -> None:
        """Makes the memory that calls keep, or restores what they found there first."""
        for step in self._entry.prepared:
            if isinstance(step, (plan.Allocate, plan.Constant)) and step.buffer in memory.kept:
                if isinstance(step, plan.Constant):
                    memory.kept[step.buffer].copy_(_content(step.content))
                continue
            self._step(step, memory.kept, arguments, [])

    def _step(
        self, step: Step, buffers: dict[int, torch.Tensor], arguments: Sequence[object], scratch: list[torch.Tensor]
    ) -> None:
        match step:
            case plan.Input(buffer, argument):
                given = arguments[argument]
                assert isinstance(given, torch.Tensor)
                buffers[buffer] = given.reshape(-1).view(torch.uint8)
            case plan.Allocate(buffer, size_bytes):
                buffers[buffer] = torch.empty(size_bytes, dtype=torch.uint8, device="cuda")
                scratch.append(buffers[buffer])
            case plan.Constant(buffer, content):
                buffers[buffer] = _content(content).cuda()
            case plan.Fill(to, value):
                _view(buffers, to).fill_(value)
            case plan.Move(to, source):
                _view(buffers, to).copy_(_view(buffers, source))
            case plan.Compute():
                self._compute(step, buffers)
            case plan.Launch():
                options = {name: scalar.value for name, scalar in step.options}
                passed = {name: self._passed(buffers, value) for name, value in step.arguments}
                self._kernels[step.kernel][step.grid](**passed, **options)
            case plan.Synchronise():
                torch.cuda.synchronize()
            case plan.Read(source):
                numbers(_view(buffers, source))  # which waits for the device, as the candidate does

    def _compute(self, step: plan.Compute, buffers: dict[int, torch.Tensor]) -> None:
        name, _, overload = step.operator.partition(".")
        operator = getattr(getattr(torch.ops.aten, name), overload or "default")
        found = operator(**{argument: self._passed(buffers, value) for argument, value in step.arguments})
        for view, tensor in zip(step.results, [found] if isinstance(found, torch.Tensor) else found, strict=True):
            dense = tensor.to(TORCH_TYPES[DType(view.dtype)]).expand(view.shape).contiguous()
            buffers[view.buffer] = dense.reshape(-1).view(torch.uint8)

    def _passed(self, buffers: dict[int, torch.Tensor], argument: plan.Argument) -> Any:  # noqa: ANN401 - for a kernel
        match argument:
            case TensorView():
                return _view(buffers, argument)
            case plan.Scalar(value):
                return value
            case plan.ElementType(name):
                return TORCH_TYPES[DType(name)] if name in _TORCH_NAMES else tl.dtype(name)
            case plan.KernelName(name):
                return self._kernels[name]
            case plan.Descriptor(base, shape, strides, block, padding):
                return TensorDescriptor(_view(buffers, base), list(shape), list(strides), list(block), padding)
            case plan.Sequence(items):
                return tuple(self._passed(buffers, item) for item in items)


def numbers(tensor: torch.Tensor) -> Iterable[Number]:
    """Returns the elements of `tensor`, for which the host waits."""
    return cast("list[Number]", tensor.reshape(-1).tolist())


def _content(text: str) -> torch.Tensor:
    return torch.from_numpy(np.frombuffer(base64.b64decode(text), np.uint8).copy())


def _view(buffers: dict[int, torch.Tensor], view: TensorView) -> torch.Tensor:
    raw = buffers[view.buffer]
    dtype = DType(view.dtype)
    if not raw.numel():
        return torch.empty(view.shape, dtype=TORCH_TYPES[dtype], device="cuda")
    whole = raw[: raw.numel() // dtype.bytes * dtype.bytes].view(TORCH_TYPES[dtype])
    return torch.as_strided(whole, view.shape, view.strides, whole.storage_offset() + view.offset)

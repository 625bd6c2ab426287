"""What a run leaves that has to be right."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from porter.contract.contract import Contract, EntryKind, Role
from porter.contract.dtype import DType
from porter.simt.job import Run, TensorValue


@dataclass(frozen=True, slots=True)
class Outputs:
    """Named tensors: arguments that are written, then results, and for a program its buffers; and what it prints."""

    tensors: tuple[tuple[str, TensorValue], ...]
    text: str = ""
    exit_code: int = 0


def outputs(contract: Contract, run: Run) -> Outputs:
    """The outputs of a finished run."""
    if contract.entry.kind is EntryKind.PROGRAM:
        buffers = tuple(
            (f"buffer {i} after launch {launch}", TensorValue(DType.UINT8, buffer.shape, buffer))
            for launch, snapshot in enumerate(run.snapshots)
            for i, buffer in enumerate(snapshot)
        )
        return Outputs(tuple((name, _as_floats(value)) for name, value in buffers), run.stdout, run.exit_code)
    written = tuple(
        (tensor.name, value)
        for tensor, value in zip(contract.tensors, run.outputs, strict=True)
        if tensor.role is not Role.IN
    )
    results = tuple((f"result {i}" if i else "result", value) for i, value in enumerate(run.results))
    return Outputs((*written, *results))


def _as_floats(buffer: TensorValue) -> TensorValue:
    """A program's buffer has no type: bytes that read as ordinary floats are compared as floats, others exactly."""
    raw = np.ascontiguousarray(buffer.storage.reshape(-1)).view(np.uint8)
    if raw.size == 0 or raw.size % 4:
        return buffer
    words = raw.view(np.uint32)
    exponents = (words >> 23) & 0xFF
    ordinary = ((exponents > 64) & (exponents < 192)) | (words & 0x7FFFFFFF == 0)
    if ordinary.mean() < 0.5:
        return buffer
    return TensorValue(DType.FLOAT32, (words.size,), raw.view(np.float32))

"""A run as the stream of records that `porter.simt.protocol` reads: what the worker answers with."""

from __future__ import annotations

import struct
from collections.abc import Iterable

import numpy as np

from porter.branch_coverage import NOT_MEASURED, BranchCoverage, Side
from porter.contract.model.dtype import DType
from porter.execution.job import Fault, FaultKind, LaunchRecord, TensorValue
from porter.simt.protocol import Tag

_MAGIC = b"PORTRES1"
_DTYPES, _KINDS = tuple(DType), tuple(FaultKind)
_NO_FRAMES = (0,) * 8


def encode_result(
    launches: Iterable[LaunchRecord],
    faults: Iterable[Fault],
    outputs: Iterable[TensorValue],
    results: Iterable[TensorValue],
    coverage: BranchCoverage = NOT_MEASURED,
) -> bytes:
    """The answer of a run that came to its end."""
    return b"".join(
        [
            encode_partial(launches, faults),
            *(_record(Tag.OUTPUT, _raw(value)) for value in outputs),
            *(_record(Tag.RESULT, _result(value)) for value in results),
            *(_record(Tag.SIDE, _side(side, taken=side in coverage.taken)) for side in sorted(coverage.present)),
            _record(Tag.END, struct.pack("<iB", 0, True)),
        ]
    )


def encode_failure(launches: Iterable[LaunchRecord], faults: Iterable[Fault]) -> bytes:
    """The answer of a run that was broken off: the last fault is fatal."""
    return encode_partial(launches, faults) + _record(Tag.END, struct.pack("<iB", 1, False))


def encode_partial(launches: Iterable[LaunchRecord], faults: Iterable[Fault]) -> bytes:
    """The beginning that both share."""
    return b"".join(
        [
            _MAGIC,
            *(_record(Tag.LAUNCH, _launch(launch)) for launch in launches),
            *(_record(Tag.FAULT, _fault(fault)) for fault in faults),
        ]
    )


def _record(tag: Tag, payload: bytes) -> bytes:
    return struct.pack("<IQ", tag, len(payload)) + payload


def _text(text: str) -> bytes:
    raw = text.encode("utf-8")
    return struct.pack("<I", len(raw)) + raw


def _launch(launch: LaunchRecord) -> bytes:
    sizes = struct.pack("<6IQi", *launch.grid, *launch.block, launch.shared_bytes, launch.line)
    return _text(launch.kernel) + sizes


def _fault(fault: Fault) -> bytes:
    head = struct.pack("<BBQi8I", _KINDS.index(fault.kind), fault.fatal, fault.count, fault.line, *_NO_FRAMES)
    return head + _text(fault.file) + _text(fault.kernel) + _text(fault.message)


def _side(side: Side, *, taken: bool) -> bytes:
    head = struct.pack("<BBii", taken, side.fails, side.line, side.column)
    return head + _text(side.file) + _text(side.way) + _text(side.text) + _text(side.part_of)


def _raw(value: TensorValue) -> bytes:
    return np.ascontiguousarray(value.storage).tobytes()


def _result(value: TensorValue) -> bytes:
    head = struct.pack(f"<BI{len(value.shape)}q", _DTYPES.index(value.dtype), len(value.shape), *value.shape)
    return head + _raw(value)

"""The files that cross the process border: a job goes in, a stream of records comes back. Little-endian, no padding.

The executor's side is `runtime/process.h` (the head of a job) and `runtime/record.cpp` (the records).
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from porter.branch_coverage import BranchCoverage, Side
from porter.contract.model.dtype import DType
from porter.execution.job import (
    FaultKind,
    Job,
    LaunchRecord,
    Limits,
    MaskPolicy,
    ScalarValue,
    Schedule,
    TensorValue,
    Touched,
    Value,
)
from porter.simt.layouts import laid_out, offset_of, room_bytes, strides_of
from porter.simt.sample import SampledBlock, SampledKind, SampledPlace

_HEAD = struct.Struct("<8s5BQ2I2Q3I3IQ2QddQ2I2Qdq2IQ")
_JOB_MAGIC, _RESULT_MAGIC = b"PORTJOB1", b"PORTRES1"
_BEFORE = b"B"  # the tensors of a call before follow, their bytes alone
_RECORD = struct.Struct("<IQ")
_MAX_FRAMES = 8
_FAULT = struct.Struct(f"<BBQi{_MAX_FRAMES}I")
_SAMPLE, _SAMPLED_PLACE = struct.Struct("<7Q"), struct.Struct("<BB7Q")
_DTYPES, _KINDS = tuple(DType), tuple(FaultKind)
_SCHEDULES, _POLICIES = tuple(Schedule), tuple(MaskPolicy)


class JobMode(IntEnum):
    """The uses of an entry, numbered as in runtime/process.h."""

    CALL = 0
    PLAN = 1
    REPLAY = 2
    SAMPLE = 3


class Tag(IntEnum):
    """The kinds of records in the result."""

    LAUNCH = 1
    FAULT = 2
    OUTPUT = 3
    RESULT = 4
    SNAPSHOT = 5
    TOUCHED = 6
    END = 7
    STEP = 8
    READ = 9
    SIDE = 10  # of a branch, whole
    MARK = 11  # of a side that the executable knows by its number
    SAMPLE = 12  # of a block of a launch


@dataclass(frozen=True, slots=True)
class Machine:
    """The facts that host code may ask of a machine: where device memory lies, its size, times, multiprocessors."""

    memory_base: int = 1 << 44
    memory_bytes: int = 4 << 30
    event_ms: float = 1.0
    clock_us: int = 1_000_000_000_000_000  # 2001-09-09
    tick_us: int = 1
    multiprocessors: int = 4  # so few that programs which size their grid by them stay quick
    chance: int = 0  # by which a device differs from the executor in what else may be asked of it; 0 for the executor


EMULATED = Machine()


@dataclass(frozen=True, slots=True)
class RawFault:
    """A fault as recorded: `frames` are return addresses, innermost first, for where no line was known."""

    kind: FaultKind
    fatal: bool
    count: int
    line: int
    frames: tuple[int, ...]
    file: str
    kernel: str
    message: str


@dataclass(frozen=True, slots=True)
class RawMark:
    """A side by its number among those of the executable; `instance` is the signature of the template's instance."""

    number: int
    taken: bool
    instance: str


@dataclass
class Decoded:
    """The contents of a result file, up to where it broke off. `exit_code` is None when it did.

    `held` says how many of a tensor's bytes a record has: all, but for those of a device.
    """

    held: Callable[[int], int] = int
    outputs: list[bytes] = field(default_factory=list)
    results: list[TensorValue] = field(default_factory=list)
    snapshots: list[tuple[NDArray[np.uint8], ...]] = field(default_factory=list)
    touched: list[Touched] = field(default_factory=list)
    launches: list[LaunchRecord] = field(default_factory=list)
    faults: list[RawFault] = field(default_factory=list)
    steps: list[bytes] = field(default_factory=list)
    reads: list[bytes] = field(default_factory=list)
    sides: dict[Side, bool] = field(default_factory=dict)
    marks: list[RawMark] = field(default_factory=list)
    samples: list[SampledBlock] = field(default_factory=list)
    finished: bool = False
    exit_code: int | None = None


def coverage_of(sides: Mapping[Side, bool]) -> BranchCoverage:
    """The coverage in which each side was taken or not."""
    return BranchCoverage(frozenset(sides), frozenset(side for side, taken in sides.items() if taken))


def widened(job: Job) -> Job:
    """The job as a double-precision executable holds it: its float32 tensors as float64."""
    return replace(job, arguments=tuple(map(_widened_value, job.arguments)))


def _widened_value(value: Value) -> Value:
    if isinstance(value, ScalarValue) or value.dtype is not DType.FLOAT32:
        return value
    return replace(value, dtype=DType.FLOAT64, storage=value.storage.astype(np.float64))


def encode_job(
    job: Job, limits: Limits, *, entry: int = 0, snapshot_bytes: int = 0, double_precision: bool = False
) -> bytes:
    """The job file: `entry` is the position of what it runs among those the executable can call.

    `snapshot_bytes` is the budget for device buffers recorded after launches; 0 for none.

    A double-precision executable is still told `float32`, for its checks of dtypes, but gets eight bytes an element.
    """
    stored = widened(job).arguments if double_precision else job.arguments
    head = _head(job, limits, entry, snapshot_bytes)
    before = [_BEFORE, contents(job.before)] if job.before else []
    return b"".join([head, *map(_encode_value, job.arguments, stored), *before])


def encode_planning_job(  # noqa: PLR0917
    job: Job, limits: Limits, entry: int, calls: int, answers: Sequence[bytes], machine: Machine
) -> bytes:
    """The job file of host code that plans `calls` calls: no tensor has contents, and `answers` are what it reads."""
    told = (struct.pack("<Q", len(answer)) + answer for answer in answers)
    head = _head(job, limits, entry, 0, JobMode.PLAN, machine)
    values = b"".join(_encode_value(value, value, with_contents=False) for value in job.arguments)
    return head + values + struct.pack("<II", calls, len(answers)) + b"".join(told)


def encode_replaying_job(job: Job, limits: Limits, snapshot_bytes: int, plan: bytes, machine: Machine) -> bytes:
    """The job file of the device's part, which carries out `plan` on the job's arguments."""
    told = replace(machine, memory_bytes=EMULATED.memory_bytes)
    head = _head(job, limits, 0, snapshot_bytes, JobMode.REPLAY, told)
    return head + b"".join(_encode_value(value, value) for value in job.arguments) + plan


def encode_sampling_job(job: Job, limits: Limits, plan: bytes, machine: Machine) -> bytes:
    """The job file of the device's part, which runs a block of each launch of `plan` on tensors without contents."""
    values = b"".join(_encode_value(value, value, with_contents=False) for value in job.arguments)
    return _head(job, limits, 0, 0, JobMode.SAMPLE, machine) + values + plan


def contents(values: Iterable[Value]) -> bytes:
    """The bytes of the tensors among `values`, one after the other."""
    tensors = (value for value in values if isinstance(value, TensorValue) and not value.null)
    return b"".join(np.ascontiguousarray(laid_out(tensor)).tobytes() for tensor in tensors)


def _head(  # noqa: PLR0917
    job: Job,
    limits: Limits,
    entry: int,
    snapshot_bytes: int,
    mode: JobMode = JobMode.CALL,
    machine: Machine = EMULATED,
) -> bytes:
    return _HEAD.pack(
        _JOB_MAGIC,
        _SCHEDULES.index(job.schedule),
        _POLICIES.index(job.mask_policy),
        job.poison,
        snapshot_bytes > 0,
        mode,
        job.seed & (2**64 - 1),
        job.hardware.max_threads,
        job.hardware.claimed_warp_size,
        job.hardware.shared_bytes,
        job.hardware.dynamic_shared_bytes,
        *job.grid,
        *job.block,
        job.shared_bytes,
        limits.memory_bytes,
        limits.file_bytes,
        limits.cpu_s,
        limits.wall_s,
        snapshot_bytes,
        entry,
        len(job.arguments),
        machine.memory_base,
        machine.memory_bytes,
        machine.event_ms,
        machine.clock_us,
        machine.tick_us,
        machine.multiprocessors,
        machine.chance,
    )


def _encode_value(value: Value, stored: Value, *, with_contents: bool = True) -> bytes:
    if isinstance(value, TensorValue) and value.null:
        return struct.pack("<BB", 3, _DTYPES.index(value.dtype))
    if isinstance(value, TensorValue) and isinstance(stored, TensorValue):
        raw = np.ascontiguousarray(laid_out(stored)).tobytes() if with_contents else b""
        size = len(raw) if with_contents else room_bytes(stored)
        rank, place = len(value.shape), (*strides_of(value), offset_of(value)) if value.layout else ()
        head = struct.pack("<BBI", 4 if place else 0, _DTYPES.index(value.dtype), rank)
        return head + struct.pack(f"<{rank + len(place)}qQ", *value.shape, *place, size) + raw
    assert isinstance(value, ScalarValue)
    number = value.value
    if isinstance(number, (bool, int)):
        wrapped = int(number) & (2**64 - 1)
        return struct.pack("<BQ", 1, wrapped)
    return struct.pack("<Bd", 2, number)


def decode_result(data: bytes, held: Callable[[int], int] = int) -> Decoded:
    """The records of a result file. Stops at the first that is cut short or makes no sense; never raises."""
    decoded = Decoded(held)
    if not data.startswith(_RESULT_MAGIC):
        return decoded
    try:
        for tag, payload in _records(data, len(_RESULT_MAGIC)):
            _READERS[Tag(tag)](decoded, payload)
    except (struct.error, ValueError, IndexError, KeyError):
        decoded.finished, decoded.exit_code = False, None
    return decoded


def _records(data: bytes, position: int) -> Iterator[tuple[int, bytes]]:
    while position < len(data):
        tag, length = _RECORD.unpack_from(data, position)
        position += _RECORD.size
        if length > len(data) - position:
            raise ValueError("a record is longer than the file")
        yield tag, data[position : position + length]
        position += length


def _text(payload: bytes, position: int) -> tuple[str, int]:
    (length,) = struct.unpack_from("<I", payload, position)
    start = position + 4
    if length > len(payload) - start:
        raise ValueError("a text is longer than its record")
    return payload[start : start + length].decode("utf-8", "replace"), start + length


def _read_launch(into: Decoded, payload: bytes) -> None:
    kernel, position = _text(payload, 0)
    gx, gy, gz, bx, by, bz, shared_bytes, line = struct.unpack_from("<6IQi", payload, position)
    into.launches.append(LaunchRecord(kernel, (gx, gy, gz), (bx, by, bz), shared_bytes, line))


def _read_fault(into: Decoded, payload: bytes) -> None:
    kind, fatal, count, line, *frames = _FAULT.unpack_from(payload)
    file, position = _text(payload, _FAULT.size)
    kernel, position = _text(payload, position)
    message, _ = _text(payload, position)
    known = tuple(f for f in frames if f)
    into.faults.append(RawFault(_KINDS[kind], bool(fatal), count, line, known, file, kernel, message))


def _read_output(into: Decoded, payload: bytes) -> None:
    into.outputs.append(payload)


def _read_result(into: Decoded, payload: bytes) -> None:
    code, rank = struct.unpack_from("<BI", payload)
    shape = struct.unpack_from(f"<{rank}q", payload, 5)
    dtype = _DTYPES[code]
    storage = np.frombuffer(payload[5 + 8 * rank :], dtype.storage).copy()
    if not rank and not storage.size:  # a tensor that is not defined
        into.results.append(TensorValue.none(dtype))
        return
    whole = TensorValue(dtype, shape, storage)
    if min(shape, default=0) < 0 or storage.nbytes != into.held(whole.count * dtype.bytes):
        raise ValueError("a tensor is not of its shape")
    into.results.append(replace(whole, storage=storage.reshape(shape)) if whole.is_whole else whole)


def _read_snapshot(into: Decoded, payload: bytes) -> None:
    (count,) = struct.unpack_from("<I", payload)
    position, buffers = 4, []
    for _ in range(count):
        (length,) = struct.unpack_from("<Q", payload, position)
        position += 8
        if length > len(payload) - position:
            raise ValueError("a buffer is longer than its record")
        buffers.append(np.frombuffer(payload[position : position + length], np.uint8).copy())
        position += length
    into.snapshots.append(tuple(buffers))


def _read_touched(into: Decoded, payload: bytes) -> None:
    into.touched.append(Touched(*struct.unpack("<3Q", payload)))


def _read_side(into: Decoded, payload: bytes) -> None:
    taken, fails, line, column = struct.unpack_from("<BBii", payload)
    file, position = _text(payload, 10)
    way, position = _text(payload, position)
    text, position = _text(payload, position)
    part_of, _ = _text(payload, position)
    into.sides[Side(file, line, column, way, text, bool(fails), part_of)] = bool(taken)


def _read_mark(into: Decoded, payload: bytes) -> None:
    number, taken = struct.unpack_from("<IB", payload)
    instance, _ = _text(payload, 5)
    into.marks.append(RawMark(number, bool(taken), instance))


def _read_end(into: Decoded, payload: bytes) -> None:
    into.exit_code, finished = struct.unpack("<iB", payload)
    into.finished = bool(finished)


def _read_step(into: Decoded, payload: bytes) -> None:
    into.steps.append(payload)


def _read_read(into: Decoded, payload: bytes) -> None:
    into.reads.append(payload)


def _read_sample(into: Decoded, payload: bytes) -> None:
    position, places = _SAMPLE.size, list[SampledPlace]()
    while position < len(payload):
        kind, width, *counts = _SAMPLED_PLACE.unpack_from(payload, position)
        label, position = _text(payload, position + _SAMPLED_PLACE.size)
        places.append(SampledPlace(SampledKind(kind), width, label, *counts))
    barriers, operations, first_operations, *waits, shared_bytes = _SAMPLE.unpack_from(payload)
    memory, shared, atomic = waits
    block = SampledBlock(barriers, operations, first_operations, memory, shared, atomic, shared_bytes, tuple(places))
    into.samples.append(block)


_READERS = {
    Tag.LAUNCH: _read_launch,
    Tag.FAULT: _read_fault,
    Tag.OUTPUT: _read_output,
    Tag.RESULT: _read_result,
    Tag.SNAPSHOT: _read_snapshot,
    Tag.TOUCHED: _read_touched,
    Tag.END: _read_end,
    Tag.STEP: _read_step,
    Tag.READ: _read_read,
    Tag.SIDE: _read_side,
    Tag.MARK: _read_mark,
    Tag.SAMPLE: _read_sample,
}

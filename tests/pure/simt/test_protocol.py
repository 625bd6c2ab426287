"""The border to the child process: jobs as the executor reads them, results whatever they hold."""

from __future__ import annotations

import struct

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from porter.contract.model.dtype import DType
from porter.execution.job import FaultKind, Job, Limits, ScalarValue, Schedule, TensorValue, Touched
from porter.simt.protocol import Tag, decode_result, encode_job, widened

HEAD_BYTES = 173  # sizeof(JobHeader) in runtime/process.h


def record(tag: int, payload: bytes) -> bytes:
    return struct.pack("<IQ", tag, len(payload)) + payload


def text(value: str) -> bytes:
    return struct.pack("<I", len(value)) + value.encode()


def result(*records: bytes) -> bytes:
    return b"PORTRES1" + b"".join(records)


FAULT = struct.pack("<BBQi8I", 4, 1, 3, 12, *[0x401000, 0x402000, *[0] * 6]) + text("a.cu") + text("k") + text("why")
LAUNCH = text("k") + struct.pack("<6IQi", 1, 2, 3, 4, 5, 6, 700, 8)
WHOLE = result(
    record(Tag.LAUNCH, LAUNCH),
    record(Tag.OUTPUT, b"\x01\x02"),
    record(Tag.RESULT, struct.pack("<BI2q", 7, 2, 1, 2) + np.array([7, 8], np.int32).tobytes()),
    record(Tag.SNAPSHOT, struct.pack("<IQ", 1, 3) + b"abc"),
    record(Tag.FAULT, FAULT),
    record(Tag.TOUCHED, struct.pack("<3Q", 4, 8, 1)),
    record(Tag.END, struct.pack("<iB", 3, 1)),
)


def test_a_job_has_the_head_the_executor_expects():
    data = encode_job(Job(schedule=Schedule.SHUFFLED, poison=0x7F, grid=(1, 2, 3)), Limits(cpu_s=2.5, wall_s=9.5))
    assert len(data) == HEAD_BYTES
    assert data[:8] == b"PORTJOB1"
    assert data[8] == 2
    assert data[10] == 0x7F
    assert struct.unpack_from("<3I", data, 45) == (1, 2, 3)
    assert struct.unpack_from("<2d", data, 93) == (2.5, 9.5)


def test_arguments_follow_the_head_in_order():
    tensor = TensorValue(DType.INT16, (2, 1), np.array([[1], [2]], np.int16))
    data = encode_job(Job((tensor, ScalarValue(-1), ScalarValue(0.5))), Limits())[HEAD_BYTES:]
    shape = struct.pack("<BBI2qQ", 0, 8, 2, 2, 1, 4)
    assert data == shape + b"\x01\x00\x02\x00" + struct.pack("<Bq", 1, -1) + struct.pack("<Bd", 2, 0.5)


def test_a_null_pointer_has_a_type_and_nothing_else():
    job = Job((TensorValue.none(DType.FLOAT32), ScalarValue(1)))
    for double_precision in (False, True):
        data = encode_job(job, Limits(), double_precision=double_precision)[HEAD_BYTES:]
        assert data == struct.pack("<BB", 3, list(DType).index(DType.FLOAT32)) + struct.pack("<Bq", 1, 1)


def test_double_precision_widens_the_bytes_but_not_the_dtype():
    job = Job((TensorValue(DType.FLOAT32, (1,), np.array([0.5], np.float32)),))
    data = encode_job(job, Limits(), double_precision=True)[HEAD_BYTES:]
    assert data[1] == list(DType).index(DType.FLOAT32)
    assert data[-8:] == struct.pack("<d", 0.5)
    assert widened(job).arguments[0].dtype is DType.FLOAT64


def test_a_whole_result_is_read_back():
    decoded = decode_result(WHOLE)
    assert decoded.finished
    assert decoded.exit_code == 3
    assert decoded.outputs == [b"\x01\x02"]
    assert decoded.results[0].storage.tolist() == [[7, 8]]
    assert decoded.snapshots[0][0].tobytes() == b"abc"
    assert decoded.touched == [Touched(4, 8, 1)]
    assert decoded.launches[0].kernel == "k"
    assert decoded.launches[0].block == (4, 5, 6)
    fault = decoded.faults[0]
    assert (fault.kind, fault.fatal, fault.count, fault.line) == (FaultKind.RACE, True, 3, 12)
    assert fault.frames == (0x401000, 0x402000)
    assert (fault.file, fault.kernel, fault.message) == ("a.cu", "k", "why")


def test_a_result_cut_anywhere_is_unfinished_and_keeps_what_came_before():
    for length in range(len(WHOLE)):
        decoded = decode_result(WHOLE[:length])
        assert not decoded.finished
        assert decoded.exit_code is None
    assert decode_result(WHOLE[:-3]).faults[0].message == "why"


@given(st.binary(max_size=200), st.integers(0, len(WHOLE) - 1))
def test_no_bytes_make_the_reader_raise(junk, position):
    decode_result(junk)
    decode_result(b"PORTRES1" + junk)
    decode_result(WHOLE[:position] + junk + WHOLE[position + len(junk) :])

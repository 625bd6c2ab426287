"""What the worker answers is what porter reads."""

import numpy as np
import pytest

from porter.contract.model.dtype import DType
from porter.execution.job import Fault, FaultKind, LaunchRecord, TensorValue
from porter.simt.protocol import decode_result
from porter.worker.records import encode_failure, encode_result

LAUNCH = LaunchRecord("softmax", (3, 2, 1), (128, 1, 1), 0, 17)
FAULT = Fault(FaultKind.OUT_OF_BOUNDS, "m.py", 12, "softmax", "load at element 4 of 'x'", 2)


def test_a_run_comes_back_as_it_was():
    output = TensorValue(DType.FLOAT32, (2, 3), np.arange(6, dtype=np.float32).reshape(2, 3))
    result = TensorValue(DType.BFLOAT16, (4,), np.arange(4, dtype=np.uint16))
    decoded = decode_result(encode_result([LAUNCH], [FAULT], [output], [result]))
    assert decoded.finished
    assert decoded.launches == [LAUNCH]
    assert [(f.kind, f.file, f.line, f.kernel, f.message, f.count, f.fatal) for f in decoded.faults] == [
        (FAULT.kind, "m.py", 12, "softmax", FAULT.message, 2, False)
    ]
    assert decoded.outputs == [output.storage.tobytes()]
    assert decoded.results[0].dtype is DType.BFLOAT16
    assert decoded.results[0].storage.tolist() == [0, 1, 2, 3]


def test_a_run_broken_off_is_not_finished():
    decoded = decode_result(encode_failure([LAUNCH], [FAULT]))
    assert not decoded.finished
    assert decoded.exit_code == 1
    assert decoded.launches == [LAUNCH]


def test_half_an_answer_is_not_finished():
    whole = encode_result([LAUNCH], [FAULT], [], [])
    assert not decode_result(whole[:-3]).finished


@pytest.mark.parametrize("shape", [(5,), (2, 2), (-2, -2), (3,)])
def test_a_result_that_is_not_of_its_shape_ends_the_run(shape):
    odd = TensorValue(DType.FLOAT32, shape, np.zeros(4 if shape != (2, 2) else 3, np.float32))
    assert not decode_result(encode_result([], [], [], [odd])).finished


def test_of_a_large_result_as_much_comes_back_as_was_asked_for():
    part = TensorValue(DType.FLOAT32, (1000,), np.arange(7, dtype=np.float32))
    answer = encode_result([], [], [], [part])
    assert not decode_result(answer).finished
    (decoded,) = decode_result(answer, held=lambda count: 28 if count == 4000 else count).results
    assert decoded.shape == (1000,)
    assert not decoded.is_whole
    assert decoded.storage.tolist() == list(range(7))

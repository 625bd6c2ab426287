"""Loops have the turns in the interpreter that they have when they are compiled."""

import numpy as np
import pytest
import triton.language as tl
from triton.runtime.interpreter import TensorHandle

from porter_triton.replay.loops import compiled_range


def scalar(value, dtype):
    stored = np.array([value], {tl.int32: np.int32, tl.int64: np.int64, tl.uint64: np.uint64}[dtype])
    return tl.tensor(TensorHandle(stored, dtype), dtype)


def test_a_loop_counts_as_python_does():
    assert list(compiled_range(scalar(3, tl.int32))) == [0, 1, 2]
    assert list(compiled_range(scalar(1, tl.uint64), scalar(9, tl.uint64), scalar(4, tl.uint64))) == [1, 5]
    assert list(compiled_range(scalar(4, tl.int32), -1, -2)) == [4, 2, 0]
    assert list(compiled_range(0, 2, num_stages=3)) == [0, 1]


def test_bounds_are_compared_as_signed_numbers():
    assert list(compiled_range(0, scalar(2**64 - 1, tl.uint64))) == []
    assert list(compiled_range(scalar(2**64 - 2, tl.uint64), scalar(1, tl.uint64))) == [-2, -1, 0]


@pytest.mark.parametrize("step", [scalar(2**64 - 512, tl.uint64), scalar(-512, tl.int64), scalar(0, tl.int32)])
def test_a_step_that_counts_down_when_it_runs_has_no_end(step):
    with pytest.raises(ValueError, match="would not end"):
        compiled_range(0, 512, step)

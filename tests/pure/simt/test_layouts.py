"""Tensors that are views: where their elements lie, and that they are found there again."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from porter.contract.model.contract import Layout
from porter.contract.model.dtype import DType
from porter.execution.job import TensorValue
from porter.simt.layouts import gathered, laid_out, offset_of, room_bytes, strides_of

SHAPES = st.lists(st.integers(1, 5), min_size=1, max_size=4).map(tuple)


def tensor(shape, layout):
    return TensorValue(DType.INT32, shape, np.arange(np.prod(shape), dtype=np.int32).reshape(shape), layout=layout)


@given(SHAPES, st.sampled_from([None, *Layout]))
def test_elements_are_found_again_at_the_strides(shape, layout):
    value = tensor(shape, layout)
    room = np.ascontiguousarray(laid_out(value)).reshape(-1)
    assert room.nbytes == room_bytes(value)
    behind = room[offset_of(value) :]
    strided = np.lib.stride_tricks.as_strided(behind, shape, [4 * stride for stride in strides_of(value)])
    np.testing.assert_array_equal(strided, value.storage)
    np.testing.assert_array_equal(gathered(room, value), value.storage)


@pytest.mark.parametrize("layout", list(Layout))
def test_who_takes_a_view_for_dense_reads_other_elements_of_its_own(layout):
    value = tensor((3, 5), layout)
    taken = np.ascontiguousarray(laid_out(value)).reshape(-1)[: value.count]
    assert (taken != value.storage.reshape(-1)).any()
    assert set(taken) <= set(value.storage.reshape(-1))

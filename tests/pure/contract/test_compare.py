"""Comparison: exact where it must be, fair where it may be, never blind."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from porter.comparison.compare import DEFAULT_TOLERANCE, compare
from porter.contract.model.contract import Tolerance
from porter.contract.model.dtype import DType, encode
from porter.execution.job import TensorValue

EXACT = Tolerance(0.0, 0.0)
FLOATS = [d for d in DType if d.is_float and d.bytes > 1]  # of eight bits, half is two units in the last place


def value(values, dtype: DType = DType.FLOAT32) -> TensorValue:
    array = np.asarray(values, dtype=np.float64)
    return TensorValue(dtype, array.shape, encode(array, dtype))


@given(st.sampled_from(DType), st.data())
def test_everything_equals_itself_exactly(dtype, data):
    raw = data.draw(hnp.arrays(np.uint8, 8 * 6))
    if dtype is DType.BOOL:
        raw = raw & 1
    same = raw.view(dtype.storage)
    tensor = TensorValue(dtype, same.shape, same)
    comparison = compare(tensor, tensor, EXACT if dtype.is_float else None)
    assert comparison.passed
    assert comparison.max_abs_error == 0.0


@given(hnp.arrays(np.float64, 5, elements=st.floats(allow_nan=True)), hnp.arrays(np.float64, 5, elements=st.floats()))
def test_the_largest_error_does_not_depend_on_who_is_asked(a, b):
    x, y = value(a, DType.FLOAT64), value(b, DType.FLOAT64)
    assert compare(x, y, EXACT).max_abs_error == compare(y, x, EXACT).max_abs_error


@given(hnp.arrays(np.int32, 6), hnp.arrays(np.int32, 6))
def test_integers_are_equal_or_wrong(a, b):
    x, y = TensorValue(DType.INT32, (6,), a), TensorValue(DType.INT32, (6,), b)
    assert compare(x, y, None).passed == compare(y, x, None).passed == bool((a == b).all())


@pytest.mark.parametrize(
    ("got", "want", "passes"),
    [
        (np.nan, np.nan, True),
        (np.nan, 1.0, False),
        (1.0, np.nan, False),
        (np.inf, np.inf, True),
        (np.inf, -np.inf, False),
        (np.inf, 3.3e38, False),
        (3.3e38, np.inf, False),
        (np.inf, np.nan, False),
        (-0.0, 0.0, True),
    ],
)
@pytest.mark.parametrize("dtype", [DType.FLOAT32, DType.FLOAT64, DType.BFLOAT16])
def test_nan_and_infinity_have_one_rule(got, want, passes, dtype):
    assert compare(value([1.0, got], dtype), value([1.0, want], dtype), None).passed is passes


def test_where_numbers_overflow_another_order_may_overflow_a_little_earlier():
    want = value([1.0, 2e38, np.inf])
    assert compare(value([1.0, np.inf, np.inf]), want, None).passed
    assert not compare(value([np.inf, 2e38, np.inf]), want, None).passed
    assert not compare(value([1.0, -np.inf, np.inf]), want, None).passed
    assert not compare(value([1.0, 2e38, 3e38]), want, None).passed
    assert not compare(value([1.0, np.inf]), value([1.0, 2e38]), None).passed


@pytest.mark.parametrize("dtype", FLOATS)
def test_the_default_allows_a_reordered_sum_and_forbids_a_lost_half(dtype):
    want = np.linspace(-3, 3, 101)
    bound = DEFAULT_TOLERANCE[dtype]
    assert compare(value(want * (1 + bound.rtol / 2), dtype), value(want, dtype), None).passed
    assert not compare(value(want / 2, dtype), value(want, dtype), None).passed


@pytest.mark.parametrize("dtype", FLOATS)
def test_small_outputs_are_not_all_close_to_zero(dtype):
    want = value(np.full(8, 1e-5), dtype)
    assert not compare(value(np.zeros(8), dtype), want, None).passed


def test_the_message_names_place_and_values():
    want = np.zeros((3, 4)) + 2.0
    got = want.copy()
    got[1, 2] = 2.5
    comparison = compare(value(got), value(want), None)
    assert not comparison.passed
    assert "[1, 2]" in comparison.worst
    assert "2.5" in comparison.worst
    assert comparison.max_abs_error == 0.5


def test_the_originals_own_error_is_allowed_to_the_port():
    want, exact = value([100.0, 5.003]), value([100.0, 5.0], DType.FLOAT64)
    port = value([100.0, 4.998])
    assert not compare(port, want, None).passed
    assert compare(port, want, None, yardstick=exact).passed


def test_an_error_of_a_large_element_does_not_excuse_a_small_one():
    want, exact = value([1e6, 1.0]), value([1e6 + 50.0, 1.0], DType.FLOAT64)
    assert not compare(value([1e6, 1.5]), want, None, yardstick=exact).passed


def test_what_was_computed_in_16_bits_is_held_to_16_bits():
    want, port = value([3.0, -8.0]), value([3.0, -8.02])
    assert not compare(port, want, None).passed
    assert compare(port, want, None, computed_in=DType.FLOAT16).passed
    assert not compare(value([3.0, -8.2]), want, None, computed_in=DType.FLOAT16).passed
    assert compare(value([3.0, -8.2]), want, None, computed_in=DType.BFLOAT16).passed


def test_another_shape_or_type_is_wrong():
    assert not compare(value([1.0, 2.0]), value([[1.0, 2.0]]), None).passed
    assert not compare(value([1.0]), value([1.0], DType.FLOAT16), None).passed


def test_empty_tensors_are_equal():
    assert compare(value([]), value([]), None, yardstick=value([], DType.FLOAT64)).passed


def test_a_yardstick_that_computed_something_else_excuses_nothing():
    want = value([1.0, 2.0, 3.0])
    assert not compare(value([1.1, 2.2, 3.3]), want, None, value([900.0, 0.0, -4.0], DType.FLOAT64)).passed


def test_a_sum_that_cancelled_lost_what_its_terms_lost():
    want, strayed, port = value([0.01]), value([0.04], DType.FLOAT64), value([-0.02])
    half = {"computed_in": DType.FLOAT16}
    assert not compare(port, want, None, strayed, **half).passed
    assert compare(port, want, None, strayed, **half, largest_term=4.0).passed
    assert not compare(value([-0.2]), want, None, strayed, **half, largest_term=4.0).passed


def test_where_sums_cancel_the_few_that_are_as_small_do_not_speak_alone():
    sums = np.linspace(0.01, 100, 10_000)
    lost = np.where(np.arange(10_000) % 50 == 7, 0.01, 0.0)
    want, exact = value(sums), value(sums + lost, DType.FLOAT64)
    assert compare(value(sums - np.where(np.arange(10_000) == 0, 0.015, 0)), want, None, exact).passed
    assert not compare(value(sums - np.where(np.arange(10_000) == 0, 0.03, 0)), want, None, exact).passed


@pytest.mark.parametrize("dtype", [DType.FLOAT32, DType.BFLOAT16])
def test_what_some_devices_flush_to_zero_is_zero(dtype):
    assert compare(value([0.0], dtype), value([1e-39], dtype), None).passed
    assert not compare(value([0.0], dtype), value([1e-37], dtype), None).passed
    assert not compare(value([0.0], DType.FLOAT16), value([3e-5], DType.FLOAT16), None).passed

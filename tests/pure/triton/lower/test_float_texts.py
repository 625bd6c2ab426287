"""How floats are spelt: short, and as what Triton takes for a 32-bit float."""

import pytest

from porter_triton.lower.types import DOUBLE, FLOAT
from porter_triton.lower.values import float_text, rounded

_LARGEST = 3.4028234663852886e38  # from which on Triton makes a double of a number


@pytest.mark.parametrize("value", [3.4028235e38, -3.4028235e38, 0.1, 1e-20, -1e30, 16777217.0])
def test_a_float_stays_one(value):
    text = float_text(rounded(value), FLOAT)
    assert abs(float(text)) <= _LARGEST
    assert rounded(float(text)) == rounded(value)


def test_a_float_has_no_more_digits_than_it_needs():
    assert float_text(rounded(0.1), FLOAT) == "0.1"
    assert float_text(0.1234567890123, DOUBLE) == "0.1234567890123"

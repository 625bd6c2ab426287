"""8-bit floats, which numpy has no type for."""

import numpy as np
import pytest

from porter.contract.model.dtype import DType, decode, encode

CODES = [
    (DType.FLOAT8_E4M3FN, 0x38, 1.0), (DType.FLOAT8_E4M3FN, 0x7E, 448.0), (DType.FLOAT8_E4M3FN, 0x01, 2.0**-9),
    (DType.FLOAT8_E4M3FN, 0xC4, -3.0), (DType.FLOAT8_E5M2, 0x3C, 1.0), (DType.FLOAT8_E5M2, 0x7B, 57344.0),
    (DType.FLOAT8_E5M2, 0x01, 2.0**-16), (DType.FLOAT8_E5M2, 0x80, -0.0),
]  # fmt: skip


@pytest.mark.parametrize(("dtype", "code", "value"), CODES)
def test_codes_stand_for_their_values(dtype, code, value):
    assert decode(np.array([code], np.uint8), dtype)[0] == value
    assert encode(np.array([value]), dtype)[0] == code


@pytest.mark.parametrize("dtype", [DType.FLOAT8_E4M3FN, DType.FLOAT8_E5M2])
def test_every_number_survives_and_is_one_byte(dtype):
    codes = np.arange(256, dtype=np.uint8)
    values = decode(codes, dtype)
    finite = np.isfinite(values)
    assert (encode(values[finite], dtype) == codes[finite]).all()
    assert (dtype.bytes, dtype.is_float) == (1, True)


def test_infinities_and_nans():
    values = decode(np.array([0x7C, 0xFC, 0x7D], np.uint8), DType.FLOAT8_E5M2)
    assert np.array_equal(values, [np.inf, -np.inf, np.nan], equal_nan=True)
    assert np.isnan(decode(encode(np.array([np.nan]), DType.FLOAT8_E4M3FN), DType.FLOAT8_E4M3FN)).all()


def test_halfway_goes_to_the_even_neighbour_and_too_large_to_the_largest():
    given = np.array([1.0625, 1.1875, 1.1874, 1e9, -1e9])
    assert decode(encode(given, DType.FLOAT8_E4M3FN), DType.FLOAT8_E4M3FN).tolist() == [1.0, 1.25, 1.125, 448.0, -448.0]

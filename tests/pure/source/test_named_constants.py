"""Constants that headers give names: host code and kernels have one table of them."""

from __future__ import annotations

import math
import struct

from porter.source.named_constants import named_constant


def test_a_constant_of_cuda_is_a_literal_or_its_bits() -> None:
    assert named_constant("CUDART_INF_F") == (math.inf, "float")
    assert named_constant("CUDART_PI_F") == (struct.unpack("f", struct.pack("f", math.pi))[0], "float")
    assert named_constant("CUDART_PI") == (math.pi, "double")
    assert named_constant("CUDART_TWO_TO_53") == (2.0**53, "double")


def test_bits_keep_their_sign() -> None:
    zero = named_constant("CUDART_NEG_ZERO_F")
    assert zero is not None
    assert math.copysign(1, zero[0]) == -1


def test_other_names_are_no_constants() -> None:
    assert named_constant("CUDART_HALF_OF_IT_F") is None

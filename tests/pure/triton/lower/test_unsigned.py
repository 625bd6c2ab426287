"""Unsigned numbers that Triton takes for no int32, beside what it holds as one."""

from pathlib import Path

import pytest

from porter.source.parse import parse
from porter.source.text import Source
from porter.syntax.read import read_unit
from porter_triton.lower import Dimension, LaunchInfo, lower_kernel


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("0xffffffffu - (unsigned)i", "4294967295 - tid.to(tl.uint32)"),
        ("(unsigned)i * 2654435761u", "tid.to(tl.uint32) * 2654435761"),
        ("(unsigned)i - 5u", "tid - 5"),  # the same bits, which the store converts
    ],
)
def test_numbers_beyond_int_are_met_by_unsigned_ones(expression, text):
    kernel = f"__global__ void k(unsigned* y) {{ int i = threadIdx.x; y[i] = {expression}; }}"
    unit = read_unit(parse(Source(Path("op.cu"), kernel)))
    lowered = lower_kernel(unit, unit.kernels[0], LaunchInfo((Dimension(64, ""), Dimension(1), Dimension(1)))).text
    assert text in lowered

"""Explicit specialisations of kernels as entries of their own."""

from pathlib import Path

from porter.source.parse import parse
from porter.source_text import Source
from porter_triton.port import port

KERNELS = """
template <typename T> __global__ void twice(T* x) { x[threadIdx.x] += x[threadIdx.x]; }
template <> __global__ void twice(double* x) { x[threadIdx.x] *= 2.0; }
"""


def test_the_kernel_of_a_specialisation_is_that_and_not_the_template():
    made = port(parse(Source(Path("op.cu"), KERNELS)), ())
    assert not made.findings
    text = made.files[0].text
    assert "value * 2.0" in text
    assert "def launch_twice(" in text
    assert "def launch_twice__2(" in text

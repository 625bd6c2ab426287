"""Variables of the device where the host code that writes them is not there."""

from pathlib import Path

import pytest

from porter.simt.device_variables import with_variables
from porter.source_text import Source


def marked(text):
    return "__attribute__((used))" in with_variables(Source(Path("a.cu"), text)).text


@pytest.mark.parametrize(
    "text",
    [
        "__constant__ float scale;",
        "static __device__ int table[4] = {1, 2};",
        "__device__ __constant__ float2 pair{1, 2};",
        "__align__(16) __device__ ns::Row<int, 4> row;",
        "__device__ alignas(16) float4 values[2];",
    ],
)
def test_a_variable_counts_as_written(text):
    assert marked(text)


@pytest.mark.parametrize(
    "text",
    [
        "__device__ float f(int n) { return n; }",
        "template <class T> __host__ __device__ T larger(T a, T b);",
        "auto f = [=] __device__ (int i) { return i; };",
        "__device__ struct Shape { int rows; };",
        "float scale;",
    ],
)
def test_what_is_no_variable_of_the_device_stays(text):
    assert not marked(text)

"""Distances in bytes, as arguments of a contract."""

from pathlib import Path

import pytest

from porter.contract.infer.draft import draft
from porter.source.parse import parse
from porter.source_text import Source


def value_of(name, text):
    (contract,) = draft(parse(Source(Path("op.cu"), text)))
    return next(a.value for a in contract.arguments if a.name == name)


@pytest.mark.parametrize(
    "row",
    [
        "(float*)((char*)x + blockIdx.x * pitch)",
        "reinterpret_cast<float*>(reinterpret_cast<char*>(x) + pitch * blockIdx.x)",
        "(float*)(blockIdx.x * pitch + (char*)x)",
    ],
)
def test_a_distance_in_bytes_is_a_multiple_of_the_element(row):
    text = f"__global__ void k(float* x, size_t pitch, int n) {{ float* row = {row}; row[threadIdx.x] *= 2; }}"
    assert value_of("pitch", text) == "4 * pitch"


def test_a_distance_in_elements_is_any_number():
    text = "__global__ void k(float* x, size_t pitch, int n) { x[blockIdx.x * pitch + threadIdx.x] *= 2; }"
    assert value_of("pitch", text) == "pitch"


def test_a_class_says_it_of_its_members():
    text = """
        template <typename T> struct Pointer { T* data; };
        template <typename T> struct Image : Pointer<T> {
          size_t step;
          __device__ T* row(int y) { return (T*)((char*)Pointer<T>::data + y * step); }
        };
        struct Rows { float* data; size_t step; __device__ float* row(int y) { return data + y * step; } };
        __global__ void k(Image<double> x, Rows y) { x.row(blockIdx.x)[threadIdx.x] = y.row(blockIdx.x)[threadIdx.x]; }
    """
    assert value_of("x.step", text) == "8 * x_step"
    assert value_of("y.step", text) == "y_step"


def test_rows_of_vectors_are_whole_vectors_apart():
    """A distance of one element more would leave the alignment of a vector."""
    text = """
        __global__ void k(float4* x, size_t pitch, int n) {
          float4* row = (float4*)((char*)x + blockIdx.x * pitch);
          row[threadIdx.x].x *= 2;
        }
    """
    assert value_of("pitch", text) == "16 * pitch"

"""Arrays within arrays and structs in memory are rows of one buffer; constants of a function may be static."""

from pathlib import Path

from porter.source.parse import parse
from porter.source.text import Source
from porter.syntax.read import read_unit
from porter_triton.lower import Dimension, LaunchInfo, lower_kernel

BLOCK = (Dimension(64, "BLOCK_SIZE"), Dimension(1), Dimension(1))
HEAD = """
__constant__ float filter[2][3][5];
struct Row { float first; float v[4]; };
"""


def lowered(parameters, body):
    unit = read_unit(parse(Source(Path("op.cu"), f"{HEAD}__global__ void k({parameters}) {{\n{body}\n}}")))
    return lower_kernel(unit, unit.kernels[0], LaunchInfo(BLOCK)).text


def test_a_constant_array_of_arrays_is_a_row_of_numbers():
    text = lowered("float* y, int a, int b", "y[threadIdx.x] = filter[a][b][threadIdx.x];")
    assert "tl.load(filter_ + a * 15 + b * 5 + tid)" in text


def test_an_array_in_a_struct_in_memory_begins_where_its_field_does():
    text = lowered("float* y, const Row* rows, int k", "y[threadIdx.x] = rows[threadIdx.x].v[k];")
    assert "tl.load(rows + tid * 5 + 1 + k)" in text


def test_a_static_constant_of_a_function_is_a_number():
    text = lowered("float* y", "static constexpr int kWidth = 4;\ny[threadIdx.x * kWidth] = kWidth;")
    assert "tl.store(y + tid * 4, 4.0)" in text or "tl.store(y + tid * 4, tl.full" in text

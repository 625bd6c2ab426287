"""Launchers of kernels that no host function launches."""

import ast
from pathlib import Path

from porter.source.parse import parse
from porter.source_text import Source
from porter_triton.port import port

KERNEL = (
    "__global__ void total(const float* x, float* total, int block, int grid) { total[threadIdx.x] = x[block] * grid; }"
)


def test_no_parameter_hides_the_kernel_or_its_launch():
    made = port(parse(Source(Path("op.cu"), KERNEL)), ())
    assert not made.findings
    (launcher,) = (
        f for f in ast.parse(made.files[0].text).body if isinstance(f, ast.FunctionDef) and f.name != "total"
    )
    taken = [a.arg for a in (*launcher.args.args, *launcher.args.kwonlyargs)]
    assert len(set(taken)) == len(taken) == 7
    assert "total" not in taken


INHERITED = """
template <typename T> struct Place { T* data; };
template <typename T> struct Rows : Place<T> {
  size_t step;
  __device__ T* row(int y) const { return (T*)((char*)Place<T>::data + y * step); }
};
__global__ void doubled(Rows<float> x, int n) { if (threadIdx.x < n) x.row(blockIdx.x)[threadIdx.x] *= 2.0f; }
"""


def test_fields_of_a_base_are_passed_by_their_names():
    made = port(parse(Source(Path("op.cu"), INHERITED)), ())
    assert not made.findings
    assert "def launch_doubled(x_data, x_step, n, *, grid, block, shared_bytes=0):" in made.files[0].text

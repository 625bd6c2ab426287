"""Dynamic shared memory of a bare kernel: that of the file's own launch, in the kernel's own words, else a guess."""

from pathlib import Path

import pytest

from porter.contract.expressions import evaluate
from porter.contract.launch import GUESSED_SHARED_BYTES, launch_shape
from porter.contract.usage import Usage
from porter.source.parse import parse
from porter.source.text import Source

KERNEL = """
__global__ void row_sum(const float* x, float* y, int rows, int cols) {
    extern __shared__ float row[];
    row[threadIdx.x] = x[blockIdx.x * cols + threadIdx.x];
    y[blockIdx.x] = row[0];
}
"""


def shared_bytes(launch):
    program = parse(
        Source(Path("op.cu"), f"{KERNEL}static void bench(const float* a, float* b, int m, int n) {{ {launch} }}")
    )
    shape, _ = launch_shape(Usage(program), program.kernels[0], ("rows", "cols"))
    return shape.shared_bytes


@pytest.mark.parametrize(
    "launch",
    [
        "row_sum<<<m, 128, n * sizeof(float)>>>(a, b, m, n);",
        "size_t bytes = n * sizeof(float); row_sum<<<m, 128, bytes>>>(a, b, m, n);",
    ],
)
def test_what_the_launch_asks_for_is_in_the_kernels_words(launch):
    assert evaluate(shared_bytes(launch), {"rows": 7, "cols": 100}) == 400


@pytest.mark.parametrize(
    "launch", ["", "row_sum<<<m, 128, budget()>>>(a, b, m, n);", "row_sum<<<m, 128>>>(a, b, m, n);"]
)
def test_what_hangs_on_anything_else_is_a_guess(launch):
    assert shared_bytes(launch) == GUESSED_SHARED_BYTES

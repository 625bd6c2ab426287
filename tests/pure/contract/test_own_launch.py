"""Launches of a bare kernel: those of the file, in the kernel's own words, else guesses that the draft asks about."""

from pathlib import Path

import pytest

from porter.contract.analysis.usage import Usage
from porter.contract.infer.draft import draft_each
from porter.contract.infer.launch import GUESSED_SHARED_BYTES, launch_shape
from porter.contract.model.expressions import evaluate
from porter.contract.model.questions import guessed_launch
from porter.source.parse import parse
from porter.source_text import Source

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


HEADER = (
    "namespace lib { const int BLOCK = 512; inline int threads(int n) { const int BLOCK = 64; return n / BLOCK; } }"
)


def drafted(launch):
    """The contract of the kernel alone, whose source includes a header with a constant."""
    host = f"namespace lib {{ void bench(const float* a, float* b, int m, int n) {{ {launch} }} }}"
    program = parse(Source(Path("op.cu"), f'#include "lib.h"\n{KERNEL}{host}'))
    (contract,) = draft_each(Usage(program, (Source(Path("lib.h"), HEADER),)), program.kernels)
    return contract


@pytest.mark.parametrize(("block", "threads"), [("128", "128"), ("BLOCK", "512"), ("2 * 32", "64")])
def test_a_block_of_constants_is_the_sources_own(block, threads):
    contract = drafted(f"row_sum<<<m, {block}, 64>>>(a, b, m, n);")
    assert contract.entry.launch.block == (threads, "1", "1")
    assert guessed_launch(contract) is None


@pytest.mark.parametrize(
    ("launch", "said"),
    [
        ("", "the source does not say how 'row_sum' is launched"),
        (
            "row_sum<<<m, lib::threads(n)>>>(a, b, m, n);",
            "no launch of 'row_sum' gives the size of its blocks as numbers",
        ),
    ],
)
def test_any_other_block_is_asked_about(launch, said):
    question = guessed_launch(drafted(launch))
    assert question is not None
    assert question.text == said


def test_a_launch_whose_arguments_say_its_blocks_is_the_kernels_own():
    contract = drafted("row_sum<<<m, n, n * sizeof(float)>>>(a, b, m, n);")
    assert contract.entry.launch.grid == ("rows", "1", "1")
    assert contract.entry.launch.block == ("cols", "1", "1")
    assert "cols <= 1024" in contract.conditions
    assert guessed_launch(contract) is None


def test_a_launch_by_anything_else_is_asked_about():
    assert guessed_launch(drafted("row_sum<<<m, threads(n)>>>(a, b, m, n);")) is not None


def test_blocks_that_a_kernel_tells_apart_are_no_limit_of_its_grid():
    text = """__global__ void k(const float* x, float* y, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (blockIdx.x == 0 && blockIdx.x >= 0) y[n] = 1;
        if (i < n) y[i] = x[i];
    }"""
    program = parse(Source(Path("op.cu"), text))
    shape, _ = launch_shape(Usage(program), program.kernels[0], ("n",))
    assert evaluate(shape.grid[0], {"n": 1000}) > 3


def test_constants_that_are_infinite_are_no_extents():
    text = "#define FAR (1e300 * 1e300)\n" + KERNEL
    program = parse(Source(Path("op.cu"), text))
    shape, _ = launch_shape(Usage(program), program.kernels[0], ("rows", "cols"))
    assert shape.block[1:] == ("1", "1")

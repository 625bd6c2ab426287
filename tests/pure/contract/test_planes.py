"""Counts that kernels take apart, where no host function says what they count."""

from pathlib import Path

import pytest

from porter.contract.infer.draft import draft
from porter.contract.model.contract import Contract
from porter.source.parse import parse
from porter.source_text import Source


def drafted(body: str) -> Contract:
    head = "__global__ void pool(int count, const float* x, int C, int H, int W, int window, float* y)"
    guard = "int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < count)"
    (contract,) = draft(parse(Source(Path("op.cu"), f"{head} {{ {guard} {{ {body} }} }}")))
    return contract


def count_of(contract: Contract) -> str:
    return next(a.value for a in contract.arguments if a.name == "count")


@pytest.mark.parametrize(
    "body",
    [
        "int w = i % W; int h = (i / W) % H; int c = i / W / H; y[i] = x[(c * H + h) * W + w];",
        "int w = i % W, h = (i / W) % H; y[i] = x[h] + w;",
    ],
)
def test_a_kernel_alone_has_whole_planes(body):
    contract = drafted(body)
    assert count_of(contract) == "count * W * H"
    assert contract.entry.launch.grid[0].startswith("cdiv((count * W * H), ")
    assert all(w.sizes["count"] for w in contract.workloads)


def test_rows_of_one_size_may_end_anywhere():
    assert count_of(drafted("y[i] = x[i % W] + x[i / W];")) == "count"


def test_the_step_of_a_window_is_no_axis():
    """A place in a row is divided by it, and the rows are as long as they are."""
    assert count_of(drafted("int w = i % W, h = (i / W) % H; y[i] = x[h / window] + w;")) == "count * W * H"


def test_a_size_that_divides_a_place_in_a_row_is_one():
    assert count_of(drafted("int w = i % W, h = (i / W) % H; y[i] = x[h / C] + w;")) == "count * W * H * C"

"""Candidates against a Python reference that are right at small sizes alone, and honest ones beside them."""

import pytest

from porter.evaluate.model.migration import MigrateOptions
from porter.evaluate.verify import verify

SOFTMAX = """
import torch

def reference(x):
    return torch.softmax(x, dim=-1)

def get_inputs():
    return [torch.randn(1024, 4096)]
"""
ROWS = """
import torch, triton, triton.language as tl

@triton.jit
def softmax(x, y, rows, columns, programs, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    for row in range(tl.program_id(0), rows, programs):
        v = tl.load(x + row * columns + i, i < columns, float("-inf"))
        e = tl.exp(v - tl.max(v, axis=0))
        tl.store(y + row * columns + i, e / tl.sum(e, axis=0), i < columns)

def forward(x):
    rows, columns = x.shape
    y = torch.empty_like(x)
    if y.numel():
        programs = min(rows, 13)
        width = triton.next_power_of_2(columns)
        softmax[(programs,)](x, y, rows, columns, programs, width)
    return y
"""
PRODUCT = """
import torch

def reference(a, b):
    return a @ b

def get_inputs():
    return [torch.randn(512, 768), torch.randn(768, 256)]
"""
TILES = """
import torch, triton, triton.language as tl

@triton.jit
def product(a, b, c, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    rows = tl.program_id(0) * M + tl.arange(0, M)[:, None]
    columns = tl.program_id(1) * N + tl.arange(0, N)[None, :]
    total = tl.zeros((M, N), dtype=tl.float32)
    for at in range(0, k, K):
        inner = at + tl.arange(0, K)
        x = tl.load(a + rows * k + inner[None, :], (rows < m) & (inner[None, :] < k), 0.0)
        y = tl.load(b + inner[:, None] * n + columns, (inner[:, None] < k) & (columns < n), 0.0)
        total += tl.dot(x, y, input_precision="ieee")
    tl.store(c + rows * n + columns, total, (rows < m) & (columns < n))

def forward(a, b):
    (m, k), n = a.shape, b.shape[1]
    c = torch.empty((m, n), device=a.device, dtype=a.dtype)
    if c.numel():
        product[(triton.cdiv(m, 16), triton.cdiv(n, 64))](a, b, c, m, n, k, 16, 64, 64)
    return c
"""


@pytest.fixture
def judged(tmp_path, build_cache):
    """What is said of a candidate held to a reference."""

    def judge(reference, candidate):
        (tmp_path / "op.py").write_text(reference)
        (tmp_path / "candidate.py").write_text(candidate)
        options = MigrateOptions("triton", build_cache, seed=3)
        return verify(tmp_path / "candidate.py", tmp_path / "op.py", options, lambda _: None).outcome

    return judge


@pytest.mark.parametrize(("reference", "honest"), [(SOFTMAX, ROWS), (PRODUCT, TILES)])
def test_candidates_that_are_right_at_every_size_are_verified(judged, reference, honest):
    outcome = judged(reference, honest)
    assert outcome.label == "verified", outcome.because


@pytest.mark.parametrize(
    ("reference", "honest", "right", "wrong", "workload"),
    [
        (PRODUCT, TILES, "triton.cdiv(m, 16), ", "1, ", "several tiles"),
        (SOFTMAX, ROWS, "](x, y, rows, ", "](x, y, programs, ", "several tiles"),
        (SOFTMAX, ROWS, "triton.next_power_of_2(columns)", "min(1024, triton.next_power_of_2(columns))", "a long axis"),
    ],
)
def test_what_is_left_out_at_large_sizes_alone_is_seen(judged, reference, honest, right, wrong, workload):
    assert honest.count(right) == 1
    outcome = judged(reference, honest.replace(right, wrong))
    assert outcome.label == "wrong", outcome
    assert f"(workload '{workload}" in outcome.because

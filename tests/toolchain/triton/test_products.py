"""Products of tiles are as precise as on a device: of float32, tensor cores take 10 bits behind the point."""

from __future__ import annotations

import pytest

from porter.evaluate.model.migration import MigrateOptions
from porter.evaluate.model.outcome import Verified, Wrong
from porter.evaluate.verify import verify

REFERENCE = """\
import torch

def reference(a, b):
    return a @ b

def get_inputs():
    return [torch.randn(2048, 1024), torch.randn(1024, 4096)]
"""
CANDIDATE = """\
import torch
import triton
import triton.language as tl

@triton.jit
def kernel(a, b, c, M, N, K, B: tl.constexpr):
    m, n = tl.program_id(0) * B + tl.arange(0, B), tl.program_id(1) * B + tl.arange(0, B)
    total = tl.zeros((B, B), tl.float32)
    for first in range(0, K, B):
        k = first + tl.arange(0, B)
        x = tl.load(a + m[:, None] * K + k[None, :], mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)
        y = tl.load(b + k[:, None] * N + n[None, :], mask=(k[:, None] < K) & (n[None, :] < N), other=0.0)
        total = tl.dot(x, y, total)
    tl.store(c + m[:, None] * N + n[None, :], total, mask=(m[:, None] < M) & (n[None, :] < N))

def forward(a, b):
    (M, K), N = a.shape, b.shape[1]
    c = a.new_empty((M, N))
    if c.numel():
        kernel[(triton.cdiv(M, 32), triton.cdiv(N, 32))](a, b, c, M, N, K, B=32)
    return c
"""


@pytest.mark.parametrize(("how", "outcome"), [("", Wrong), (', input_precision="ieee"', Verified)])
def test_operands_of_a_product_have_the_bits_that_a_device_takes(build_cache, tmp_path, how, outcome):
    (tmp_path / "mm.py").write_text(REFERENCE)
    (tmp_path / "candidate.py").write_text(CANDIDATE.replace("y, total)", f"y, total{how})"))
    options = MigrateOptions("triton", build_cache, seed=7)
    found = verify(tmp_path / "candidate.py", tmp_path / "mm.py", options, lambda _: None)
    assert isinstance(found.outcome, outcome), found.outcome

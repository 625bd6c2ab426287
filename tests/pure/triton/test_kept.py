"""Rows read once: which kernels get a twin that keeps them, and what it looks like."""

import ast
from pathlib import Path

import pytest

from porter.backend import PortedFile
from porter.source_text import Source
from porter_triton.rewrites import rewrites

RULE = "rows kept on the chip"
TEXT = """\
import triton
import triton.language as tl


@triton.jit
def norm(x, y, n: tl.int32, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    row = tl.program_id(0) * n
    ahead = tl.arange(0, 4)[:, None] * 256
    sums = tl.zeros([4, BLOCK], tl.float32)
    for tile in range(0, n, 1024):
        base = tile + ahead
        i = base + lane
        sums = sums + tl.load(x + row + i, mask=i < n, other=0.0, eviction_policy="evict_last")
    total = tl.sum(sums)
    ahead_2 = tl.arange(0, 4)[:, None] * 256
    for tile_2 in range(0, n, 1024):
        base_2 = tile_2 + ahead_2
        i_2 = base_2 + lane
        mask = i_2 < n
        tl.store(y + row + i_2, tl.load(x + row + i_2, mask=mask, other=0.0) * total, mask=mask)


def forward(x, y):
    rows, columns = x.shape
    norm[(rows,)](
        x, y, columns, BLOCK=256, num_warps=4
    )
"""
KEPT = """\
@triton.jit
def norm__kept(x, y, n: tl.int32, BLOCK: tl.constexpr, TURNS: tl.constexpr):
    # norm with all turns in one tile, loaded once
    lane = tl.arange(0, BLOCK)
    row = tl.program_id(0) * n
    ahead = tl.arange(0, TURNS)[:, None] * 256
    sums = tl.zeros([TURNS, BLOCK], tl.float32)
    tile = 0
    base = tile + ahead
    i = base + lane
    kept = tl.load(x + row + i, mask=i < n, other=0.0)
    sums = sums + kept
    total = tl.sum(sums)
    ahead_2 = tl.arange(0, TURNS)[:, None] * 256
    tile_2 = 0
    base_2 = tile_2 + ahead_2
    i_2 = base_2 + lane
    mask = i_2 < n
    tl.store(y + row + i_2, kept * total, mask=mask)


"""
CHOICE = """\
    if 0 < columns <= 16384:
        norm__kept[(rows,)](
            x, y, columns, BLOCK=256, num_warps=4, TURNS=triton.next_power_of_2(triton.cdiv(columns, 256)))
    else:
        norm[(rows,)](
            x, y, columns, BLOCK=256, num_warps=4
        )
"""


def kept(text):
    found = {one.rule: one for one in rewrites((PortedFile("op.py", text, Source(Path("op.py"), text)),))}
    return found[RULE].files[0].text if RULE in found else None


def test_what_two_passes_read_is_loaded_once_where_it_fits_a_tile():
    text = kept(TEXT)
    ast.parse(text)
    kernel, host = TEXT.split("def forward")
    assert text == kernel + KEPT + "def forward" + host.split("    norm[")[0] + CHOICE


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("tl.load(x + row + i_2", "tl.load(x + row + 1 + i_2"),  # another place
        ("mask = i_2 < n", "mask = i_2 < n - 1"),  # what the first pass has there is not what is wanted behind the mask
        ("range(0, n, 1024):\n        base_2", "range(0, BLOCK, 1024):\n        base_2"),
        ("range(0, n, 1024):\n        base_2", "range(256, n, 1024):\n        base_2"),
        ("tl.store(y + row + i_2", "tl.store(x + row + i_2"),  # what is read is written, too
        ("total = tl.sum(sums)", "total = tl.sum(sums)\n    row = row + 1"),
        ("total = tl.sum(sums)", "total = tl.sum(sums)\n    tl.atomic_add(x + row, total)"),
        ("other=0.0, eviction", "eviction"),
        ("norm[(rows,)]", "done = norm[(rows,)]"),
        ("x, y, columns, B", "x, y, x.numel(), B"),
        ("BLOCK=256", "BLOCK=width"),
    ],
)
def test_what_may_differ_is_read_again(before, after):
    assert TEXT.count(before) == 1
    assert kept(TEXT.replace(before, after)) is None


def test_what_is_kept_is_not_kept_again():
    assert kept(kept(TEXT)) is None

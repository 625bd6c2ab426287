"""What can be turned in the text of a module of kernels, and what keeps a tile as wide as it is."""

import ast
from pathlib import Path

import pytest

from porter.backend import PortedFile
from porter.evolve.space import AS_IS
from porter.source_text import Source
from porter_triton.features import features
from porter_triton.schedules import knobs, tuned
from porter_triton.targets import targets

HEAD = "import torch\nimport triton\nimport triton.language as tl\n\n\n"
ROWS = (
    HEAD
    + '''\
@triton.jit
def halve(x):
    """Half of x."""
    return tl.where(x > 0.0, x * 0.5, x)


@triton.jit
def norm(x, y, n: tl.int32, BLOCK_SIZE: tl.constexpr):
    tid = tl.arange(0, BLOCK_SIZE)
    row = x + tl.program_id(0).to(tl.int64) * n
    out = y + tl.program_id(0).to(tl.int64) * n
    total = tl.zeros([BLOCK_SIZE], tl.float32)
    for base in range(0, n, 256):
        i = base + tid
        total = total + halve(tl.load(row + i, mask=i < n, other=0.0))
    whole = tl.sum(total, axis=0)
    for base in range(0, n, 256):
        i = base + tid
        tl.store(out + i, tl.load(row + i, mask=i < n) / whole, mask=i < n)


def forward(x):
    y = torch.empty_like(x)
    norm[(x.shape[0],)](x, y, x.shape[1], BLOCK_SIZE=256, num_warps=4)  # é keeps places honest
    return y
'''
)
ELEMENTS = (
    HEAD
    + """\
@triton.jit
def double(x, y, n: tl.int64, BLOCK_SIZE: tl.constexpr):
    tid = tl.arange(0, BLOCK_SIZE)
    i = tl.program_id(0).to(tl.int64) * BLOCK_SIZE + tid
    tl.store(y + i, tl.load(x + i, mask=i < n) * 2.0, mask=i < n)


def forward(x):
    y = torch.empty_like(x)
    n = x.numel()
    threads = 256
    blocks = triton.cdiv(n, threads)
    double[(blocks,)](x, y, n, BLOCK_SIZE=256)
    return y
"""
)


TURNS = (
    HEAD
    + """
@triton.jit
def total(x, sums, n: tl.int32, BLOCK_SIZE: tl.constexpr):
    lane = tl.arange(0, BLOCK_SIZE)
    ahead = tl.arange(0, 4)[:, None] * 256
    sum_turns = tl.zeros([4, BLOCK_SIZE], tl.float32)
    for tile in range(0, n, 1024):
        base = tile + ahead
        i = base + lane
        sum_turns += tl.load(x + i, mask=i < n, other=0.0)
    tl.store(sums, tl.sum(sum_turns))


@triton.jit
def scale(x, sums, y, n: tl.int32, BLOCK_SIZE: tl.constexpr):
    lane = tl.arange(0, BLOCK_SIZE)
    ahead = tl.arange(0, 4)[:, None] * tl.num_programs(0) * 256
    for tile in range(tl.program_id(0) * 256, n, 4 * tl.num_programs(0) * 256):
        i = tile + ahead + lane
        tl.store(y + i, tl.load(x + i, mask=i < n) / tl.load(sums), mask=i < n)


def forward(x):
    y, sums = torch.empty_like(x), x.new_empty(1)
    total[(1,)](x, sums, x.numel(), BLOCK_SIZE=256, num_warps=4)
    scale[(32,)](x, sums, y, x.numel(), BLOCK_SIZE=256, num_warps=4)
    return y
"""
)


def file(text):
    return (PortedFile("op.py", text, Source(Path("op.py"), text)),)


def values(text):
    return {knob.name: knob.values for knob in knobs(file(text), targets()[0])}


def turned(text, **point):
    found = tuned(file(text), {name.replace("__", "."): value for name, value in point.items()}, targets()[0])
    if found is None:
        return None
    ast.parse(found[0].text)
    return found[0].text


def test_a_row_kernel_has_these_knobs():
    assert values(ROWS) == {
        "norm.width": (AS_IS, 64, 128, 512, 1024, 2048, 4096, 8192),
        "norm.num_warps": (AS_IS, 1, 2, 4, 8, 16, 32),
        "norm.num_stages": (AS_IS, 1, 2, 3, 4),
        "norm.loop_unroll_factor": (AS_IS, 2, 4, 8),
        "norm.x.loads": (AS_IS, "evict_first", "evict_last", "evict_last, then evict_first"),
        "norm.y.stores": (AS_IS, "evict_first"),
    }


def test_the_width_of_tiles_is_turned_everywhere_at_once():
    assert turned(ROWS, norm__width=1024) == ROWS.replace("256", "1024")
    assert turned(ELEMENTS, double__width=1024) == ELEMENTS.replace("256", "1024")


def test_a_tile_has_rows_for_any_number_of_turns():
    assert values(TURNS)["total.turns"] == values(TURNS)["scale.turns"] == (AS_IS, 1, 2, 8, 16)
    text = TURNS.replace("arange(0, 4)", "arange(0, 8)").replace("4 * tl.num", "8 * tl.num")
    text = text.replace("[4, BLOCK", "[8, BLOCK").replace("n, 1024)", "n, 2048)")
    assert turned(TURNS, total__turns=8, scale__turns=8) == text


@pytest.mark.parametrize(
    ("kernel", "before", "after"),
    [
        ("total", "n, 1024)", "n, 512)"),  # each turn begins in the middle of the one before
        ("scale", "n, 4 * tl.num_programs(0) * 256)", "n, 4 * tl.num_programs(0) * 128)"),
        ("total", "base = tile + ahead", "base = tile - ahead"),
        ("scale", "tile + ahead + lane", "tile + ahead + lane + ahead"),
        ("total", "+= tl.load", "+= tl.zeros([4, BLOCK_SIZE], tl.float32) + tl.load"),
        ("total", "base + lane", "base + tl.arange(0, 256)"),
    ],
)
def test_rows_that_something_else_knows_stay(kernel, before, after):
    assert TURNS.count(before) == 1
    assert f"{kernel}.turns" not in values(TURNS.replace(before, after))


def test_warps_are_turned_or_added():
    assert "BLOCK_SIZE=256, num_warps=8)" in turned(ROWS, norm__num_warps=8)
    assert "BLOCK_SIZE=256, num_warps=2)" in turned(ELEMENTS, double__num_warps=2)


def test_more_warps_than_a_tile_has_work_for_are_refused_until_it_is_wider():
    assert turned(ROWS, norm__num_warps=16) is None
    assert "num_warps=16" in turned(ROWS, norm__num_warps=16, norm__width=512)
    assert turned(ROWS, norm__num_warps=1, norm__width=8192) is None


def test_loops_get_stages_and_unrolling_together():
    text = turned(ROWS, norm__num_stages=3, norm__loop_unroll_factor=4)
    assert text.count("in tl.range(0, n, 256, loop_unroll_factor=4, num_stages=3):") == 2
    assert turned(text, norm__num_stages=2).count("loop_unroll_factor=4, num_stages=2") == 2


def test_what_is_read_twice_is_given_up_the_second_time():
    text = turned(ROWS, norm__x__loads="evict_last, then evict_first")
    assert text.index('other=0.0, eviction_policy="evict_last")') < text.index('eviction_policy="evict_first")')
    assert 'mask=i < n, eviction_policy="evict_first")\n' in turned(ROWS, norm__y__stores="evict_first")


def test_a_knob_that_the_text_has_not_is_refused():
    assert turned(ELEMENTS, norm__num_warps=4) is None
    assert turned("no python at all (", norm__num_warps=4) is None
    assert values("no python at all (") == {}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("tl.sum(total, axis=0)", "tl.sum(tl.reshape(total, [8, 32]), axis=1)"),
        ("whole = ", "total = tl.where(tid < 32, total, 0.0)\n    whole = "),
        ("whole = ", "lane = tid % 32\n    whole = "),
        ("i = base + tid", "i = base + tid * 2"),
        ("range(0, n, 256)", "range(0, n, 512)"),
        ("(row + i, mask=i < n, other=0.0)", "(row + i + 256, mask=i < n, other=0.0)"),
        ("x * 0.5", "x * x.shape[0]"),
        ("tl.sum(total, axis=0)", "tl.gather(total, tid, 0)"),
        ("BLOCK_SIZE=256", "BLOCK_SIZE=x.shape[1]"),
    ],
)
def test_the_width_is_not_free_where_something_else_knows_it(before, after):
    assert before in ROWS
    assert "norm.width" not in values(ROWS.replace(before, after))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("triton.cdiv(n, threads)", "n // threads"),
        ("    return y\n", "    assert n > 256\n    return y\n"),
        ("    return y\n", "    double[(blocks,)](x, y, n, BLOCK_SIZE=128)\n    return y\n"),
    ],
)
def test_the_width_is_not_free_where_the_grid_does_not_follow(before, after):
    assert before in ELEMENTS
    assert "double.width" not in values(ELEMENTS.replace(before, after))


def test_a_loop_over_the_grid_needs_no_grid_that_follows():
    loop = ELEMENTS.replace(
        "    i = tl.program_id(0).to(tl.int64) * BLOCK_SIZE + tid\n    tl",
        "    step = tl.num_programs(0).to(tl.int64) * BLOCK_SIZE\n"
        "    for base in range(tl.program_id(0).to(tl.int64) * BLOCK_SIZE, n, step):\n"
        "        i = tl.cast(base, tl.int64) + tid\n        tl",
    ).replace("triton.cdiv(n, threads)", "min(n, 4096)")
    assert "double.width" in values(loop)
    assert "BLOCK_SIZE=512" in turned(loop, double__width=512)


def test_instances_of_a_template_are_turned_together():
    both = ROWS.replace(
        "def forward",
        ROWS[ROWS.index("@triton.jit\ndef norm") : ROWS.index("def forward")].replace("def norm(", "def norm__2(")
        + "def forward",
    ).replace("    return y\n", "    norm__2[(9,)](x, y, 7, BLOCK_SIZE=256, num_warps=4)\n    return y\n")
    assert values(both) == values(ROWS)
    assert turned(both, norm__num_warps=8).count("num_warps=8") == 2


def test_what_tunes_itself_is_left_alone():
    tuned_by_itself = ELEMENTS.replace("@triton.jit\n", "@triton.autotune(configs=[], key=[])\n@triton.jit\n")
    assert values(tuned_by_itself) == {}


CHOSEN = """\
    if n <= 1024:
        short[(9,)](x, y, 7, BLOCK_SIZE=256)
    else:
        norm[(9,)](x, y, 7, BLOCK_SIZE=256)
    return y


@triton.jit
def short(x, y, n: tl.int32, BLOCK_SIZE: tl.constexpr):
    i = tl.arange(0, BLOCK_SIZE)
    row = halve(tl.load(x + i, mask=i < n, other=0.0))
    tl.store(y + i, row / tl.sum(row, axis=0), mask=i < n)
"""
BOTH = CHOSEN.replace("    if n <= 1024:\n    ", "").replace("    else:\n    ", "")


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        (ELEMENTS, (0, 0, 0)),
        (ELEMENTS.replace("256", "512"), (1, 0, 0)),
        (ROWS, (0, 2, 1)),
        (ROWS.replace("range(0, n, 256)", "tl.range(0, n, 256, num_stages=3)"), (3, 2, 1)),
        (ROWS.replace("tl.sum(total, axis=0)", "tl.cumsum(total, axis=0)"), (0, 2, 2)),
        (ELEMENTS.replace("tl.store(", "tl.atomic_add("), (0, 3, 0)),
        (ELEMENTS.replace("* 2.0", "+ tl.dot(x, y)"), (2, 2, 3)),
        ("no python (", (0, 0, 0)),
        (ROWS[: ROWS.index("    norm[")] + CHOSEN, (2, 2, 1)),  # the form for short rows tells, not the one beside it
        (ROWS[: ROWS.index("    norm[")] + BOTH, (0, 3, 1)),
    ],
)
def test_features_of_a_module(text, cell):
    assert features(text) == cell

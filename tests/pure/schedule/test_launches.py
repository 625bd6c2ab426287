"""Tiles fitted to the sizes of a call: no wider than what they are of, and as many elements for each warp."""

import pytest
from triton import cdiv
from triton import next_power_of_2 as pow2ceil

from porter.schedule.operator import operator
from porter.schedule.schedule import Algorithm, Schedule
from tests.pure.schedule.programs import ALL

HOST = {"min": min, "max": max, "cdiv": cdiv, "pow2ceil": pow2ceil, "__builtins__": {}}
FLAT = Schedule(Algorithm.FLAT, columns=256, warps=4)
STREAMED = Schedule(Algorithm.STREAMED, columns=4096, warps=8)
TILED = Schedule(Algorithm.STREAMED, rows=128, columns=32, warps=8)
HELD = Schedule(Algorithm.HELD, columns=4000, warps=8)
GROUPS = {"batch": 2, "channels": 12, "groups": 3}
POOL = {"stride": 1, "padding": 0, "window": 3}


def computed(found, sizes):
    """Returns all sizes that host code has of a call."""
    known = dict(sizes)
    for own, host in found.sizes:
        known[own] = eval(host.text, HOST, known)
    return known


def launched(name, schedule, sizes, *, is_fitted=True):
    """Returns the grid, the blocks and the warps of the launch of a program at `sizes`."""
    found = operator(ALL[name], (), lambda _: schedule, is_fitted=is_fitted)
    known = computed(found, sizes)
    (launch,) = found.launches
    blocks = {block: eval(host.text, HOST, known) for block, host in launch.blocks}
    (grid,) = (eval(host.text, HOST, known) for host in launch.grid)
    return grid, blocks, eval(launch.warps.text, HOST, known)


@pytest.mark.parametrize(
    ("name", "schedule", "sizes", "told"),
    [
        ("softmax", STREAMED, {"rows": 9, "columns": 100_000}, (9, {"BLOCK_COLUMNS": 4096}, 8)),
        ("softmax", STREAMED, {"rows": 9, "columns": 300}, (9, {"BLOCK_COLUMNS": 512}, 1)),
        ("softmax", STREAMED, {"rows": 9, "columns": 0}, (9, {"BLOCK_COLUMNS": 32}, 1)),
        ("softmax", HELD, {"rows": 9, "columns": 4000}, (9, {"BLOCK_COLUMNS": 4096}, 8)),
        ("softmax", HELD, {"rows": 9, "columns": 600}, (9, {"BLOCK_COLUMNS": 1024}, 2)),
        ("softmax", HELD, {"rows": 9, "columns": 60_000}, (9, {"BLOCK_COLUMNS": 65536}, 32)),
        (
            "column_mean",
            TILED,
            {"rows": 500, "columns": 1000},
            (8, {"BLOCK_ROWS": 128, "BLOCK_COLUMNS": 32}, 8),
        ),
        ("column_mean", TILED, {"rows": 5, "columns": 30}, (1, {"BLOCK_ROWS": 32, "BLOCK_COLUMNS": 8}, 1)),
        (
            "pool of planes",
            FLAT,
            {**POOL, "rows": 12, "columns": 302},
            (20, {"BLOCK_ROWS": 1, "BLOCK_COLUMNS": 256}, 4),
        ),
        ("pool of planes", FLAT, {**POOL, "rows": 12, "columns": 20}, (2, {"BLOCK_ROWS": 8, "BLOCK_COLUMNS": 32}, 4)),
        ("pool of planes", FLAT, {**POOL, "rows": 3, "columns": 3}, (1, {"BLOCK_ROWS": 1, "BLOCK_COLUMNS": 1}, 1)),
    ],
)
def test_tiles_are_no_wider_than_what_they_are_of(name, schedule, sizes, told):
    assert launched(name, schedule, sizes) == told


def test_tiles_of_kernels_that_are_compiled_before_stay_as_they_are():
    found = operator(ALL["softmax"], (), lambda _: STREAMED)
    (launch,) = found.launches
    assert (launch.blocks[0][1].text, launch.warps.text) == ("4096", "8")


@pytest.mark.parametrize(
    ("columns", "pieces"), [(8193, (2, 4112)), (39_320, (5, 7872)), (393_216, (48, 8192)), (1_000_000, (48, 20_848))]
)
def test_programs_that_share_a_row_have_as_much_of_it_as_each_other(columns, pieces):
    found = operator(ALL["softmax"], (), lambda _: Schedule(Algorithm.SHARED, parts=48, warps=16), is_fitted=True)
    known = computed(found, {"rows": 9, "columns": columns})
    assert (known["row_parts"], known["piece_columns"]) == pieces


@pytest.mark.parametrize(("channels", "parts"), [(2, 2 * 8), (16, 16 * 4), (64, 64), (65, 65)])
def test_more_channels_a_group_have_longer_pieces_so_that_no_more_programs_wait(channels, parts):
    found = operator(ALL["group_norm"], (), lambda _: Schedule(Algorithm.SHARED, parts=8, warps=16), is_fitted=True)
    known = computed(found, {"batch": 2, "groups": 3, "channels": 3 * channels, "width": 65_536})
    assert known["row_parts"] == parts
    (fits,) = [eval(condition.text, HOST, known) for condition, because in found.demands if "wait" in because]
    assert fits == (channels <= 64)


@pytest.mark.parametrize(
    ("name", "schedule", "strides"),
    [
        ("softmax", STREAMED, {"columns"}),
        ("column_mean", TILED, {"columns"}),
        ("pointwise", FLAT, set()),  # one loop from the first element to the last
        ("pool", FLAT, set()),  # windows begin anywhere
        ("group_norm", HELD, {"width", "channels_width", "channels_width_per_groups"}),  # no weight of a channel
    ],
)
def test_strides_are_the_sizes_that_tell_where_rows_begin(name, schedule, strides):
    found = operator(ALL[name], (), lambda _: schedule, is_fitted=True)
    (kernel,) = found.kernels
    assert set(kernel.strides) == strides


def test_kernels_that_are_compiled_before_have_tiles_for_short_rows():
    (flat,) = operator(ALL["pool of planes"], (), lambda _: FLAT).launches
    extents = [tuple(host.text for _, host in one.blocks) for one in (flat, *flat.narrower)]
    assert extents == [("1", "256"), ("2", "128"), ("4", "64"), ("8", "32"), ("16", "16")]
    (row,) = operator(ALL["softmax"], (), lambda _: STREAMED).launches
    assert row.row is not None
    assert row.row.text == "columns"
    fitted = operator(ALL["pool of planes"], (), lambda _: FLAT, is_fitted=True).launches
    assert not fitted[0].narrower

"""The first schedule in the order: tiles by the bytes that lanes move, and rows that one program holds."""

from fractions import Fraction

import pytest

from porter.contract.model.dtype import DType
from porter.evaluate.formula.scheduled import Sizes
from porter.ir.tensor.expressions import Combine
from porter.ir.tensor.retyped import retyped
from porter.ir.tile.expressions import Load, parts
from porter.ir.tile.program import Await, Let, Store, statements
from porter.schedule.nests import nests
from porter.schedule.operator import operator
from porter.schedule.schedule import Algorithm, Schedule
from porter.schedule.space import all_schedules, schedules
from tests.pure.schedule import programs
from tests.pure.schedule.programs import ALL


def first(name, dtype, **sizes):
    (nest,) = nests(retyped(ALL[name], {"x": dtype, "weight": dtype}))
    return schedules(nest, Sizes({key: Fraction(value) for key, value in sizes.items()}))[0]


@pytest.mark.parametrize(
    ("name", "sizes", "single", "half"),
    [
        (
            "softmax",
            {"rows": 4096, "columns": 393_216},
            Schedule(Algorithm.SHARED, columns=393_216, parts=24, warps=16),
            Schedule(Algorithm.STREAMED, columns=8192, warps=8, holds_short=True),
        ),
        (
            "group_norm",  # of so many channels a group that programs cannot wait for each other
            {"batch": 2, "channels": 4096, "groups": 2, "width": 262_144},
            Schedule(Algorithm.APART, columns=8192, parts=256, warps=16),
            Schedule(Algorithm.APART, columns=16384, parts=256, warps=16),
        ),
        (
            "column_mean",
            {"rows": 4096, "columns": 524_160},
            Schedule(Algorithm.STREAMED, rows=64, columns=4, warps=8, unrolled=8),
            Schedule(Algorithm.STREAMED, rows=32, columns=16, warps=4, unrolled=4),
        ),
        (
            "pointwise",
            {"rows": 4096, "columns": 4096, "alpha": 2},
            Schedule(Algorithm.FLAT, columns=1024, warps=4),
            Schedule(Algorithm.FLAT, columns=2048, warps=4),
        ),
    ],
)
def test_tiles_of_short_floats_have_more_of_them(name, sizes, single, half):
    assert first(name, DType.FLOAT32, **sizes) == single
    assert first(name, DType.BFLOAT16, **sizes) == half


def test_few_columns_are_split_among_programs_and_many_are_not():
    """64 programs that go through 16,384 rows each left half of an H200 idle."""
    few = first("weighted_columns", DType.FLOAT32, rows=16384, columns=4096)
    assert few == Schedule(Algorithm.SPLIT, rows=128, columns=32, parts=16, warps=8)
    many = first("weighted_columns", DType.FLOAT32, rows=16384, columns=1 << 19)
    assert many == Schedule(Algorithm.STREAMED, rows=64, columns=4, warps=8, unrolled=8)


def test_one_program_for_each_multiprocessor_prefetches_short_floats_that_are_read_once():
    square = programs.op("multiply", programs.x_at("i", "j"), programs.x_at("i", "j"))
    axes = [programs.to("i", "rows"), programs.to("j", "columns")]
    single = programs.operator(programs.total(Combine.SUM, axes, square), (), ())
    (nest,), (half,) = nests(single), nests(retyped(single, {"x": DType.BFLOAT16}))
    sizes = Sizes({"rows": Fraction(32768), "columns": Fraction(32768)})
    several, one, *_ = schedules(nest, sizes)
    assert several == Schedule(Algorithm.SPLIT, columns=8192, parts=512, warps=16)
    assert one == Schedule(Algorithm.SPLIT, columns=8192, parts=128, warps=16, stages=3)
    assert schedules(half, sizes)[0] == Schedule(Algorithm.SPLIT, columns=16384, parts=128, warps=16, stages=3)
    assert all(one.stages == 0 for one in schedules(nest, sizes, shared_bytes=32_768)), "no room for tiles to come"


def test_programs_that_share_a_row_keep_what_they_read_unless_exponentials_take_their_registers():
    schedule = Schedule(Algorithm.SHARED, parts=8, warps=4)
    reads = {}
    for name in ("softmax", "group_norm"):
        found = operator(ALL[name], (), lambda _: schedule, is_fitted=True)
        (shared,) = (one for one in found.kernels if any(isinstance(s, Await) for s in statements(one.body)))
        values = (one.value for one in statements(shared.body) if isinstance(one, Let | Store))
        loads = [part for value in values for part in parts(value) if isinstance(part, Load) and not part.of_others]
        reads[name] = sum("x_row" in str(load.pointer) for load in loads)
    assert reads == {"softmax": 2, "group_norm": 1}


def test_a_row_of_two_axes_is_held_where_its_tile_fits():
    (nest,) = nests(ALL["group_norm"])
    sizes = {"batch": 64, "channels": 96, "groups": 12, "width": 1000}
    known = Sizes({key: Fraction(value) for key, value in sizes.items()})
    held = {one.columns for one in all_schedules(nest, known) if one.algorithm is Algorithm.HELD}
    assert held == {8 * 1024}
    longer = Sizes({**known, "width": Fraction(100_000)})
    assert all(one.algorithm is not Algorithm.HELD for one in all_schedules(nest, longer))


def test_short_rows_need_no_room_for_those_that_share_them():
    found = operator(ALL["group_norm"], (), lambda _: Schedule(Algorithm.SHARED, parts=8, warps=4), is_fitted=True)
    short, shared = found.launches
    assert short.when.text == "block_rows * block_columns <= 32768"
    assert shared.when.text == "block_rows * block_columns > 32768"
    (limit,) = [condition.text for condition, because in found.demands if "wait" in because]
    assert limit == "block_rows * block_columns <= 32768 or row_parts <= 64 and piece_columns <= 65536"


def test_places_are_not_sought_in_small_tiles_where_kernels_are_compiled_before():
    key = programs.x_at("m", "j")
    body = programs.ArgReduce(Combine.MAXIMUM, (programs.to("m", "rows"),), key, programs.Position(programs.at("m")))
    (nest,) = nests(programs.operator(body, ("j",), ("columns",)))
    sizes = Sizes({"rows": Fraction(4096), "columns": Fraction(524_160)})
    assert schedules(nest, sizes)[0].unrolled == 8
    assert schedules(nest, sizes, is_fitted=False)[0].unrolled == 1

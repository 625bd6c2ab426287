"""Each transform by what it makes of a text, by what it leaves alone, and on random functions."""

import numpy as np
import pytest

from porter.ir.simt.ops import walk
from porter.ir.simt.parser import parsed
from porter.ir.simt.printer import printed
from porter.ir.simt.transforms.array_columns import arrays_as_columns
from porter.ir.simt.transforms.array_values import arrays_as_values
from porter.ir.simt.transforms.bounded_loops import with_bounded_loops
from porter.ir.simt.transforms.common import without_repetition
from porter.ir.simt.transforms.conditions_within import with_conditions_within
from porter.ir.simt.transforms.counted_loops import with_counted_loops
from porter.ir.simt.transforms.exits_at_bounds import without_exits_at_bounds
from porter.ir.simt.transforms.folding import folded
from porter.ir.simt.transforms.invariant_loads import with_invariant_loads_ahead
from porter.ir.simt.transforms.joined_branches import with_joined_branches
from porter.ir.simt.transforms.loads_ahead import with_loads_ahead
from porter.ir.simt.transforms.masked_sums import with_masked_sums
from porter.ir.simt.transforms.null_tests import with_null_tests_first
from porter.ir.simt.transforms.powers import with_products_for_powers
from porter.ir.simt.transforms.range_folding import folded_by_ranges
from porter.ir.simt.transforms.uniform_conditions import with_uniform_conditions
from porter.ir.simt.transforms.uniform_loops import with_uniform_loops
from porter.ir.simt.transforms.unrolling import unrolled
from porter.ir.simt.transforms.unswitching import unswitched
from porter.ir.simt.transforms.vector_rows import with_vector_rows
from porter.ir.simt.verify import verify
from tests.pure.ir.simt.random_programs import function, varied
from tests.pure.ir.simt.test_builder import PACKED, built, run
from tests.pure.ir.simt.test_interpret import by_interpreter, inputs, told_apart

HEAD = "kernel k(%x: ptr<f32, global> = 0, %n: i32 = 1, %p: ptr<u8, global> = 2) {\n"
PASSES = (folded, without_repetition, unrolled, arrays_as_values, with_uniform_loops, unswitched,
          with_uniform_conditions, folded_by_ranges, with_counted_loops, with_bounded_loops, with_conditions_within,
          with_joined_branches, with_masked_sums, with_loads_ahead, with_null_tests_first, with_vector_rows,
          with_invariant_loads_ahead, without_exits_at_bounds)  # fmt: skip


def body(text: str) -> str:
    return HEAD + "".join(f"  {line}\n" for line in text.strip().splitlines()) + "  return\n}\n"


def check(transform, before: str, after: str) -> None:
    made = transform(parsed(body(before)))
    verify(made)
    assert printed(made) == body(after)


def leaves_alone(transform, text: str) -> None:
    check(transform, text, text)


def test_a_small_power_is_a_product():
    before = """
%0 = constant {value = 0} : i32
%1 = load %x, %0 : f32
%2 = constant {value = 3.0} : f32
%3 = pow %1, %2 : f32
%4 = constant {value = -1.0} : f32
%5 = pow %3, %4 : f32
%6 = constant {value = 5.0} : f32
%7 = pow %5, %6 : f32
store %x, %0, %7
"""
    after = """
%0 = constant {value = 0} : i32
%1 = load %x, %0 : f32
%2 = mul %1, %1 : f32
%3 = mul %2, %1 : f32
%4 = constant {value = 1.0} : f32
%5 = div %4, %3 : f32
%6 = constant {value = 5.0} : f32
%7 = pow %5, %6 : f32
store %x, %0, %7
"""
    check(with_products_for_powers, before, after)


def test_known_integers_and_branches_on_them_are_computed():
    before = """
%0 = constant {value = 8} : i32
%1 = constant {value = 3} : i32
%2 = shr %0, %1 : i32
%3 = eq %2, %n : bool
%4 = not %3 : bool
%5 = ge %2, %1 : bool
%6 = if %5 : i32 {
  yield %0
} {
  %7 = add %n, %2 : i32
  yield %7
}
%8 = constant {value = 1.0} : f32
if %4 {
  store %x, %6, %8
} {
}
"""
    after = """
%0 = constant {value = 1} : i32
%1 = ne %0, %n : bool
%2 = add %n, %0 : i32
%3 = constant {value = 1.0} : f32
if %1 {
  store %x, %2, %3
} {
}
"""
    check(folded, before, after)


def test_accesses_behind_offsets_and_bits_of_bits_are_told_directly():
    before = """
%0 = constant {value = 4} : i32
%1 = offset %x, %n : ptr<f32, global>
%2 = constant {value = 0} : i32
%3 = load %1, %2 : f32
%4 = bitcast %p : u64
%5 = bitcast %4 : ptr<f32, global>
store %5, %0, %3
"""
    after = """
%0 = constant {value = 4} : i32
%1 = load %x, %n : f32
%2 = bitcast %p : ptr<f32, global>
store %2, %0, %1
"""
    check(folded, before, after)


def test_folding_leaves_divisions_by_zero_and_unknown_floats_alone():
    text = """
%0 = constant {value = 1} : i32
%1 = constant {value = 0} : i32
%2 = div %0, %1 : i32
%3 = load %x, %2 : f32
%4 = constant {value = 0.0} : f32
%5 = add %3, %4 : f32
%6 = lt %5, %4 : bool
%7 = not %6 : bool
%8 = select %7, %5, %4 : f32
store %x, %0, %8
"""
    leaves_alone(folded, text)


def test_what_is_computed_twice_is_computed_once_but_loads_are_not():
    before = """
%0 = thread_index {axis = 0} : u32
%1 = cast %0 : i32
%2 = thread_index {axis = 0} : u32
%3 = cast %2 : i32
%4 = load %x, %1 : f32
store %x, %3, %4
%5 = load %x, %3 : f32
store %x, %1, %5
"""
    after = """
%0 = thread_index {axis = 0} : u32
%1 = cast %0 : i32
%2 = load %x, %1 : f32
store %x, %1, %2
%3 = load %x, %1 : f32
store %x, %1, %3
"""
    check(without_repetition, before, after)


EXCHANGE = """
%0 = thread_index {axis = 0} : u32
%1 = cast %0 : i32
%2 = load %x, %1 : f32
%3 = constant {value = START} : i32
%mask = constant {value = 4294967295} : u32
%zero = constant {value = 0} : i32
%one = constant {value = 1} : i32
%sum, %distance = while %2, %FIRST : f32, i32 (%sum.1: f32, %distance.1: i32) {
  %4 = gt %distance.1, %zero : bool
  yield %4, %sum.1, %distance.1
} (%sum.2: f32, %distance.2: i32) {
  %5 = shuffle %sum.2, %distance.2, %mask {mode = "xor", width = 32} : f32
  %6 = add %sum.2, %5 : f32
  %7 = shr %distance.2, %one : i32
  yield %6, %7
}
store %x, %1, %sum
"""


def test_exchanges_at_known_distances_are_written_out():
    after = """
%0 = thread_index {axis = 0} : u32
%1 = cast %0 : i32
%2 = load %x, %1 : f32
%3 = constant {value = 2} : i32
%mask = constant {value = 4294967295} : u32
%4 = shuffle %2, %3, %mask {mode = "xor", width = 32} : f32
%sum = add %2, %4 : f32
%5 = constant {value = 1} : i32
%6 = shuffle %sum, %5, %mask {mode = "xor", width = 32} : f32
%sum.1 = add %sum, %6 : f32
store %x, %1, %sum.1
"""
    check(unrolled, EXCHANGE.replace("START", "2").replace("%FIRST", "%3"), after)


def test_exchanges_whose_number_is_not_known_stay_a_loop():
    text = EXCHANGE.replace("%3 = constant {value = START} : i32\n", "").replace("%FIRST", "%n")
    leaves_alone(unrolled, text.replace("%4", "%3").replace("%5", "%4").replace("%6", "%5").replace("%7", "%6"))


def test_an_array_at_known_indices_becomes_values():
    before = """
%own = array : array<f32, 2, local>
%0 = constant {value = 0} : i32
%1 = constant {value = 1.0} : f32
store %own, %0, %1
%2 = lt %n, %0 : bool
if %2 {
  %3 = constant {value = 2.0} : f32
  store %own, %0, %3
} {
}
%4 = load %own, %0 : f32
store %x, %0, %4
"""
    after = """
%0 = constant {value = 0} : i32
%1 = constant {value = 1.0} : f32
%2 = lt %n, %0 : bool
%own = if %2 : f32 {
  %3 = constant {value = 2.0} : f32
  yield %3
} {
  yield %1
}
store %x, %0, %own
"""
    check(arrays_as_values, before, after)


@pytest.mark.parametrize("space", ["local", "shared"])
def test_an_array_at_an_unknown_index_or_of_the_block_stays(space):
    index = "%n" if space == "local" else "%0"
    text = f"""
%own = array : array<f32, 2, {space}>
%0 = constant {{value = 0}} : i32
%1 = load %own, {index} : f32
store %x, %0, %1
"""
    leaves_alone(arrays_as_values, text)


BYTES = """
%own = array : array<u8, 8, local>
%0 = constant {value = 0} : i32
%start = offset %own, %0 : ptr<u8, local>
%word = bitcast %start : ptr<u32, local>
%half = bitcast %start : ptr<f16, local>
%1 = constant {value = INDEX} : i32
%2 = constant {value = 7} : u32
%3 = constant {value = 1.0} : f16
store %word, %0, %2
store %half, %1, %3
%4 = load %word, %0 : u32
%5 = cast %4 : f32
store %x, %0, %5
"""


def test_wide_numbers_over_narrow_ones_are_put_together():
    after = """
%0 = constant {value = 0} : i32
%1 = constant {value = 7} : u32
%2 = constant {value = 1.0} : f16
%3 = cast %1 : u16
%4 = bitcast %2 : u16
%5 = cast %3 : u32
%6 = cast %4 : u32
%7 = constant {value = 16} : u32
%8 = shl %6, %7 : u32
%9 = or %5, %8 : u32
%10 = cast %9 : f32
store %x, %0, %10
"""
    check(arrays_as_values, BYTES.replace("INDEX", "1"), after)


def test_bytes_outside_of_an_array_keep_it_in_memory():
    leaves_alone(arrays_as_values, BYTES.replace("INDEX", "4"))


@pytest.mark.parametrize(
    "field",
    [
        "Packed p = Packed::filled(t); Packed q = p; q[1] = 7; out[t] = p[1] + q[1] * 100;",
        "const Both b = of(t); out[t] = b.whole == __float_as_int(t) ? b.number : -1;",
        "Packed p; p = Packed::filled(t); out[t] = __int_as_float(p.bits().z);",
    ],
)
def test_structs_and_unions_in_memory_become_values_of_the_same_numbers(field):
    built_before = built(f"{PACKED}\n__global__ void k(int* out) {{ const int t = threadIdx.x; {field} }}")
    made = arrays_as_values(unrolled(built_before))
    verify(made)
    assert not any(op.kind == "array" for op in walk(made.body))
    assert run(made, np.zeros(32, np.int32))[0].tolist() == run(built_before, np.zeros(32, np.int32))[0].tolist()


CONDITION = """
%thread = thread_index {axis = 0} : u32
%zero = constant {value = 0} : u32
%0 = eq %thread, %zero : bool
%none = constant {value = 0} : ptr<u8, global>
%1 = ne %p, %none : bool
%2 = KIND %0, %1 : bool
if %2 {
  %one = constant {value = 1.0} : f32
  store %x, %thread, %one
} {
}
"""


def test_the_uniform_part_of_a_condition_is_a_branch_of_its_own():
    after = """
%thread = thread_index {axis = 0} : u32
%zero = constant {value = 0} : u32
%0 = eq %thread, %zero : bool
%none = constant {value = 0} : ptr<u8, global>
%1 = ne %p, %none : bool
if %1 {
  if %0 {
    %one = constant {value = 1.0} : f32
    store %x, %thread, %one
  } {
  }
} {
}
"""
    check(with_uniform_conditions, CONDITION.replace("KIND", "and"), after)


def test_either_of_two_conditions_stays_one_branch():
    leaves_alone(with_uniform_conditions, CONDITION.replace("KIND", "or"))


def test_a_shared_array_of_structs_is_an_array_for_each_field():
    before = """
%thread = thread_index {axis = 0} : u32
%s = array : array<f32x2, 32, shared>
%zero = constant {value = 0} : u32
%0 = load %x, %thread : f32
%1 = pack %0, %0 : f32x2
store %s, %thread, %1
barrier {scope = "block"}
%2 = offset %s, %thread : ptr<f32x2, shared>
%3 = bitcast %2 : ptr<u8, shared>
%four = constant {value = 4} : i32
%4 = offset %3, %four : ptr<u8, shared>
%5 = bitcast %4 : ptr<f32, shared>
%6 = load %5, %zero : f32
store %x, %thread, %6
"""
    made = folded(arrays_as_columns(parsed(body(before))))
    verify(made)
    arrays = [str(op.result.type) for op in walk(made.body) if op.kind == "array"]
    assert arrays == ["array<f32, 32, shared>", "array<f32, 32, shared>"]
    assert not [op for op in walk(made.body) if op.kind in ("bitcast", "offset")]


def test_a_shared_array_of_numbers_stays_one():
    text = """
%thread = thread_index {axis = 0} : u32
%s = array : array<f32, 32, shared>
%0 = load %x, %thread : f32
store %s, %thread, %0
barrier {scope = block}
%1 = constant {value = 3} : u32
%2 = mul %thread, %1 : u32
%3 = rem %2, %1 : u32
%4 = load %s, %3 : f32
store %x, %thread, %4
"""
    leaves_alone(arrays_as_columns, text)


def test_in_a_block_of_a_warp_the_number_of_the_lane_is_that_of_the_thread():
    before = """
%thread = thread_index {axis = 0} : u32
%width = constant {value = 32} : u32
%warp = div %thread, %width : u32
%lane = rem %thread, %width : u32
%is_warp = lt %thread, %width : bool
%is_first = eq %warp, %lane : bool
%all = select %is_warp, %lane, %warp : u32
%one = select %is_first, %all, %warp : u32
%half = constant {value = 0.5} : f32
store %x, %one, %half
"""
    after = """
%thread = thread_index {axis = 0} : u32
%0 = constant {value = 0} : u32
%is_first = eq %0, %thread : bool
%one = select %is_first, %thread, %0 : u32
%half = constant {value = 0.5} : f32
store %x, %one, %half
"""
    check(lambda made: folded_by_ranges(made, ((32, 32), (1, 1), (1, 1))), before, after)
    leaves_alone(folded_by_ranges, before)


WHILE = """
%zero = constant {value = 0} : i32
%step = block_extent {axis = 0} : u32
%none = constant {value = 0.0} : f32
%i, %sum = while %zero, %none : i32, f32 (%i.1: i32, %sum.1: f32) {
  %on = lt %i.1, %n : bool
  yield %on, %i.1, %sum.1
} (%i.2: i32, %sum.2: f32) {
  %v = load %x, %i.2 : f32
  %0 = add %sum.2, %v : f32
  %1 = cast %i.2 : u32
  %2 = add %1, %step : u32
  %3 = cast %2 : i32
  yield %3, %0
}
store %x, %zero, %sum
"""


def test_a_loop_that_counts_to_a_limit_is_counted():
    after = """
%zero = constant {value = 0} : i32
%step = block_extent {axis = 0} : u32
%none = constant {value = 0.0} : f32
%0 = cast %step : i32
%sum = for %zero, %n, %0, %none {compare = "lt"} : f32 (%i: i32, %sum.1: f32) {
  %v = load %x, %i : f32
  %1 = add %sum.1, %v : f32
  yield %1
}
store %x, %zero, %sum
"""
    check(with_counted_loops, WHILE, after)


def test_a_count_with_a_sign_may_have_a_limit_without_one():
    grid = "%grid = grid_extent {axis = 0} : u32\n"
    before = grid + WHILE.strip().replace(
        "%on = lt %i.1, %n : bool", "%unsigned = cast %i.1 : u32\n  %on = lt %unsigned, %grid : bool"
    )
    made = with_counted_loops(parsed(body(before)))
    verify(made)
    assert [op.attribute("compare") for op in walk(made.body) if op.kind == "for"] == ["lt"]
    leaves_alone(with_counted_loops, before.replace("while %zero, %none", "while %n, %none"))


def test_a_loop_whose_count_is_asked_for_or_whose_limit_changes_stays():
    leaves_alone(with_counted_loops, WHILE.replace("store %x, %zero", "store %x, %i"))
    leaves_alone(with_counted_loops, WHILE.replace("lt %i.1, %n", "lt %n, %i.1"))


def test_threads_that_begin_apart_by_less_than_divides_the_step_wrap_around_together():
    text = """
%block = block_index {axis = 0} : u32
%thread = thread_index {axis = 0} : u32
%width = constant {value = WIDTH} : u32
%first = mul %block, %width : u32
%begin = add %first, %thread : u32
%limit = cast %n : u32
for %begin, %limit, %width {compare = "lt"} (%i: u32) {
  %v = load %x, %i : f32
  store %x, %i, %v
  yield
}
"""
    apart, together = (parsed(body(text.replace("WIDTH", width))) for width in ("96", "128"))
    made = [with_uniform_loops(f, ((128, 128), (1, 1), (1, 1))) for f in (apart, together)]
    assert [printed(f) != printed(before) for f, before in zip(made, (apart, together), strict=True)] == [False, True]


@pytest.fixture(scope="module")
def computed():
    """What random functions compute, by their seeds."""
    return {seed: by_interpreter(function(seed), inputs(seed), seed) for seed in varied(60)}


@pytest.mark.parametrize("transform", PASSES)
def test_random_functions_compute_the_same_after_each_pass(transform, computed):
    changed = 0
    for seed, expected in computed.items():
        before = function(seed)
        made = transform(before)
        verify(made)
        if printed(made) != printed(before):
            assert told_apart(by_interpreter(made, inputs(seed), seed), expected) == [], seed
            changed += 1
    assert changed > 0


def test_a_loop_that_goes_on_while_a_variable_says_so_stays():
    leaves_alone(
        with_counted_loops,
        """
%on = lt %n, %n : bool
%on.1 = while %on : bool (%on.2: bool) {
  yield %on.2, %on.2
} (%on.3: bool) {
  %i = thread_index {axis = 0} : u32
  %0 = cast %i : i32
  %1 = lt %0, %n : bool
  yield %1
}
%2 = cast %on.1 : f32
store %x, %n, %2
""",
    )

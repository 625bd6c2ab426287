"""Analyses of functions that are written as text."""

import pytest

from porter.ir.simt.analyses.accesses import needed_barriers
from porter.ir.simt.analyses.ranges import ranges
from porter.ir.simt.analyses.uniformity import uniformity
from porter.ir.simt.ops import Function, walk
from porter.ir.simt.parser import parsed
from porter.ir.simt.printer import printed


def function(text: str) -> Function:
    lines = "".join(f"  {line}\n" for line in text.strip().splitlines())
    head = "kernel k(%x: ptr<f32, global> = 0, %n: i32 = 1, %y: ptr<f32, global> = 2)"
    return parsed(f"{head} {{\n{lines}  return\n}}\n")


def called(values) -> set[str]:
    return {value.name for value in values if value.name}


def test_what_is_made_of_the_thread_varies_and_what_is_made_of_the_block_does_not():
    made = function("""
%thread = thread_index {axis = 0} : u32
%block = block_index {axis = 0} : u32
%own = load %x, %thread : f32
%common = load %x, %block : f32
%sum = add %own, %common : f32
store %y, %thread, %sum
""")
    assert called(uniformity(made).varying) == {"thread", "own", "sum"}


def test_what_threads_reach_by_different_ways_varies():
    made = function("""
%thread = thread_index {axis = 0} : u32
%zero = constant {value = 0} : i32
%one = constant {value = 1} : i32
%own = cast %thread : i32
%apart = lt %own, %n : bool
%joined = if %apart : i32 {
  yield %one
} {
  yield %zero
}
%most = for %zero, %own, %one, %zero {compare = "lt"} : i32 (%i: i32, %count: i32) {
  %more = add %count, %one : i32
  yield %more
}
%together = for %zero, %n, %one, %zero {compare = "lt"} : i32 (%j: i32, %same: i32) {
  %next = add %same, %j : i32
  yield %next
}
%all = add %joined, %most : i32
%index = add %all, %together : i32
%value = load %x, %index : f32
store %y, %own, %value
""")
    found = uniformity(made)
    assert {"joined", "most", "count"} <= called(found.varying)
    assert called(found.varying).isdisjoint({"together", "same", "j", "next"})
    loops = [op for op in walk(made.body) if op.kind == "for"]
    assert [found.diverges(op) for op in loops] == [True, False]


def test_what_is_loaded_where_perhaps_no_thread_runs_is_doubtful():
    made = function("""
%thread = thread_index {axis = 0} : u32
%zero = constant {value = 0} : i32
%own = cast %thread : i32
%apart = lt %own, %n : bool
%sure = load %x, %zero : f32
if %apart {
  %perhaps = load %x, %zero : f32
  %sum = add %perhaps, %sure : f32
  store %y, %own, %sum
} {
}
""")
    assert called(uniformity(made).doubtful) == {"perhaps", "sum"}


def test_ranges_come_from_the_launch_and_go_through_arithmetic():
    made = function("""
%thread = thread_index {axis = 0} : u32
%own = cast %thread : i32
%five = constant {value = 5} : i32
%warp = shr %own, %five : i32
%lane = and %own, %n : i32
%twice = add %own, %own : i32
%sum = add %own, %n : i32
%zero = constant {value = 0} : i32
for %zero, %warp, %five {compare = "lt"} (%i: i32) {
  %value = load %x, %i : f32
  store %y, %sum, %value
}
%1 = load %x, %lane : f32
store %y, %twice, %1
""")
    found = {value.name: known for value, known in ranges(made, ((256, 256), (1, 1), (1, 1))).items()}
    assert found["warp"] == (0, 7)
    assert found["lane"] == (0, 255)
    assert found["twice"] == (0, 510)
    assert found["sum"] == (-(2**31), 2**31 - 1)
    assert found["i"] == (0, 6)


STORED = """
%thread = thread_index {axis = 0} : u32
%one = constant {value = 1} : u32
%next = add %thread, %one : u32
%shared = array : array<f32, 64, shared>
%value = load %x, %thread : f32
store MEMORY, %thread, %value
BETWEEN
%other = load FROM, INDEX : f32
store %y, %thread, %other
"""


@pytest.mark.parametrize(
    ("memory", "between", "source", "index", "expected"),
    [
        ("%shared", "", "%shared", "%next", 1),
        ("%shared", "barrier {scope = block}", "%shared", "%next", 0),
        ("%shared", "", "%shared", "%thread", 0),
        ("%x", "", "%x", "%next", 1),
        ("%y", "", "%x", "%next", 0),
    ],
)
def test_a_barrier_is_needed_before_another_read_of_what_was_written(memory, between, source, index, expected):
    text = STORED.replace("MEMORY", memory).replace("FROM", source).replace("INDEX", index)
    made = function(text.replace("BETWEEN\n", f"{between}\n" if between else ""))
    found = needed_barriers(made)
    assert len(found) == expected, printed(made)
    assert all(op.kind == "load" for op in found)


def test_a_barrier_is_needed_where_an_iteration_reads_what_the_one_before_it_wrote():
    made = function("""
%thread = thread_index {axis = 0} : u32
%zero = constant {value = 0} : u32
%one = constant {value = 1} : u32
%next = add %thread, %one : u32
for %zero, %thread, %one {compare = "lt"} (%i: u32) {
  %value = load %x, %next : f32
  store %x, %thread, %value
}
""")
    assert [op.kind for op in needed_barriers(made)] == ["load"]

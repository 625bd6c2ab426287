"""Loops that all threads of a block count together, and loops that ask one question only once."""

import pytest

from porter.ir.simt.transforms.uniform_loops import with_uniform_loops
from porter.ir.simt.transforms.unswitching import unswitched
from tests.pure.ir.simt.test_transforms import check, leaves_alone

COUNTING = """
%0 = thread_index {axis = 0} : u32
%tid = cast %0 : i32
%1 = constant {value = 32} : i32
%first = mul %n, %1 : i32
%begin = add %first, WHAT : i32
for %begin, %n, %1 {compare = "lt"} (%i: i32) {
  %2 = load %x, %i : f32
  store %x, %i, %2
}
"""


def test_threads_that_begin_apart_count_together():
    after = """
%0 = thread_index {axis = 0} : u32
%tid = cast %0 : i32
%1 = constant {value = 32} : i32
%first = mul %n, %1 : i32
for %first, %n, %1 {compare = "lt"} (%start: i32) {
  %i = add %start, %tid : i32
  %mask = lt %i, %n : bool
  if %mask {
    %2 = load %x, %i : f32
    store %x, %i, %2
  } {
  }
}
"""
    check(with_uniform_loops, COUNTING.replace("WHAT", "%tid"), after)


ASKING = """
%tid = thread_index {axis = 0} : u32
%own = cast %tid : i32
%0 = constant {value = 0} : i32
%1 = constant {value = 32} : i32
%2 = constant {value = 7} : i32
for %0, %n, %1 {compare = "lt"} (%i: i32) {
  %at = add %i, %own : i32
  %3 = load %x, %at : f32
  %many = gt ASKED, %2 : bool
  %value = if %many : f32 {
    %4 = add %3, %3 : f32
    yield %4
  } {
    yield %3
  }
  store %x, %at, %value
}
"""


def test_a_question_with_one_answer_in_all_iterations_is_asked_before_the_loop():
    after = """
%tid = thread_index {axis = 0} : u32
%own = cast %tid : i32
%0 = constant {value = 0} : i32
%1 = constant {value = 32} : i32
%2 = constant {value = 7} : i32
%many = gt %n, %2 : bool
if %many {
  for %0, %n, %1 {compare = "lt"} (%i: i32) {
    %at = add %i, %own : i32
    %3 = load %x, %at : f32
    %4 = add %3, %3 : f32
    store %x, %at, %4
  }
} {
  for %0, %n, %1 {compare = "lt"} (%i.1: i32) {
    %at.1 = add %i.1, %own : i32
    %5 = load %x, %at.1 : f32
    store %x, %at.1, %5
  }
}
"""
    check(unswitched, ASKING.replace("ASKED", "%n"), after)


@pytest.mark.parametrize("asked", ["%own", "%i"])
def test_a_question_whose_answer_differs_between_threads_or_iterations_stays(asked):
    leaves_alone(unswitched, ASKING.replace("ASKED", asked))


UNSIGNED = """
%tid = thread_index {axis = 0} : u32
%tile = block_index {axis = 1} : u32
%first = min %tile, %tile : u32
%sum = add %first, %tid : u32
%begin = cast %sum : i32
%0 = constant {value = 32} : i32
for %begin, %n, %0 {compare = "lt"} (%i: i32) {
  %1 = load %x, %i : f32
  store %x, %i, %1
}
"""


def test_what_threads_agree_on_is_found_below_a_cast_that_cannot_be_negative():
    # From 0 on the iterations in front of the tile would be empty ones: 125 to one in a row of 128,256.
    after = """
%tid = thread_index {axis = 0} : u32
%tile = block_index {axis = 1} : u32
%first = min %tile, %tile : u32
%0 = constant {value = 32} : i32
%1 = cast %first : i32
%2 = cast %tid : i32
for %1, %n, %0 {compare = "lt"} (%start: i32) {
  %i = add %start, %2 : i32
  %mask = lt %i, %n : bool
  if %mask {
    %3 = load %x, %i : f32
    store %x, %i, %3
  } {
  }
}
"""
    check(with_uniform_loops, UNSIGNED, after)


def test_threads_that_wrap_around_to_begin_in_front_of_the_block_count_as_they_did():
    leaves_alone(with_uniform_loops, UNSIGNED.replace("add %first, %tid", "sub %tid, %first"))


def test_threads_that_begin_in_front_of_the_block_or_together_count_as_they_did():
    negative = COUNTING.replace("%begin = add %first, WHAT", "%own = neg %tid : i32\n%begin = add %first, %own")
    leaves_alone(with_uniform_loops, negative)
    leaves_alone(
        with_uniform_loops,
        COUNTING.replace("%begin = add %first, WHAT", "%begin = add %first, %n")
        .replace("%0 = thread_index {axis = 0} : u32\n%tid = cast %0 : i32\n", "")
        .replace("%2", "%1")
        .replace("%1 = constant", "%0 = constant")
        .replace("mul %n, %1", "mul %n, %0")
        .replace("%n, %1 {", "%n, %0 {"),
    )

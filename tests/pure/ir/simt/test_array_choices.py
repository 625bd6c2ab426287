"""Tests that accesses to a thread's array at indices that are not known become choices."""

from porter.ir.simt.transforms.array_choices import with_array_choices
from porter.ir.simt.transforms.unrolling import unrolled
from tests.pure.ir.simt.test_transforms import check, leaves_alone


def test_a_load_is_a_choice_and_a_store_changes_one_element():
    before = """
%own = array : array<f32, 2, local>
%0 = constant {value = 1.0} : f32
store %own, %n, %0
%1 = load %own, %n : f32
store %x, %n, %1
"""
    after = """
%own = array : array<f32, 2, local>
%0 = constant {value = 1.0} : f32
%1 = constant {value = 0} : i32
%2 = load %own, %1 : f32
%3 = eq %n, %1 : bool
%4 = select %3, %0, %2 : f32
store %own, %1, %4
%5 = constant {value = 1} : i32
%6 = load %own, %5 : f32
%7 = eq %n, %5 : bool
%8 = select %7, %0, %6 : f32
store %own, %5, %8
%9 = constant {value = 0} : i32
%10 = load %own, %9 : f32
%11 = constant {value = 1} : i32
%12 = load %own, %11 : f32
%13 = eq %n, %11 : bool
%14 = select %13, %12, %10 : f32
store %x, %n, %14
"""
    check(with_array_choices, before, after)


def test_a_long_array_and_one_of_the_block_stay():
    text = """
%own = array : array<f32, COUNT, SPACE>
%0 = load %own, %n : f32
store %x, %n, %0
"""
    leaves_alone(with_array_choices, text.replace("COUNT", "17").replace("SPACE", "local"))
    leaves_alone(with_array_choices, text.replace("COUNT", "2").replace("SPACE", "shared"))


def test_an_array_whose_address_goes_elsewhere_stays():
    text = """
%own = array : array<f32, 2, local>
%0 = offset %own, %n : ptr<f32, local>
%1 = load %own, %n : f32
store %x, %n, %1
%2 = load %0, %n : f32
store %x, %n, %2
"""
    leaves_alone(with_array_choices, text)


def test_a_loop_within_a_loop_is_written_out_once_its_limit_is_known():
    before = """
%own = array : array<f32, 2, local>
%0 = constant {value = 0} : i32
%1 = constant {value = 2} : i32
%2 = constant {value = 1} : i32
for %0, %1, %2 {compare = "lt"} (%i: i32) {
  for %0, %i, %2 {compare = "lt"} (%j: i32) {
    %3 = load %own, %j : f32
    store %x, %i, %3
  }
}
"""
    after = """
%own = array : array<f32, 2, local>
%0 = constant {value = 1} : i32
%1 = constant {value = 0} : i32
%2 = load %own, %1 : f32
store %x, %0, %2
"""
    check(unrolled, before, after)

"""A printed function reads back as the same function."""

import pytest

from porter.ir.simt.parser import NotParsedError, parsed
from porter.ir.simt.printer import printed
from porter.ir.simt.verify import verify
from tests.pure.ir.simt.random_programs import function, varied

SCALE = """\
kernel "scale<float, 4>"(%x: ptr<f32x4, global> = 0, %n: i32 = 1+4) {
  %0 = thread_index {axis = 0} : u32
  %i = cast %0 : i32
  %1 = lt %i, %n : bool
  if %1 {
    %c = constant {value = float(-inf)} : f32
    %c.1 = constant {value = 1e-05} : f32
    %one = constant {value = 1} : i32
    %sum = for %i, %n, %one, %c {compare = "lt"} : f32 (%k: i32, %acc: f32) {
      %2 = mul %acc, %c.1 : f32
      yield %2
    }
    %3 = pack %sum, %sum, %sum, %sum : f32x4
    store %x, %i, %3
  } {
  }
  return
}
"""


def test_text_is_read_and_printed_as_it_was():
    found = parsed(SCALE)
    verify(found)
    assert printed(found) == SCALE


def test_random_functions_read_back_as_they_were():
    for seed in varied(100):
        made = function(seed)
        verify(made)
        text = printed(made)
        again = parsed(text)
        verify(again)
        assert printed(again) == text


def test_locations_are_read_back():
    text = SCALE.replace(": u32\n", ": u32 @12\n").replace("store %x, %i, %3", "store %x, %i, %3 @op.cuh:7")
    again = printed(parsed(text), locations=True)
    assert "{axis = 0} : u32 @12" in again
    assert "store %x, %i, %3 @op.cuh:7" in again
    assert printed(parsed(again), locations=True) == again


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("kernel k(%x: f33 = 0) {\n}\n", "line 1: expected a type before '='"),
        ("kernel k() {\n  %0 = neg %1 : f32\n}\n", "line 2: expected a value that is defined before '%1'"),
        ("kernel k() {\n  return\n", "line 3: expected a name before 'the end'"),
        ("kernel k() {\n  return\n}\nmore", "line 4: expected the end before 'more'"),
        ("kernel k() {\n  %0, %1 = neg : f32\n}\n", "line 3: expected 2 types before '}'"),
    ],
)
def test_what_is_no_function_is_told_with_its_line(text, message):
    with pytest.raises(NotParsedError, match=message.replace("%", "[%]")):
        parsed(text)

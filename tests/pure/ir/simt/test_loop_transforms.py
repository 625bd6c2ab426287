"""What each transform of loops makes of a text, and what it leaves alone."""

from collections.abc import Callable

import pytest

from porter.ir.simt.ops import Function
from porter.ir.simt.transforms.bounded_loops import with_bounded_loops
from porter.ir.simt.transforms.exits_at_bounds import without_exits_at_bounds
from porter.ir.simt.transforms.folding import folded
from porter.ir.simt.transforms.invariant_loads import with_invariant_loads_ahead
from porter.ir.simt.transforms.loads_ahead import with_loads_ahead
from porter.ir.simt.transforms.vector_rows import with_vector_rows
from tests.pure.ir.simt.test_transforms import check, leaves_alone

Transform = Callable[[Function], Function]


def rows_and_folded(function: Function) -> Function:
    return folded(with_vector_rows(function))


CHANGED: dict[str, tuple[Transform, str, str]] = {
    "a loop that is never entered": (
        folded,
        """
%0 = constant {value = 0} : i32
%1 = constant {value = 1} : i32
%2 = for %0, %0, %1, %n {compare = "lt"} : i32 (%k: i32, %3: i32) {
  %4 = add %3, %k : i32
  yield %4
}
%5 = cast %2 : f32
store %x, %2, %5
""",
        """
%0 = cast %n : f32
store %x, %n, %0
""",
    ),
    "a window of each thread's own": (
        with_bounded_loops,
        """
%0 = constant {value = 0} : i32
%1 = constant {value = 0.0} : f32
%2 = constant {value = 1} : i32
%threadIdx_x = thread_index {axis = 0} : u32
%a = cast %threadIdx_x : i32
%first = max %a, %0 : i32
%3 = add %a, %n : i32
%4 = constant {value = 100} : i32
%last = min %3, %4 : i32
%sum = for %first, %last, %2, %1 {compare = "lt"} : f32 (%h: i32, %sum.1: f32) {
  %5 = load %x, %h : f32
  %6 = add %sum.1, %5 : f32
  yield %6
}
store %x, %a, %sum
""",
        """
%0 = constant {value = 0} : i32
%1 = constant {value = 0.0} : f32
%2 = constant {value = 1} : i32
%threadIdx_x = thread_index {axis = 0} : u32
%a = cast %threadIdx_x : i32
%first = max %a, %0 : i32
%3 = add %a, %n : i32
%4 = constant {value = 100} : i32
%last = min %3, %4 : i32
%5 = constant {value = 0} : i32
%6, %sum = for %5, %n, %2, %first, %1 {compare = "lt"} : i32, f32 (%turn: i32, %h: i32, %sum.1: f32) {
  %inside = lt %h, %last : bool
  %sum.2 = if %inside : f32 {
    %7 = load %x, %h : f32
    %8 = add %sum.1, %7 : f32
    yield %8
  } {
    yield %sum.1
  }
  %9 = add %h, %2 : i32
  yield %9, %sum.2
}
store %x, %a, %sum
""",
    ),
    "leaving at a bound": (
        without_exits_at_bounds,
        """
%0 = constant {value = 0} : i32
%1 = constant {value = false} : bool
%2 = constant {value = 4} : i32
%3 = constant {value = 1} : i32
%4 = constant {value = 1.0} : f32
%threadIdx_x = thread_index {axis = 0} : u32
%5 = cast %threadIdx_x : i32
%base = mul %5, %2 : i32
%left = for %0, %2, %3, %1 {compare = "lt"} : bool (%k: i32, %left.1: bool) {
  %6 = not %left.1 : bool
  %left.2 = if %6 : bool {
    %7 = add %base, %k : i32
    %8 = lt %7, %n : bool
    %left.3 = if %8 : bool {
      store %x, %7, %4
      yield %left.1
    } {
      %9 = constant {value = true} : bool
      yield %9
    }
    yield %left.3
  } {
    yield %left.1
  }
  yield %left.2
}
""",
        """
%0 = constant {value = 0} : i32
%1 = constant {value = 4} : i32
%2 = constant {value = 1} : i32
%3 = constant {value = 1.0} : f32
%threadIdx_x = thread_index {axis = 0} : u32
%4 = cast %threadIdx_x : i32
%base = mul %4, %1 : i32
for %0, %1, %2 {compare = "lt"} (%k: i32) {
  %5 = add %base, %k : i32
  %6 = lt %5, %n : bool
  if %6 {
    store %x, %5, %3
  } {
  }
}
""",
    ),
    "a load that stays": (
        with_invariant_loads_ahead,
        """
%s = array : array<f32, 1, shared>
%0 = constant {value = 0} : i32
%1 = constant {value = 1} : i32
for %0, %n, %1 {compare = "lt"} (%i: i32) {
  %2 = load %s, %0 : f32
  store %x, %i, %2
}
""",
        """
%s = array : array<f32, 1, shared>
%0 = constant {value = 0} : i32
%1 = constant {value = 1} : i32
%2 = constant {value = 0} : i32
%3 = load %s, %2 : f32
for %0, %n, %1 {compare = "lt"} (%i: i32) {
  store %x, %i, %3
}
""",
    ),
    "a vector computed alike": (
        rows_and_folded,
        """
%threadIdx_x = thread_index {axis = 0} : u32
%0 = cast %threadIdx_x : i32
%1 = offset %x, %0 : ptr<f32, global>
%2 = bitcast %1 : ptr<f32x2, global>
%3 = constant {value = 0} : i32
%v = load %2, %3 : f32x2
%4 = extract %v {index = 0} : f32
%5 = extract %v {index = 1} : f32
%6 = abs %4 : f32
%7 = abs %5 : f32
%8 = pack %6, %7 : f32x2
store %2, %3, %8
""",
        """
%threadIdx_x = thread_index {axis = 0} : u32
%0 = cast %threadIdx_x : i32
%1 = offset %x, %0 : ptr<f32, global>
%2 = constant {value = 0} : i32
%3 = constant {value = 2} : i32
%4 = constant {value = 1} : i32
for %2, %3, %4 {compare = "lt", row = 2} (%k: i32) {
  %v = load %1, %k {aligned = 2} : f32
  %5 = abs %v : f32
  store %1, %k, %5 {aligned = 2}
}
""",
    ),
    "loads that need not wait": (
        with_loads_ahead,
        """
%0 = constant {value = 0} : i32
%1 = constant {value = 1.0} : f32
%2 = constant {value = 128} : i32
%threadIdx_x = thread_index {axis = 0} : u32
%3 = cast %threadIdx_x : i32
%mean = for %0, %n, %2, %1 {compare = "lt"} : f32 (%start: i32, %mean.1: f32) {
  %i = add %start, %3 : i32
  %mask = lt %i, %n : bool
  %mean.2 = if %mask : f32 {
    %4 = load %x, %i : f32
    %5 = div %4, %mean.1 : f32
    yield %5
  } {
    yield %mean.1
  }
  yield %mean.2
}
store %x, %3, %mean
""",
        """
%0 = constant {value = 0} : i32
%1 = constant {value = 1.0} : f32
%2 = constant {value = 128} : i32
%threadIdx_x = thread_index {axis = 0} : u32
%3 = cast %threadIdx_x : i32
%4 = constant {value = 4} : i32
%5 = mul %2, %4 : i32
%mean = for %0, %n, %5, %1 {compare = "lt"} : f32 (%start: i32, %mean.1: f32) {
  %6 = constant {value = 0} : i32
  %7 = mul %2, %6 : i32
  %start.1 = add %start, %7 : i32
  %i = add %start.1, %3 : i32
  %mask = lt %i, %n : bool
  %8 = if %mask : f32 {
    %9 = load %x, %i : f32
    yield %9
  } {
    %10 = undefined : f32
    yield %10
  }
  %11 = constant {value = 1} : i32
  %12 = mul %2, %11 : i32
  %start.2 = add %start, %12 : i32
  %i.1 = add %start.2, %3 : i32
  %mask.1 = lt %i.1, %n : bool
  %13 = if %mask.1 : f32 {
    %14 = load %x, %i.1 : f32
    yield %14
  } {
    %15 = undefined : f32
    yield %15
  }
  %16 = constant {value = 2} : i32
  %17 = mul %2, %16 : i32
  %start.3 = add %start, %17 : i32
  %i.2 = add %start.3, %3 : i32
  %mask.2 = lt %i.2, %n : bool
  %18 = if %mask.2 : f32 {
    %19 = load %x, %i.2 : f32
    yield %19
  } {
    %20 = undefined : f32
    yield %20
  }
  %21 = constant {value = 3} : i32
  %22 = mul %2, %21 : i32
  %start.4 = add %start, %22 : i32
  %i.3 = add %start.4, %3 : i32
  %mask.3 = lt %i.3, %n : bool
  %23 = if %mask.3 : f32 {
    %24 = load %x, %i.3 : f32
    yield %24
  } {
    %25 = undefined : f32
    yield %25
  }
  %mean.2 = if %mask : f32 {
    %26 = div %8, %mean.1 : f32
    yield %26
  } {
    yield %mean.1
  }
  %mean.3 = if %mask.1 : f32 {
    %27 = div %13, %mean.2 : f32
    yield %27
  } {
    yield %mean.2
  }
  %mean.4 = if %mask.2 : f32 {
    %28 = div %18, %mean.3 : f32
    yield %28
  } {
    yield %mean.3
  }
  %mean.5 = if %mask.3 : f32 {
    %29 = div %23, %mean.4 : f32
    yield %29
  } {
    yield %mean.4
  }
  yield %mean.5
}
store %x, %3, %mean
""",
    ),
}

ALONE: dict[str, tuple[Transform, str]] = {
    "a window whose width differs between threads": (
        with_bounded_loops,
        """
%0 = constant {value = 0} : i32
%1 = constant {value = 0.0} : f32
%2 = constant {value = 1} : i32
%threadIdx_x = thread_index {axis = 0} : u32
%a = cast %threadIdx_x : i32
%first = max %a, %0 : i32
%3 = add %a, %a : i32
%4 = constant {value = 100} : i32
%last = min %3, %4 : i32
%sum = for %first, %last, %2, %1 {compare = "lt"} : f32 (%h: i32, %sum.1: f32) {
  %5 = load %x, %h : f32
  %6 = add %sum.1, %5 : f32
  yield %6
}
store %x, %a, %sum
""",
    ),
    "an index that falls": (
        without_exits_at_bounds,
        """
%0 = constant {value = 0} : i32
%1 = constant {value = false} : bool
%2 = constant {value = 4} : i32
%3 = constant {value = 1} : i32
%4 = constant {value = 1.0} : f32
%threadIdx_x = thread_index {axis = 0} : u32
%5 = cast %threadIdx_x : i32
%base = mul %5, %2 : i32
%left = for %0, %2, %3, %1 {compare = "lt"} : bool (%k: i32, %left.1: bool) {
  %6 = not %left.1 : bool
  %left.2 = if %6 : bool {
    %7 = sub %base, %k : i32
    %8 = lt %7, %n : bool
    %left.3 = if %8 : bool {
      store %x, %7, %4
      yield %left.1
    } {
      %9 = constant {value = true} : bool
      yield %9
    }
    yield %left.3
  } {
    yield %left.1
  }
  yield %left.2
}
""",
    ),
    "an index that an iteration hands on": (
        without_exits_at_bounds,
        """
%0 = constant {value = 0} : i32
%1 = constant {value = false} : bool
%2 = constant {value = 4} : i32
%3 = constant {value = 1} : i32
%4 = constant {value = 1.0} : f32
%threadIdx_x = thread_index {axis = 0} : u32
%first = cast %threadIdx_x : i32
%left, %at = for %0, %2, %3, %1, %first {compare = "lt"} : bool, i32 (%k: i32, %left.1: bool, %at.1: i32) {
  %5 = not %left.1 : bool
  %left.2, %at.2 = if %5 : bool, i32 {
    %6 = lt %at.1, %n : bool
    %left.3, %at.3 = if %6 : bool, i32 {
      store %x, %at.1, %4
      %7 = sub %at.1, %2 : i32
      yield %left.1, %7
    } {
      %8 = constant {value = true} : bool
      yield %8, %at.1
    }
    yield %left.3, %at.3
  } {
    yield %left.1, %at.1
  }
  yield %left.2, %at.2
}
store %x, %at, %4
""",
    ),
    "a loop that some threads have left before": (
        without_exits_at_bounds,
        """
%0 = constant {value = 0} : i32
%1 = constant {value = true} : bool
%2 = constant {value = 4} : i32
%3 = constant {value = 1} : i32
%4 = constant {value = 1.0} : f32
%threadIdx_x = thread_index {axis = 0} : u32
%5 = cast %threadIdx_x : i32
%base = mul %5, %2 : i32
%left = for %0, %2, %3, %1 {compare = "lt"} : bool (%k: i32, %left.1: bool) {
  %6 = not %left.1 : bool
  %left.2 = if %6 : bool {
    %7 = add %base, %k : i32
    %8 = lt %7, %n : bool
    %left.3 = if %8 : bool {
      store %x, %7, %4
      yield %left.1
    } {
      %9 = constant {value = true} : bool
      yield %9
    }
    yield %left.3
  } {
    yield %left.1
  }
  yield %left.2
}
""",
    ),
    "a load of what the loop writes": (
        with_invariant_loads_ahead,
        """
%s = array : array<f32, 1, shared>
%0 = constant {value = 0} : i32
%1 = constant {value = 1} : i32
for %0, %n, %1 {compare = "lt"} (%i: i32) {
  %2 = load %s, %0 : f32
  store %s, %0, %2
}
""",
    ),
    "a vector whose numbers are swapped": (
        rows_and_folded,
        """
%threadIdx_x = thread_index {axis = 0} : u32
%0 = cast %threadIdx_x : i32
%1 = offset %x, %0 : ptr<f32, global>
%2 = bitcast %1 : ptr<f32x2, global>
%3 = constant {value = 0} : i32
%v = load %2, %3 : f32x2
%4 = extract %v {index = 0} : f32
%5 = extract %v {index = 1} : f32
%6 = abs %4 : f32
%7 = abs %5 : f32
%8 = pack %7, %6 : f32x2
store %2, %3, %8
""",
    ),
    "loads behind which something is written": (
        with_loads_ahead,
        """
%0 = constant {value = 0} : i32
%1 = constant {value = 1.0} : f32
%2 = constant {value = 128} : i32
%threadIdx_x = thread_index {axis = 0} : u32
%3 = cast %threadIdx_x : i32
%mean = for %0, %n, %2, %1 {compare = "lt"} : f32 (%start: i32, %mean.1: f32) {
  %i = add %start, %3 : i32
  %mask = lt %i, %n : bool
  %mean.2 = if %mask : f32 {
    %4 = load %x, %i : f32
    store %x, %i, %4
    %5 = div %4, %mean.1 : f32
    yield %5
  } {
    yield %mean.1
  }
  yield %mean.2
}
store %x, %3, %mean
""",
    ),
}


@pytest.mark.parametrize("name", CHANGED)
def test_it_is_rearranged(name):
    check(*CHANGED[name])


@pytest.mark.parametrize("name", ALONE)
def test_it_is_left_alone(name):
    leaves_alone(*ALONE[name])

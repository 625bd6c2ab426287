"""What each transform of branches and sums makes of a text, and what it leaves alone."""

from collections.abc import Callable

import pytest

from porter.ir.simt.ops import Function
from porter.ir.simt.transforms.conditions_within import with_conditions_within
from porter.ir.simt.transforms.joined_branches import with_joined_branches
from porter.ir.simt.transforms.joined_stores import with_joined_stores
from porter.ir.simt.transforms.masked_sums import with_masked_sums
from porter.ir.simt.transforms.null_tests import with_null_tests_first
from tests.pure.ir.simt.test_transforms import check, leaves_alone

Transform = Callable[[Function], Function]


CHANGED: dict[str, tuple[Transform, str, str]] = {
    "what some threads add to a sum": (
        with_masked_sums,
        """
%0 = constant {value = 0} : i32
%1 = constant {value = 0.0} : f32
%2 = constant {value = 128} : i32
%threadIdx_x = thread_index {axis = 0} : u32
%3 = cast %threadIdx_x : i32
%sum = for %0, %n, %2, %1 {compare = "lt"} : f32 (%start: i32, %sum.1: f32) {
  %i = add %start, %3 : i32
  %mask = lt %i, %n : bool
  %sum.2 = if %mask : f32 {
    %4 = load %x, %i : f32
    %5 = mul %4, %4 : f32
    %6 = add %sum.1, %5 : f32
    yield %6
  } {
    yield %sum.1
  }
  yield %sum.2
}
store %x, %3, %sum
""",
        """
%0 = constant {value = 0} : i32
%1 = constant {value = 0.0} : f32
%2 = constant {value = 128} : i32
%threadIdx_x = thread_index {axis = 0} : u32
%3 = cast %threadIdx_x : i32
%sum = for %0, %n, %2, %1 {compare = "lt"} : f32 (%start: i32, %sum.1: f32) {
  %i = add %start, %3 : i32
  %mask = lt %i, %n : bool
  %4 = if %mask : f32 {
    %5 = load %x, %i : f32
    yield %5
  } {
    %6 = constant {value = 0.0} : f32
    yield %6
  }
  %7 = mul %4, %4 : f32
  %8 = add %sum.1, %7 : f32
  yield %8
}
store %x, %3, %sum
""",
    ),
    "a condition on a loop": (
        with_conditions_within,
        """
%0 = constant {value = 0} : i32
%1 = constant {value = 0.0} : f32
%2 = constant {value = 1} : i32
%threadIdx_x = thread_index {axis = 0} : u32
%a = cast %threadIdx_x : i32
%3 = lt %a, %n : bool
%sum = if %3 : f32 {
  %sum.1 = for %0, %n, %2, %1 {compare = "lt"} : f32 (%h: i32, %sum.2: f32) {
    %4 = load %x, %h : f32
    %5 = add %sum.2, %4 : f32
    yield %5
  }
  yield %sum.1
} {
  yield %1
}
store %x, %a, %sum
""",
        """
%0 = constant {value = 0} : i32
%1 = constant {value = 0.0} : f32
%2 = constant {value = 1} : i32
%threadIdx_x = thread_index {axis = 0} : u32
%a = cast %threadIdx_x : i32
%3 = lt %a, %n : bool
%sum = for %0, %n, %2, %1 {compare = "lt"} : f32 (%h: i32, %sum.1: f32) {
  %sum.2 = if %3 : f32 {
    %4 = load %x, %h : f32
    %5 = add %sum.1, %4 : f32
    yield %5
  } {
    yield %sum.1
  }
  yield %sum.2
}
store %x, %a, %sum
""",
    ),
    "a branch in a branch": (
        with_joined_branches,
        """
%0 = constant {value = 0.0} : f32
%threadIdx_x = thread_index {axis = 0} : u32
%a = cast %threadIdx_x : i32
%1 = lt %a, %n : bool
%sum = if %1 : f32 {
  %2 = add %a, %n : i32
  %3 = lt %2, %n : bool
  %sum.1 = if %3 : f32 {
    %4 = load %x, %2 : f32
    yield %4
  } {
    yield %0
  }
  yield %sum.1
} {
  yield %0
}
store %x, %a, %sum
""",
        """
%0 = constant {value = 0.0} : f32
%threadIdx_x = thread_index {axis = 0} : u32
%a = cast %threadIdx_x : i32
%1 = lt %a, %n : bool
%2 = add %a, %n : i32
%3 = lt %2, %n : bool
%4 = and %1, %3 : bool
%sum = if %4 : f32 {
  %5 = load %x, %2 : f32
  yield %5
} {
  yield %0
}
store %x, %a, %sum
""",
    ),
    "a test for null of what was moved on one side": (
        with_null_tests_first,
        """
%0 = constant {value = 0} : ptr<u8, global>
%1 = ne %p, %0 : bool
%q = if %1 : ptr<u8, global> {
  %2 = offset %p, %n : ptr<u8, global>
  yield %2
} {
  yield %p
}
%3 = ne %q, %0 : bool
if %3 {
  %4 = constant {value = 1.0} : f32
  store %x, %n, %4
} {
}
""",
        """
%0 = constant {value = 0} : ptr<u8, global>
%1 = ne %p, %0 : bool
if %1 {
  %2 = constant {value = 1.0} : f32
  store %x, %n, %2
} {
}
""",
    ),
    "a test for null": (
        with_null_tests_first,
        """
%0 = constant {value = 0} : ptr<u8, global>
%1 = ne %p, %0 : bool
%2 = constant {value = 2} : i32
%3 = eq %n, %2 : bool
%4 = and %3, %1 : bool
if %4 {
  %5 = constant {value = 1.0} : f32
  store %x, %n, %5
} {
}
""",
        """
%0 = constant {value = 0} : ptr<u8, global>
%1 = ne %p, %0 : bool
%2 = constant {value = 2} : i32
%3 = eq %n, %2 : bool
if %1 {
  if %3 {
    %4 = constant {value = 1.0} : f32
    store %x, %n, %4
  } {
  }
} {
}
""",
    ),
}

STORES = """
%0 = constant {value = 0.0} : f32
%1 = load %x, %n : f32
%2 = gt %1, %0 : bool
if %2 {
  store %x, %n, %0
} {
  %3 = mul %1, %1 : f32
  store %x, %n, %3
}
"""
CHANGED["two stores to one place"] = (
    with_joined_stores,
    STORES,
    """
%0 = constant {value = 0.0} : f32
%1 = load %x, %n : f32
%2 = gt %1, %0 : bool
%3 = if %2 : f32 {
  yield %0
} {
  %4 = mul %1, %1 : f32
  yield %4
}
store %x, %n, %3
""",
)

ALONE: dict[str, tuple[Transform, str]] = {
    "stores to two places": (
        with_joined_stores,
        STORES.replace("store %x, %n, %0", "store %x, %n.1, %0").replace("%2 = gt", "%n.1 = add %n, %n : i32\n%2 = gt"),
    ),
    "a sum that may be -0": (
        with_masked_sums,
        """
%0 = constant {value = 0} : i32
%1 = constant {value = -0.0} : f32
%2 = constant {value = 128} : i32
%threadIdx_x = thread_index {axis = 0} : u32
%3 = cast %threadIdx_x : i32
%sum = for %0, %n, %2, %1 {compare = "lt"} : f32 (%start: i32, %sum.1: f32) {
  %i = add %start, %3 : i32
  %mask = lt %i, %n : bool
  %sum.2 = if %mask : f32 {
    %4 = load %x, %i : f32
    %5 = mul %4, %4 : f32
    %6 = add %sum.1, %5 : f32
    yield %6
  } {
    yield %sum.1
  }
  yield %sum.2
}
store %x, %3, %sum
""",
    ),
    "a sum whose terms follow from it": (
        with_masked_sums,
        """
%0 = constant {value = 0} : i32
%1 = constant {value = 0.0} : f32
%2 = constant {value = 128} : i32
%threadIdx_x = thread_index {axis = 0} : u32
%3 = cast %threadIdx_x : i32
%sum = for %0, %n, %2, %1 {compare = "lt"} : f32 (%start: i32, %sum.1: f32) {
  %i = add %start, %3 : i32
  %mask = lt %i, %n : bool
  %sum.2 = if %mask : f32 {
    %4 = load %x, %i : f32
    %5 = mul %4, %sum.1 : f32
    %6 = add %sum.1, %5 : f32
    yield %6
  } {
    yield %sum.1
  }
  yield %sum.2
}
store %x, %3, %sum
""",
    ),
    "a condition on a loop of each thread's own": (
        with_conditions_within,
        """
%0 = constant {value = 0} : i32
%1 = constant {value = 0.0} : f32
%2 = constant {value = 1} : i32
%threadIdx_x = thread_index {axis = 0} : u32
%a = cast %threadIdx_x : i32
%3 = lt %a, %n : bool
%sum = if %3 : f32 {
  %sum.1 = for %0, %a, %2, %1 {compare = "lt"} : f32 (%h: i32, %sum.2: f32) {
    %4 = load %x, %h : f32
    %5 = add %sum.2, %4 : f32
    yield %5
  }
  yield %sum.1
} {
  yield %1
}
store %x, %a, %sum
""",
    ),
    "branches that hand on different zeros": (
        with_joined_branches,
        """
%0 = constant {value = 0.0} : f32
%threadIdx_x = thread_index {axis = 0} : u32
%a = cast %threadIdx_x : i32
%1 = lt %a, %n : bool
%sum = if %1 : f32 {
  %2 = add %a, %n : i32
  %3 = lt %2, %n : bool
  %sum.1 = if %3 : f32 {
    %4 = load %x, %2 : f32
    yield %4
  } {
    %5 = constant {value = -0.0} : f32
    yield %5
  }
  yield %sum.1
} {
  yield %0
}
store %x, %a, %sum
""",
    ),
    "a condition without a pointer": (
        with_null_tests_first,
        """
%0 = ne %n, %n : bool
%1 = constant {value = 2} : i32
%2 = eq %n, %1 : bool
%3 = and %2, %0 : bool
if %3 {
  %4 = constant {value = 1.0} : f32
  store %x, %n, %4
} {
}
""",
    ),
}


@pytest.mark.parametrize("name", CHANGED)
def test_it_is_rearranged(name):
    check(*CHANGED[name])


@pytest.mark.parametrize("name", ALONE)
def test_it_is_left_alone(name):
    leaves_alone(*ALONE[name])

"""Which sizes a block may have, from how the host makes them."""

from pathlib import Path

import pytest

from porter.source.parse import parse
from porter.source_text import Source
from porter.syntax.nodes import Launch
from porter.syntax.read import read_unit
from porter.syntax.walk import walk
from porter_triton.host.block_sizes import BlockSizes

_KERNEL = "__global__ void k(float* x) { x[threadIdx.x] = 1.0f; }\n"
_DOUBLED = "unsigned b = 1; while (b < n / 2) b *= 2;"


def sizes(before, block, more=""):
    text = f"{_KERNEL}{more}\nvoid f(float* x, int n, int m) {{ {before} k<<<n, {block}>>>(x); }}"
    unit = read_unit(parse(Source(Path("op.cu"), text)))
    (function,) = unit.named("f")
    (launch,) = (n for n in walk(function.body) if isinstance(n, Launch))
    return BlockSizes(unit, function).extents(launch.block)


def powers(least):
    return tuple(1 << k for k in range(11) if 1 << k >= least)


def test_what_is_doubled_from_one_is_a_power_of_two():
    assert sizes(_DOUBLED, "b") == (powers(1), (1,), (1,))
    assert sizes(f"{_DOUBLED} dim3 block(b);", "block") == (powers(1), (1,), (1,))


def test_what_it_was_set_to_last_says_how_large_it_is():
    made = "b = std::max(b, static_cast<unsigned>(32)); dim3 block(b);"
    assert sizes(f"{_DOUBLED} {made}", "block") == (powers(32), (1,), (1,))
    assert sizes(f"{_DOUBLED} b = n > 9 ? 64 : 128; dim3 block(b, 2);", "block") == (powers(64), (2,), (1,))


def test_a_function_may_give_the_block():
    more = f"dim3 extents(int n) {{ {_DOUBLED} b = max(b, 64u); if (n > 5) return dim3(256); return dim3(b); }}"
    assert sizes("dim3 block = extents(n);", "block", more) == (powers(64), (1,), (1,))


@pytest.mark.parametrize(
    "before",
    [
        f"{_DOUBLED} b += 1;",
        f"{_DOUBLED} b *= 3;",
        f"{_DOUBLED} b = m;",
        f"{_DOUBLED} b = std::max(b, 48u);",
        f"{_DOUBLED} b /= 2;",
        f"{_DOUBLED} read(&b);",
        "unsigned b; if (n > 3) b = 64;",
    ],
)
def test_anything_else_may_be_any_size(before):
    assert sizes(before, "b") == ((), (1,), (1,))


def test_extents_that_are_set_later_are_not_known():
    assert sizes("dim3 block(64); block.y = n;", "block") == ((), (), ())
    assert sizes("", "dim3(m, n)") == ((), (), (1,))


def whole_warps(of=32):
    return tuple(range(of, 1025, of))


@pytest.mark.parametrize(
    "before",
    [
        "int b = (n + 31) / 32 * 32;",
        "int b = std::min(((n + 31) / 32) * 32, 1024);",
        "int b = min((n / 4 + 31) & ~31, 512);",
        "unsigned b = ((n + 31) >> 5) << 5;",
        "int b = 32; while (b < n) b += 32;",
        "const int warps = (n + m) / 2; auto b = 32 * warps;",
        "int b = 64; if (n > 64) b = m * 96;",
    ],
)
def test_what_is_rounded_to_warps_is_so_many_whole_ones(before):
    assert sizes(before, "b") == (whole_warps(), (1,), (1,))


@pytest.mark.parametrize(
    "before",
    [
        "int b = (int)(n * 0.25f * 32);",
        "float f = 64; f *= 0.3f; int b = f * 32;",
        "int b = (n + 31) / 32 * 32; b /= 2;",
        "int b = (n + 15) / 16 * 16;",
        "int b = min(n, 1024);",
    ],
)
def test_what_may_be_a_part_of_a_warp_may_be_any_size(before):
    assert sizes(before, "b") == ((), (1,), (1,))

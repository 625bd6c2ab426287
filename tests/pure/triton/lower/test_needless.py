"""Limits and masks that reductions need not have, because their values keep them anyway."""

from types import SimpleNamespace

import pytest

from porter_triton.lower.emit import Line, Loop, Suite, lines_of
from porter_triton.lower.needless import leave_out

LIMITED = "tl.maximum(tl.max(m, axis=0), -1e20)"
MASKED = "tl.sum(tl.where(inside, s, 0.0), axis=0)"


def made(begin, *assigned, reduced):
    """What becomes of the last statement of a function, a reduction, behind a loop that assigns."""
    loop = Loop("i", "range(0, n)", Suite([Line(text, target) for target, text in assigned]))
    first = [Line(text, target) for target, text in begin]
    suite = Suite([Line("tid < BLOCK_SIZE", "inside"), *first, loop, Line(reduced, "result")])
    leave_out(SimpleNamespace(inside="inside"), suite)
    return list(lines_of(suite))[-1].text


@pytest.mark.parametrize("begin", ["tl.full([128], -1e20, tl.float32)", "tl.zeros([128], tl.float32)"])
@pytest.mark.parametrize(
    "text", ["tl.maximum(m, v)", "tl.where(mask, tl.maximum(v, m), m)", "by_thread(tl.maximum(m, v))"]
)
def test_a_maximum_that_begins_with_the_limit_has_none(begin, text):
    assert made([("m", begin)], ("m", text), reduced=LIMITED) == "tl.max(m, axis=0)"


def test_a_copy_keeps_the_limit():
    begin = [("a", 'tl.full([128], float("-inf"), tl.float32)'), ("m", "tl.maximum(a, -1e20)")]
    assert made(begin, ("m", "tl.maximum(m, a)"), reduced=LIMITED) == "tl.max(m, axis=0)"


@pytest.mark.parametrize(
    ("begin", "text"),
    [
        ('tl.full([128], float("-inf"), tl.float32)', "tl.maximum(m, v)"),
        ("tl.full([128], -1e30, tl.float32)", "tl.maximum(m, v)"),
        ("tl.zeros([128], tl.float32)", "v"),
        ("tl.zeros([128], tl.float32)", "tl.minimum(m, v)"),
        ("tl.zeros([128], tl.float32)", "tl.where(mask, v, m)"),
        ("tl.zeros([128], tl.float32)", "tl.maximum(m, v) - 1.0"),
        ("tl.load(x + tid)", "tl.maximum(m, v)"),
    ],
)
def test_a_maximum_that_may_be_below_the_limit_keeps_it(begin, text):
    assert made([("m", begin)], ("m", text), reduced=LIMITED) == LIMITED


def test_a_minimum_has_an_upper_limit():
    limited = 'tl.minimum(tl.min(m, axis=0), float("inf"))'
    assert (
        made([("m", "tl.zeros([128], tl.float32)")], ("m", "tl.minimum(m, v)"), reduced=limited) == "tl.min(m, axis=0)"
    )


@pytest.mark.parametrize(
    "text",
    [
        "s + tl.where(mask, v, 0.0)",
        "tl.where(inside & some, s + v, s)",
        "s + tl.where(other & mask, v, 0.0) + tl.where(inside, w, 0.0)",
    ],
)
def test_a_sum_of_what_threads_of_the_block_add_asks_for_no_mask(text):
    begin = [("s", "tl.zeros([128], tl.float32)"), ("mask", "inside & (i < n)")]
    assert made(begin, ("s", text), reduced=MASKED) == "tl.sum(s, axis=0)"


@pytest.mark.parametrize(
    "text",
    [
        "s + v",
        "s + tl.where(some, v, 0.0)",
        "s + tl.where(mask, v, 1.0)",
        "tl.where(some, s + v, s)",
        "s + tl.where(twice, v, 0.0)",
    ],
)
def test_a_sum_of_what_others_may_add_keeps_its_mask(text):
    begin = [("s", "tl.zeros([128], tl.float32)"), ("mask", "inside & (i < n)"), ("some", "i < n")]
    begin += [("twice", "inside & (i < n)"), ("twice", "i < n")]
    assert made(begin, ("s", text), reduced=MASKED) == MASKED


def test_another_mask_stays():
    other = "tl.sum(tl.where(some, s, 0.0), axis=0)"
    assert made([("s", "tl.zeros([128], tl.float32)")], ("s", "s + 0.0"), reduced=other) == other


MASKED_MAX = 'tl.max(tl.where(inside, m, float("-inf")), axis=0)'
BEGIN = [("m", "tl.full([128], -1e20, tl.float32)"), ("mask", "inside & (i < n)")]


@pytest.mark.parametrize("text", ["tl.where(mask, tl.maximum(m, v), m)", "tl.maximum(m, tl.where(mask, v, -1e20))"])
def test_a_maximum_that_others_leave_as_it_began_asks_for_no_mask(text):
    assert made(BEGIN, ("m", text), reduced=MASKED_MAX) == "tl.max(m, axis=0)"


@pytest.mark.parametrize(
    "text",
    ["tl.maximum(m, v)", "tl.where(mask, v, m)", "tl.where(mask, tl.maximum(m, v), -1e19)", "tl.where(some, v, m)"],
)
def test_a_maximum_that_others_may_change_keeps_its_mask(text):
    assert made(BEGIN, ("m", text), reduced=MASKED_MAX) == MASKED_MAX


def test_a_limit_of_small_blocks_goes_with_the_mask():
    limited = f'tl.maximum({MASKED_MAX}, tl.where(BLOCK_SIZE < 1024, -1e20, float("-inf")))'
    assert made(BEGIN, ("m", "tl.where(mask, tl.maximum(m, v), m)"), reduced=limited) == "tl.max(m, axis=0)"
    other = limited.replace("-1e20", "-1e19")
    kept = other.replace(MASKED_MAX, "tl.max(m, axis=0)")
    assert made(BEGIN, ("m", "tl.where(mask, tl.maximum(m, v), m)"), reduced=other) == kept

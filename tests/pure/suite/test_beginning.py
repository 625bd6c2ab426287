"""When the operators of a suite begin."""

from __future__ import annotations

import time

from porter.suite.children import Children

APART_S = 0.2


def test_what_goes_beyond_those_that_begin_together_begins_one_after_the_other():
    children, begin = Children(4, 60.0, together=2, apart_s=APART_S), time.monotonic()
    began = dict(children.each(range(6), lambda number: (number, time.monotonic() - begin)))
    assert all(began[number] < APART_S for number in (0, 1))
    assert APART_S <= began[2] < 2 * APART_S <= began[3]
    assert all(began[number] < began[3] for number in (4, 5))  # those take the places of the first


def test_what_has_not_begun_does_not_where_nobody_listens_any_more():
    children, begun = Children(2, 60.0, together=1, apart_s=60.0), []
    begin = time.monotonic()
    some = children.each("ab", lambda one: begun.append(one) or one)
    assert next(some) == "a"
    some.close()
    assert begun == ["a"]
    assert time.monotonic() - begin < 30

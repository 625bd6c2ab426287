"""Sizes at which a Python reference is asked: small, odd, and such that it runs."""

import pytest

from porter.oracle.python_question import Described, Description
from porter.oracle.python_sizes import expression, find_sizes


def tensor(name, *shape):
    return Described(name, "float32", shape)


def reference(*inputs, initial=(), parameters=(), runs=lambda _: True):
    """The description at other sizes of a reference that `runs` at some."""

    def describe(extents):
        if not runs(extents):
            return None

        def resized(tensors):
            return tuple(tensor(t.name, *(extents.get(e, e) for e in t.shape)) for t in tensors)

        return Description(resized(inputs), resized(parameters), (), initial)

    written = Description(inputs, tuple(parameters), (), initial)
    return written, find_sizes(written, describe)


def test_every_size_becomes_a_symbol_where_it_comes_first_and_equal_ones_stay_equal():
    _, sizes = reference(tensor("a", 2048, 4096), tensor("b", 4096, 512))
    assert sizes.symbols == {"a_size0": 2048, "a_size1": 4096, "b_size1": 512}
    assert len(set(sizes.tiny.values())) == len(set(sizes.odd.values())) == 3
    assert sizes.extents(sizes.tiny) == {2048: 3, 4096: 5, 512: 7}


def test_a_small_size_that_the_module_is_built_with_may_be_another_number_and_stays():
    _, sizes = reference(tensor("x", 128, 3, 224, 224), initial=(3, 64, 3))
    assert sizes.symbols == {"x_size0": 128, "x_size2": 224}


def test_a_size_at_which_nothing_else_runs_stays_as_it_is_written():
    _, sizes = reference(tensor("x", 128, 100), runs=lambda extents: 100 not in extents)
    assert sizes.symbols == {"x_size0": 128}


@pytest.mark.parametrize("unit", [4, 8, 12])
def test_one_size_is_a_multiple_where_groups_share_it(unit):
    runs = lambda extents: extents.get(64, 64) % unit == 0  # noqa: E731
    _, sizes = reference(tensor("x", 112, 64, 512), initial=(64, unit), runs=runs)
    assert sizes.tiny["x_size1"] % unit == 0
    assert sizes.tiny["x_size0"] % 2 == sizes.tiny["x_size2"] % 2 == 1


def test_a_window_gets_sizes_wider_than_itself():
    runs = lambda extents: extents.get(224, 224) >= 11  # noqa: E731
    _, sizes = reference(tensor("x", 64, 3, 224, 224), initial=(3,), runs=runs)
    assert sizes.tiny["x_size2"] >= 11


def test_nothing_large_is_ever_asked():
    written, sizes = reference(tensor("x", 1 << 20, 1 << 12), runs=lambda extents: 1 << 12 not in extents)
    assert written is not None
    assert sizes is not None
    assert max(sizes.odd.values()) < 1 << 8
    assert reference(tensor("x", 1 << 20, 1 << 12), runs=lambda extents: not extents)[1] is None


@pytest.mark.parametrize(
    ("written", "tiny", "odd", "text"),
    [(64, 5, 11, "x"), (64, 8, 8, "8"), (256, 20, 44, "4 * x"), (3, 3, 3, "3"), (65, 6, 12, "")],
)
def test_an_extent_is_what_gives_it_at_both_sizes(written, tiny, odd, text):
    _, sizes = reference(tensor("x", 64))
    sizes = type(sizes)({"x": 64}, {"x": 5}, {"x": 11})
    assert expression(written, tiny, odd, sizes) == text

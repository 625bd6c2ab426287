"""What is known of a nest at some sizes, in numbers."""

from fractions import Fraction

import pytest

from porter.evaluate.formula.scheduled import Sizes
from porter.schedule.description import NestDescription, described
from porter.schedule.nests import nests
from tests.pure.schedule import programs

SIZES = Sizes({"rows": Fraction(100), "columns": Fraction(1000), "alpha": Fraction(2)})
WINDOWS = Sizes({"rows": Fraction(10), "columns": Fraction(64), "window": Fraction(3), "stride": Fraction(2)})
ELEMENTS, FLOAT = 100_000, 4


def description(program, sizes=SIZES):
    (nest,) = nests(program)
    return described(nest, sizes)


def test_an_elementwise_nest_is_one_loop_that_reads_and_writes_each_element_once():
    assert description(programs.pointwise()) == NestDescription(
        (ELEMENTS,), (), FLOAT * ELEMENTS, FLOAT * ELEMENTS, (1, 1), 1, 0, 1, 1, rows_are_contiguous=False
    )


def test_a_softmax_reads_a_row_for_its_statistics_and_once_to_store():
    found = description(programs.softmax())
    assert (found.rows, found.columns, found.reads) == ((100,), (1000,), (2, 3))
    assert (found.read_bytes, found.written_bytes) == (FLOAT * ELEMENTS, FLOAT * ELEMENTS)


def test_a_reduction_writes_one_element_a_row():
    found = description(programs.argmax())
    assert (found.reads, found.written_bytes) == ((1, 1), 8 * 100)


def test_means_along_the_first_axis_have_rows_that_are_neighbours():
    found = description(programs.column_mean())
    assert (found.rows, found.columns, found.rows_are_contiguous) == ((1000,), (100,), True)


def test_a_weight_of_each_column_does_not_keep_rows_from_being_neighbours():
    assert description(programs.weighted_columns()).rows_are_contiguous


@pytest.mark.parametrize("padding", [0, 1])
def test_windows_that_overlap_read_no_element_twice(padding):
    found = description(programs.pool(), Sizes({**WINDOWS, "padding": Fraction(padding)}))
    assert (found.window, found.scans) == (3, 0)
    assert found.read_bytes <= FLOAT * 10 * 65
    assert found.read_bytes < 3 * found.written_bytes


def test_a_running_sum_is_one_scan():
    assert description(programs.running()).scans == 1

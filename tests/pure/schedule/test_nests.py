"""What loops of a program become one, what is reduced together, and what becomes a tensor of its own."""

import pytest

from porter.contract.model.dtype import DType
from porter.ir.tensor.expressions import Combine
from porter.ir.tensor.program import Output, TensorProgram
from porter.schedule.nests import nests
from porter.schedule.polynomial import NotSchedulableError, Polynomial, product
from porter.schedule.statistics import Kind, statistics
from tests.pure.schedule import programs


def extents(loops):
    return [loop.extent for loop in loops]


def sizes(*names):
    return product(map(Polynomial.atom, names))


def test_neighbouring_axes_are_one_loop():
    (nest,) = nests(programs.pointwise())
    assert (extents(nest.rows), nest.columns) == ([sizes("rows", "columns")], ())


def test_axes_that_a_weight_shares_are_one_loop_in_reductions_too():
    (nest,) = nests(programs.layer_norm())
    assert extents(nest.rows) == [sizes("batch")]
    assert extents(nest.columns) == [sizes("channels", "width")]


def test_axes_of_which_a_weight_has_only_some_stay_apart():
    (nest,) = nests(programs.group_norm())
    group = sizes("channels").over(sizes("groups"))
    assert extents(nest.rows) == [sizes("batch"), sizes("groups")]
    assert extents(nest.columns) == [group, sizes("width")]


def test_a_window_that_lies_inside_of_its_axis_needs_no_guard():
    (nest,) = nests(programs.group_norm())
    assert all(not read.guards for read in nest.reads)


def test_a_window_with_a_padding_keeps_its_guard():
    (nest,) = nests(programs.pool())
    assert not nest.folds
    assert all(read.guards for read in nest.reads)


def test_an_element_that_may_lie_outside_is_guarded():
    (nest,) = nests(programs.shifted())
    assert [len(read.guards) for read in nest.reads] == [1]


def test_what_is_reduced_for_each_point_of_a_reduction_is_a_tensor_of_its_own():
    parts, whole = nests(programs.loss())
    assert [result.name for result in parts.results] == ["part_1"]
    assert extents(whole.columns) == [sizes("rows")]
    assert {read.tensor for read in whole.reads} == {"part_1"}
    assert {read.tensor for read in parts.reads} == {"x", "target"}


def test_a_loop_over_one_point_takes_no_nest_of_its_own():
    total = programs.total(Combine.SUM, [programs.to("k", "columns")], programs.x_at("i", "k"))
    (nest,) = nests(programs.operator(total, ("i", "one"), ("rows", "1")))
    assert extents(nest.rows) == [sizes("rows")]
    assert extents(nest.columns) == [sizes("columns")]


@pytest.mark.parametrize(
    ("program", "kind"), [(programs.softmax(), Kind.EXPONENTIALS), (programs.layer_norm(), Kind.MOMENTS)]
)
def test_dependent_reductions_that_merge_are_found_in_one_pass(program, kind):
    (nest,) = nests(program)
    ((statistic,),) = statistics(nest, in_one_pass=True)
    assert statistic.kind is kind
    assert len(statistics(nest, in_one_pass=False)) == 2


def test_squares_of_other_differences_take_a_pass_of_their_own():
    """(x - sum) ** 2 looks like a variance; its sum is no sum of squared deviations."""
    mean = programs.total(Combine.SUM, [programs.to("k", "columns")], programs.x_at("i", "k"))
    off = programs.op("add", programs.op("multiply", programs.number(-1), mean), programs.x_at("i", "l"))
    squares = programs.total(Combine.SUM, [programs.to("l", "columns")], programs.op("power", off, programs.number(2)))
    (nest,) = nests(programs.operator(squares, ("i",), ("rows",)))
    assert [[one.kind for one in found] for found in statistics(nest, in_one_pass=True)] == [[Kind.PLAIN], [Kind.PLAIN]]


def test_exponentials_less_another_rows_extreme_take_a_pass_of_their_own():
    smallest = programs.total(Combine.MINIMUM, [programs.to("m", "columns")], programs.x_at("i", "m"))
    off = programs.op("add", programs.x_at("i", "k"), programs.op("multiply", programs.number(-1), smallest))
    below = programs.total(Combine.SUM, [programs.to("k", "columns")], programs.op("exp", off))
    (nest,) = nests(programs.operator(below, ("i",), ("rows",)))
    assert len(statistics(nest, in_one_pass=True)) == 2


def test_an_output_of_unknown_extent_is_refused():
    program = programs.column_mean()
    (out,) = program.outputs
    lacking = type(out)("out", DType.FLOAT32, ("j",), ("",), out.body)
    with pytest.raises(NotSchedulableError, match="gives the shape of 'out'"):
        nests(TensorProgram("forward", program.symbols, (), program.inputs, (lacking,)))


def test_what_is_stored_in_place_is_one_nest_with_the_norm_that_reads_it():
    """`residual += x` and a norm of the sum: the norm reads what was there before, in the same kernel."""
    rows = programs.softmax()
    doubled = programs.op("add", programs.x_at("i", "j"), programs.x_at("i", "j"))
    program = TensorProgram(
        rows.name, rows.symbols, rows.parameters, rows.inputs,
        (Output("x", DType.FLOAT32, ("i", "j"), ("rows", "columns"), doubled), *rows.outputs),
    )  # fmt: skip
    (nest,) = nests(program)
    assert [result.name for result in nest.results] == ["x", "out"]
    assert (extents(nest.rows), extents(nest.columns)) == ([sizes("rows")], [sizes("columns")])

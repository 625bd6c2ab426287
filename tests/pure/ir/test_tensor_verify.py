"""Each invariant of tensor programs is held, and names the place that breaks it."""

from dataclasses import replace
from fractions import Fraction

import pytest

from porter.contract.model.dtype import DType
from porter.ir.tensor import verify as verifier
from porter.ir.tensor.expressions import ArgReduce, Combine, Gathered, Pointwise, Position, Range, Reduce, Window
from porter.ir.tensor.program import Input
from porter.ir.tensor.quantities import Affine, Floor, Quantity
from porter.ir.tensor.verify import INVARIANTS, POINTWISE, MalformedError, verify
from tests.pure.ir import tensor_programs as programs
from tests.pure.ir.tensor_programs import ONE, X, at, largest, number, op, output, program, read, size, total, upto

ELEMENT = read("x", "r", "c")
ROW = upto("k", "columns")
WINDOW = Window("k", at("c"), ONE, Quantity.of(3), size("columns"))


def with_body(body):
    return program("op", [X], [output("r c", programs.BY_COLUMNS, body)], programs.SIZES, ("alpha",))


def with_number(**changes):
    return with_body(number(replace(size("rows"), **changes)))


GOOD = with_body(op("negate", ELEMENT))
TWICE = total(ROW, op("add", read("x", "r", "k"), total(ROW, read("x", "r", "k"))))
RENAMED = op("add", total(ROW, read("x", "r", "k")), largest(ROW, read("x", "r", "k")))

# Of each invariant: programs that break it, and what is said about each.
BROKEN = {
    "names_are_distinct": [
        (replace(GOOD, parameters=("rows",)), "op: the name 'rows' is given twice"),
        (replace(GOOD, inputs=GOOD.inputs * 2), "op: the name 'x' is given twice"),
        (replace(GOOD, outputs=GOOD.outputs * 2), "op: the name 'out' is given twice"),
    ],
    "outputs_have_an_extent_for_each_coordinate": [
        (program("op", [X], [output("r c", (None,), ELEMENT)], programs.SIZES), "op > out: it has 2 coordinates and 1"),
    ],
    "coordinates_are_bound_once": [
        (with_body(total((ROW, ROW), ELEMENT)), "op > out: the coordinate 'k' is bound twice"),
        (with_body(total(upto("r", "rows"), ELEMENT)), "op > out: the coordinate 'r' is bound twice"),
        (with_body(TWICE), "op > out: the coordinate 'k' is bound twice"),
        (with_body(RENAMED), "op > out: the coordinate 'k' is bound twice"),
        (program("op", [X], [output("r r", (None, None), number(1))], programs.SIZES), "'r' is bound twice"),
    ],
    "coordinates_are_in_scope": [
        (with_body(read("x", "r", "k")), "op > out > x index 2: the coordinate 'k' is not in scope"),
        (with_body(op("exp", Position(at((Floor("q", ONE), ONE))))), "out > exp operand 1 > position: the coordinate"),
        (with_body(total(Range("k", at("k"), at("c")), number(1))), "op > out > sum[k]: the coordinate 'k' is not"),
        (with_body(op("add", total(ROW, number(1)), read("x", "r", "k"))), "the coordinate 'k' is not in scope"),
        (with_body(read("x", "r", Gathered(at(), Position(at("q"))))), "op > out > x > position: the coordinate 'q'"),
        (with_body(total((Range("a", at("b"), at("c")), upto("b", "rows")), number(1))), "'b' is not in scope"),
    ],
    "inputs_are_known": [(with_body(read("y", "r", "c")), "op > out: there is no input 'y'")],
    "reads_have_an_index_for_each_axis": [(with_body(read("x", "r")), "1 indices for the 2 axes of 'x'")],
    "operations_are_known": [(with_body(op("cube", ELEMENT)), "op > out: there is no operation 'cube'")],
    "operations_have_their_operands": [
        (with_body(op("exp", ELEMENT, ELEMENT)), "op > out: 'exp' takes 1 operands and has 2"),
        (with_body(op("select", ELEMENT, ELEMENT)), "'select' takes 3 operands and has 2"),
        (with_body(op("exp", op("add", ELEMENT))), "exp operand 1: 'add' takes two or more operands and has 1"),
    ],
    "reductions_have_ranges": [
        (with_body(Reduce(Combine.SUM, (), ELEMENT, DType.FLOAT32)), "op > out: it has no ranges"),
        (with_body(ArgReduce(Combine.MINIMUM, (), ELEMENT, ELEMENT)), "op > out: it has no ranges"),
    ],
    "arguments_are_of_extremes": [
        (with_body(ArgReduce(Combine.SUM, (ROW,), ELEMENT, Position(at("k")))), "op > out: 'sum' has no argument"),
    ],
    "powers_are_sorted": [
        (with_number(powers=(("rows", 1), ("columns", 1))), "op > out > number: its symbols are rows, columns"),
        (with_number(powers=(("rows", 1), ("rows", 2))), "its symbols are rows, rows"),
    ],
    "exponents_are_not_zero": [(with_number(powers=(("rows", 0),)), "op > out > number: 'rows' has exponent 0")],
    "factors_of_powers_are_not_zero": [(with_number(factor=Fraction(0)), "its powers have the factor 0")],
    "quantities_have_a_value": [
        (with_number(powers=(), offset=Fraction(-1), inverse=True), "op > out > number: it is one over 0"),
    ],
    "symbols_are_known": [
        (with_number(powers=(("depth", 1),)), "op > out > number: there is no symbol 'depth'"),
        (with_body(total(replace(WINDOW, count=size("depth")), number(1))), "op > out > sum[k]: there is no symbol"),
        (with_body(Position(at((Floor("c", size("depth")), ONE)))), "op > out > position: there is no symbol 'depth'"),
        (program("op", [X], [output("r", (size("z"),), number(1))], ()), "op > out: there is no symbol 'z'"),
    ],
    "places_are_whole": [
        (with_body(total(upto("k", "alpha"), number(1))), "op > out > sum[k]: it depends on the fractional parameter"),
        (with_body(total(replace(WINDOW, step=size("alpha")), number(1))), "the fractional parameter 'alpha'"),
        (with_body(read("x", "r", at(("c", size("alpha"))))), "op > out: it depends on the fractional parameter 'alph"),
        (with_body(read("x", "r", at((Floor("c", size("alpha")), ONE)))), "the fractional parameter 'alpha'"),
    ],
    "windows_advance": [
        (with_body(total(replace(WINDOW, step=Quantity.of(0)), number(1))), "op > out > sum[k]: its step is 0"),
        (with_body(total(replace(WINDOW, count=Quantity.of(-2)), number(1))), "op > out > sum[k]: its count is -2"),
        (with_body(total(replace(WINDOW, extent=Quantity.of(0)), number(1))), "op > out > sum[k]: its extent is 0"),
    ],
    "terms_are_distinct": [(with_body(Position(at("c", "c"))), "op > out > position: it has two terms in c")],
    "coefficients_are_not_zero": [
        (with_body(Position(at(("c", Quantity.of(0))))), "op > out > position: it has a coefficient that is 0"),
    ],
    "divisors_are_positive": [
        (with_body(Position(at((Floor("c", Quantity.of(0)), ONE)))), "op > out > position: it divides by 0"),
    ],
}  # fmt: skip
CASES = [(name, made, words) for name, cases in BROKEN.items() for made, words in cases]


@pytest.mark.parametrize("made", programs.ALL)
def test_well_formed_programs_pass(made):
    verify(made())


@pytest.mark.parametrize(("name", "made", "words"), CASES, ids=[name for name, _, _ in CASES])
def test_each_invariant_is_held(monkeypatch, name, made, words):
    with pytest.raises(MalformedError) as raised:
        verify(made)
    assert words in str(raised.value)
    others = tuple(invariant for invariant in INVARIANTS if invariant.__name__ != name)
    monkeypatch.setattr(verifier, "INVARIANTS", others)
    verify(made)  # nothing else is wrong with it


def test_each_invariant_has_a_sentence_and_a_case():
    assert set(BROKEN) == {invariant.__name__ for invariant in INVARIANTS}
    assert all((invariant.__doc__ or "").endswith(".") for invariant in INVARIANTS)


def test_one_reduction_may_occur_in_several_places():
    shared = total(ROW, read("x", "r", "k"))
    verify(with_body(op("divide", op("add", ELEMENT, shared), shared)))
    again = total(ROW, read("x", "r", "k"))
    verify(with_body(op("divide", again, shared)))


def test_an_output_may_be_an_input():
    written = output("r c", programs.BY_COLUMNS, ELEMENT, name="x")
    verify(program("op", [X], [written], programs.SIZES))


def test_the_bounds_of_a_range_may_depend_on_the_ranges_before_it():
    verify(with_body(total((ROW, Range("m", Affine.of(0), at("k"))), read("x", "r", "m"))))


def test_what_is_shared_many_times_over_is_verified_once():
    body = ELEMENT
    for _ in range(60):
        body = op("add", body, body)
    verify(with_body(body))
    with pytest.raises(MalformedError, match="no operation 'cube'"):
        verify(with_body(op("add", body, op("cube", body))))


def test_operations_with_one_operand_or_more_are_told():
    assert all(operation.arity in (None, 1, 2, 3) for operation in POINTWISE.values())
    for name, operation in POINTWISE.items():
        operands = (ELEMENT,) * (operation.arity or 4)
        verify(with_body(Pointwise(name, operands)))


def test_an_input_without_axes_has_no_index():
    verify(program("op", [("x", DType.FLOAT32)], [output("", (), read("x"))], ()))
    scalar = Input("x", DType.FLOAT32, ())
    with pytest.raises(MalformedError, match="2 indices for the 0 axes"):
        verify(replace(GOOD, inputs=(scalar,)))

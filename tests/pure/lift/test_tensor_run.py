"""A tensor program answers for its operator: sizes come from the arguments, and what it cannot answer is a fault."""

import math
from dataclasses import replace

import numpy as np
import pytest

from porter.contract.model.contract import ScalarArg, TensorArg
from porter.contract.model.dtype import DType
from porter.contract.model.selections import chosen
from porter.evaluate.formula.tensor_run import Case, TensorRun, UnknownSizeError, sizes_of
from porter.execution.job import FaultKind, Job, ScalarValue, TensorValue
from porter.ir.tensor.program import Input, Output, TensorProgram
from porter.ir.tensor.quantities import Quantity
from porter.ir.tensor.verify import verify
from tests.pure.ir.tensor_programs import number, op, read, total, upto
from tests.pure.lift.test_probes import contract_of

F32, F64 = DType.FLOAT32, DType.FLOAT64
SUMS = total(upto("k", "columns"), op("multiply", number(Quantity(1, (("slope", 1),))), read("x", "o0", "k")))


def contract_with(*arguments, symbols=("rows", "columns")):
    """A contract that is called with these arguments."""
    return replace(contract_of("softmax"), arguments=arguments, symbols=symbols)


def program_with(body, shape=("rows",), name="out", inputs=("x",), symbols=("rows", "columns"), parameters=()):
    tensors = tuple(Input(tensor, F32, ("rows", "columns")) for tensor in inputs)
    coordinates = tuple(f"o{axis}" for axis in range(len(shape)))
    program = TensorProgram("forward", symbols, parameters, tensors, (Output(name, F32, coordinates, shape, body),))
    verify(program)
    return program


def run_of(program, contract):
    return TensorRun((Case(program, contract),))


def tensor(name, *shape, role="in"):
    return TensorArg(name, type(contract_of("softmax").tensors[0].role)(role), F32, shape)


def value_of(array, dtype=F32):
    return TensorValue(dtype, array.shape, array.astype(dtype.storage))


SCALED = contract_with(tensor("x", "rows", "columns"), ScalarArg("slope", "double", "0.5"))
SCALED_SUMS = run_of(program_with(SUMS, parameters=("slope",)), SCALED)
X = np.arange(6.0).reshape(2, 3)


def call(run, *arguments):
    return run(Job(tuple(arguments)))


def test_a_result_is_computed_at_the_sizes_of_the_arguments():
    run = call(SCALED_SUMS, value_of(X), ScalarValue(0.25))
    assert run.finished
    (result,) = run.results
    assert (result.dtype, result.shape) == (F32, (2,))
    np.testing.assert_allclose(result.storage, X.sum(1) * 0.25)
    np.testing.assert_array_equal(run.outputs[0].storage, X)


def test_nothing_of_no_rows_is_computed():
    run = call(SCALED_SUMS, value_of(np.zeros((0, 3))), ScalarValue(0.25))
    assert run.finished
    assert run.results[0].shape == (0,)


def test_an_argument_that_is_written_comes_back_in_its_place():
    contract = contract_with(tensor("x", "rows", "columns"), tensor("y", "rows", "columns", role="out"))
    doubled = program_with(op("multiply", number(2), read("x", "o0", "o1")), ("rows", "columns"), "y")
    run = call(run_of(doubled, contract), value_of(X), value_of(X * 0))
    assert run.finished
    assert run.results == ()
    np.testing.assert_array_equal(run.outputs[0].storage, X)
    np.testing.assert_array_equal(run.outputs[1].storage, 2 * X)


REFUSED = {
    "a tensor of another type": (value_of(X, F64), ScalarValue(0.5)),
    "a null pointer": (TensorValue.none(F32), ScalarValue(0.5)),
    "another rank": (value_of(X.ravel()), ScalarValue(0.5)),
    "more axes": (value_of(X[None]), ScalarValue(0.5)),
    "an infinite parameter": (value_of(X), ScalarValue(math.inf)),
    "a parameter that is no number": (value_of(X), ScalarValue(math.nan)),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_it_cannot_answer_is_a_fault(name):
    run = call(SCALED_SUMS, *REFUSED[name])
    assert not run.finished
    (fault,) = run.faults
    assert fault.fatal
    assert fault.kind in (FaultKind.CRASH, FaultKind.HOST_CHECK)


def sizes(contract, *shapes, symbols=None):
    program = replace(SCALED_SUMS.cases[0].program, symbols=symbols or contract.symbols, parameters=())
    told = sizes_of(program, contract, [value_of(np.zeros(shape)) for shape in shapes])
    return {name: int(size) for name, size in told.items()}


def test_sizes_are_told_by_products():
    contract = contract_with(tensor("x", "rows * columns"), tensor("y", "rows"))
    assert sizes(contract, (12,), (3,)) == {"rows": 3, "columns": 4}


def test_sizes_are_told_by_products_in_any_order():
    """`b * c` has two unknown sizes before `columns * b` tells one of them."""
    symbols = ("b", "c", "columns")
    contract = contract_with(tensor("x", "b * c"), tensor("y", "columns * b"), tensor("z", "columns"), symbols=symbols)
    assert sizes(contract, (12,), (15,), (5,)) == {"b": 3, "c": 4, "columns": 5}


def test_a_size_that_two_values_explain_is_not_guessed():
    contract = contract_with(tensor("x", "(rows + 1) / 2"), symbols=("rows",))
    with pytest.raises(UnknownSizeError, match="rows"):
        sizes(contract, (4,))


def test_a_size_that_no_argument_tells_is_unknown():
    contract = contract_with(tensor("x", "rows"))
    with pytest.raises(UnknownSizeError, match="columns"):
        sizes(contract, (4,))
    assert sizes(contract, (4,), symbols=("rows",)) == {"rows": 4}


def test_a_scalar_tells_a_size():
    contract = contract_with(tensor("x", "rows"), ScalarArg("n", "int64_t", "columns"))
    program = replace(SCALED_SUMS.cases[0].program, symbols=("rows", "columns"), parameters=())
    told = sizes_of(program, contract, (value_of(np.zeros(4)), ScalarValue(9)))
    assert told == {"rows": 4, "columns": 9}


def test_a_shape_that_no_size_gives_is_a_fault():
    run = run_of(program_with(read("x", "o0", "o1"), ("", "columns")), SCALED)
    assert not call(run, value_of(X), ScalarValue(0.5)).finished


KIND = contract_with(tensor("x", "rows", "columns"), ScalarArg("kind", "int", "0", choices=("0", "1", "2")))
PLAIN_SUMS = total(upto("k", "columns"), read("x", "o0", "k"))
BY_KIND = TensorRun(
    tuple(
        Case(program_with(op("multiply", number(kind + 1), PLAIN_SUMS)), chosen(KIND, {"kind": kind}))
        for kind in (0, 1)
    )
)


@pytest.mark.parametrize("kind", [0, 1])
def test_the_program_of_a_choice_answers_for_it(kind):
    (result,) = call(BY_KIND, value_of(X), ScalarValue(kind)).results
    np.testing.assert_allclose(result.storage, X.sum(1) * (kind + 1))


def test_a_choice_without_a_program_has_no_answer():
    (fault,) = call(BY_KIND, value_of(X), ScalarValue(2)).faults
    assert fault.message == "it was not lifted for this call: 'kind' is 2, not 0"

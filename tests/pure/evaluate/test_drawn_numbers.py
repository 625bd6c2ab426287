"""Numbers have values that no contract says; what an operator may not be meant for decides nothing."""

from dataclasses import replace

import pytest

from porter.contract.model.contract import Contract, Entry, EntryKind, Role, ScalarArg, TensorArg, Workload
from porter.contract.model.dtype import DType
from porter.evaluate.reference.drawn_numbers import drawn_numbers, may_be_unmeant
from porter.evaluate.reference.judging import Judging

X = TensorArg("x", Role.INOUT, DType.FLOAT32, ("n",))
TINY = Workload("tiny", {"n": 3}, 1)


def contract(*numbers):
    return Contract("op", "other", Entry(EntryKind.POINTER, "op"), (X, *numbers), ("n",), (), (TINY,), {})


def values(*numbers, seed=1):
    """Returns the values that decide, and those that do not."""
    one = contract(*numbers)
    drawn = list(drawn_numbers(one, TINY, seed))
    unmeant = [w.scalars for w in drawn if may_be_unmeant(one, w)]
    return [w.scalars for w in drawn if not may_be_unmeant(one, w)], unmeant


def test_a_fraction_stays_one_where_it_decides():
    (drawn,), unmeant = values(ScalarArg("a", "float", "0.5"))
    assert 0 < drawn["a"] < 1
    assert drawn["a"] != 0.5
    below, zero, above = (v["a"] for v in unmeant)
    assert (below, zero, above > 1) == (-0.5, 0.0, True)


def test_a_larger_number_is_larger_and_the_opposite_decides_nothing():
    (drawn,), unmeant = values(ScalarArg("a", "float", "2.0"))
    assert drawn["a"] > 4
    assert unmeant == [{"a": -2.0}]


def test_a_whole_number_is_larger_or_zero():
    (drawn,), unmeant = values(ScalarArg("k", "int", "3"))
    assert drawn["k"] in range(5, 13)
    assert unmeant == [{"k": 0.0}]


@pytest.mark.parametrize(
    "argument",
    [
        ScalarArg("n", "int", "n"),
        ScalarArg("mode", "int", "0", ("0", "1")),
        ScalarArg("flag", "bool", "1"),
        ScalarArg("stream", "cudaStream_t", "0"),
    ],
    ids=lambda argument: argument.name,
)
def test_sizes_and_what_selects_are_not_drawn(argument):
    assert values(argument) == ([], [])


def test_another_seed_has_other_values():
    assert values(ScalarArg("a", "float", "2.0"))[0] != values(ScalarArg("a", "float", "2.0"), seed=2)[0]


def test_a_value_that_a_branch_of_the_original_was_found_by_decides():
    one = contract(ScalarArg("a", "float", "0.5"))
    found = replace(TINY, scalars={"a": -1.0})
    assert may_be_unmeant(one, found)
    assert not may_be_unmeant(one, replace(found, takes="op.cu:3: `a < 0` is true"))


def test_nothing_is_drawn_where_the_contract_is_all_there_is():
    one = contract(ScalarArg("a", "float", "0.5"))
    assert Judging(1, {}).numbers(one)
    assert not Judging(1, {}, edges=False).numbers(one)

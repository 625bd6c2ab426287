"""Which of two ports is delivered: the one from the formula, unless it falls short of the other one in anything."""

from dataclasses import replace

import pytest

from porter.contract.model.contract import EntryKind
from porter.contract.model.dtype import DType
from porter.evaluate.formula.following import instead_of, lesser, seconds_beside, without_formula
from porter.evaluate.model.outcome import Checked, NotVerified, Refused, Verified, Wrong


def verified(*workloads):
    return Verified(tuple(Checked(name, None, 0.0, 0.0, passed=True) for name in workloads))


@pytest.fixture
def judged(migration):
    """`judged(outcome)`: a migration whose one entry, `sum`, came to this."""
    (entry,) = migration.entries
    return lambda outcome: replace(migration, outcome=outcome, entries=(replace(entry, outcome=outcome),))


def test_a_formula_that_was_compared_everywhere_takes_the_place_of_the_kernels(judged):
    kernels, anew = judged(verified("odd", "empty")), judged(verified("odd", "empty", "another seed"))
    assert without_formula(kernels) == ""
    assert lesser(anew, kernels) == ""
    assert "verified, too" in instead_of(kernels)


def test_a_formula_falls_short_where_less_of_it_was_compared(judged):
    kernels, anew = judged(verified("odd", "half", "bfloat")), judged(verified("odd"))
    assert lesser(anew, kernels).endswith("where the other one is equal: launch_sum at 'bfloat' and 1 more")


def test_a_formula_falls_short_where_it_is_wrong(judged):
    because = lesser(judged(Wrong("[0] differs", ())), judged(verified("odd")))
    assert because == "the port from its formula is wrong: [0] differs"


def test_a_formula_stands_where_the_kernels_are_refused(judged):
    kernels = judged(Refused("no word for `asm`"))
    assert without_formula(kernels) == ""
    assert lesser(judged(verified("odd")), kernels) == ""
    assert instead_of(kernels) == "the port that follows its kernels is refused: no word for `asm`"


@pytest.mark.parametrize(
    ("kind", "outcome", "choice", "because"),
    [
        (EntryKind.KERNEL, verified("odd"), "", "a kernel by itself"),
        (EntryKind.PROGRAM, verified("odd"), "", "a whole program"),
        (EntryKind.TORCH, NotVerified("open"), "", "no answers"),
        (EntryKind.TORCH, verified("odd"), "mode = 1", "single choice"),
    ],
)
def test_a_formula_is_not_sought_where_nothing_could_come_of_it(judged, kind, outcome, choice, because):
    kernels = judged(verified("odd"))
    (entry,) = kernels.entries
    contract = replace(entry.contract, entry=replace(entry.contract.entry, kind=kind))
    other = replace(entry, contract=contract, outcome=outcome, choice=choice)
    assert because in without_formula(replace(kernels, entries=(entry, other)))
    assert "no launcher" in without_formula(replace(kernels, entries=()))


def test_a_formula_is_not_sought_where_the_source_takes_other_whole_numbers(judged):
    kernels = judged(verified("odd", "indices"))
    (entry,) = kernels.entries
    indices = replace(entry.contract.workloads[0], name="indices", dtypes={"x": DType.INT64})
    contract = replace(entry.contract, workloads=(*entry.contract.workloads, indices))
    other = replace(entry, contract=contract)
    assert without_formula(replace(kernels, entries=(other,))) == (
        "launch_sum takes int64, too, for which its formula is not written"
    )
    assert without_formula(replace(judged(verified("odd")), entries=(replace(other, outcome=verified("odd")),))) == ""


@pytest.mark.parametrize(("took_s", "left_s", "allowed_s"), [(4.0, 50.0, 30.0), (32.0, 38.0, 32.0), (20.0, 7.0, 7.0)])
def test_beside_a_verified_port_a_formula_may_take_half_of_the_limit(judged, took_s, left_s, allowed_s):
    kernels = replace(judged(verified("odd")), seconds=took_s)
    assert seconds_beside(kernels, left_s, 60.0) == allowed_s


def test_where_nothing_is_verified_yet_a_formula_has_all_the_time_that_is_left(judged):
    assert seconds_beside(replace(judged(Refused("no word for `asm`")), seconds=4.0), 50.0, 60.0) == 50.0

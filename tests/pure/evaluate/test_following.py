"""Which of two ports is delivered: the one from the formula, unless it falls short of the other one in anything."""

from dataclasses import replace

import pytest

from porter.contract.model.contract import EntryKind
from porter.evaluate.formula.following import compared, instead_of, lesser, short_of, without_formula
from porter.evaluate.model.outcome import Checked, KernelsVerified, Refused, Verified, Wrong


def verified(*workloads):
    return Verified(tuple(Checked(name, None, 0.0, 0.0, passed=True) for name in workloads))


@pytest.fixture
def judged(migration):
    """`judged(outcome)`: a migration whose one entry, `sum`, came to this."""
    (entry,) = migration.entries
    return lambda outcome: replace(migration, outcome=outcome, entries=(replace(entry, outcome=outcome),))


def test_a_formula_that_was_compared_everywhere_takes_the_place_of_the_kernels(judged):
    kernels, anew = judged(verified("odd", "empty")), judged(verified("odd", "empty", "another seed"))
    assert lesser(anew, kernels) == ""
    assert "verified, too" in instead_of(kernels)


def test_a_formula_falls_short_where_less_of_it_was_compared(judged):
    kernels, anew = judged(verified("odd", "half", "bfloat")), judged(verified("odd"))
    assert lesser(anew, kernels).endswith("where another one is equal: launch_sum at 'bfloat' and 1 more")


def test_a_formula_falls_short_where_it_is_wrong(judged):
    because = lesser(judged(Wrong("[0] differs", ())), judged(verified("odd")))
    assert because == "the port from its formula is wrong: [0] differs"


@pytest.mark.parametrize(
    ("outcome", "said"),
    [
        (Refused("no word for `asm`"), "refused: no word for `asm`"),
        (KernelsVerified(verified("odd", "half").checked), "only these are verified"),
    ],
)
def test_a_formula_stands_where_no_launcher_is_verified(judged, outcome, said):
    kernels = judged(outcome)
    assert lesser(judged(verified("odd")), kernels) == ""
    assert said in instead_of(kernels)


def test_a_port_is_asked_for_no_less_than_its_formula_was_found_equal_at(judged):
    lifted = compared(judged(verified("odd", "half")).entries)
    assert short_of(judged(verified("odd", "half", "another seed")), lifted) == ""
    assert "launch_sum at 'half'" in short_of(judged(verified("odd")), lifted)


@pytest.mark.parametrize(
    ("kind", "because"), [(EntryKind.KERNEL, "a kernel by itself"), (EntryKind.PROGRAM, "a whole program")]
)
def test_a_formula_is_not_sought_where_nothing_could_come_of_it(judged, kind, because):
    (entry,) = judged(verified("odd")).entries
    other = replace(entry.contract, entry=replace(entry.contract.entry, kind=kind))
    assert without_formula((entry.contract,)) == ""
    assert because in without_formula((entry.contract, other))
    assert "no launcher" in without_formula(())

"""What an entry gets of a limit, and what it leaves to those behind it."""

import time
from types import SimpleNamespace

import pytest

from porter.contract.model.contract import EntryKind
from porter.evaluate.model import time_shares as module
from porter.evaluate.model.time_shares import TimeShares
from porter.measure.deadline import Deadline


def entries(*kinds):
    return [SimpleNamespace(entry=SimpleNamespace(kind=kind)) for kind in kinds]


@pytest.fixture
def _no_least(monkeypatch):
    monkeypatch.setattr(module, "LEAST_S", 0.0)


@pytest.mark.usefixtures("_no_least")
def test_one_that_takes_for_ever_leaves_the_others_their_shares():
    deadline, passed = Deadline(1.2), []
    begin = time.monotonic()
    with deadline.running():
        shares = TimeShares(deadline, 3)
        for seconds in (30, 0.01, 0.5):
            with shares.next() as turn:
                time.sleep(seconds)
            passed.append(turn.passed)
    assert passed == [True, False, False]
    assert time.monotonic() - begin < 1.2


@pytest.mark.usefixtures("_no_least")
def test_what_one_does_not_use_passes_to_those_behind_it():
    deadline, lengths = Deadline(60.0), []
    with deadline.running():
        shares = TimeShares(deadline, 3)
        for _ in range(3):
            with shares.next():
                lengths.append(round(deadline.left_s))
    assert lengths == [20, 30, 60]


def test_none_gets_less_than_a_comparison_takes():
    deadline = Deadline(10.0)
    with deadline.running(), TimeShares(deadline, 100).next():
        assert 0 < module.LEAST_S - deadline.left_s < 0.5


@pytest.mark.parametrize(
    ("kinds", "first_s"),
    [
        ([EntryKind.POINTER], 60),
        ([EntryKind.KERNEL] * 3, 20),
        ([EntryKind.PROGRAM], 30),
        ([EntryKind.TORCH, EntryKind.POINTER], 20),
        ([EntryKind.PROGRAM, EntryKind.KERNEL], 20),
    ],
)
def test_what_may_fall_into_parts_leaves_them_a_share(kinds, first_s):
    deadline = Deadline(60.0)
    with deadline.running(), TimeShares.of(entries(*kinds), deadline).next():
        assert round(deadline.left_s) == first_s

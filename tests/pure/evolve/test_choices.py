"""Choices that are drawn: parents, proposers; and when there is nothing more to choose."""

import re
from collections import Counter
from random import Random

import pytest

from porter.evolve.archive import Added
from porter.evolve.bandit import Bandit, Prior
from porter.evolve.budget import Budget, Progress
from porter.evolve.payoff import Ledger, by_proposer, priors
from porter.evolve.proposer import Account
from porter.evolve.select import parents
from porter.evolve.settings import Settings
from porter.evolve.stream import stream
from tests.pure.evolve.test_archive import AXES, archive, member

FULL = archive(*(member(f"{x}{y}", 1 + x + y / 10, cell=(x, y)) for x in range(3) for y in range(2)))


def drawn(**how):
    return Counter(parents(FULL, stream(1, n), 4, **how)[0].scored.cell for n in range(600))


def test_where_known_good_is_exploited_the_first_parent_is_of_the_top():
    assert set(drawn(exploit=1.0)) == {(2, 1), (2, 0)}


def test_where_cells_are_explored_each_is_drawn_alike():
    counts = drawn(exploit=0.0)
    assert len(counts) == 6
    assert min(counts.values()) > 60


def test_parents_are_the_drawn_one_the_best_and_the_farthest_from_those():
    for n in range(20):
        chosen = parents(FULL, stream(2, n), 4, 0.0)
        assert len({each.scored.digest for each in chosen}) == 4
        assert FULL.ranked()[0] in chosen[:2]
    first = next(p for n in range(99) if (p := parents(FULL, stream(3, n), 3, 0.0))[0].scored.cell == (2, 1))
    assert first[1].scored.cell == (0, 0)


def test_an_empty_archive_has_no_parents():
    assert parents(archive(), Random(1), 4, 0.5) == ()


def test_streams_depend_on_their_place_and_on_nothing_else():
    assert stream(1, 2, "x").random() == stream(1, 2, "x").random()
    assert len({stream(*place).random() for place in [(1, 2), (1, 3), (2, 2), (12,), (1, 2, "x")]}) == 5


def test_the_bandit_learns_which_proposer_pays():
    bandit, asked = Bandit(["poor", "good", "useless"]), Counter()
    worth = {"poor": 0.1, "good": 0.6, "useless": 0.0}
    for step in range(300):
        arm = bandit.choose(["poor", "good", "useless"], stream(5, step))
        asked[arm] += 1
        bandit.learn(arm, stream(6, step).random() < worth[arm])
    assert asked["good"] > 200
    assert min(asked.values()) > 0


def test_the_bandit_forgets_what_no_longer_pays():
    bandit = Bandit(["early", "late"])
    for step in range(400):
        arm = bandit.choose(["early", "late"], stream(7, step))
        bandit.learn(arm, stream(8, step).random() < (0.6 if (arm == "early") == (step < 200) else 0.02))
    later = Counter(bandit.choose(["early", "late"], stream(9, step)) for step in range(100))
    assert later["late"] > 80


def test_a_prior_is_where_the_bandit_begins():
    bandit = Bandit(["a", "b"], [Prior("b", 18.0, 2.0), Prior("unheard of", 1.0, 1.0)])
    assert Counter(bandit.choose(["a", "b"], stream(1, n)) for n in range(100))["b"] > 65


def test_a_prior_says_that_requests_bring_candidates():
    bandit = Bandit(["a", "b", "c"], [Prior("b", 8.0, 2.0)])
    assert Counter(bandit.choose(["a", "b", "c"], stream(1, n)) for n in range(100))["b"] > 80


def test_who_brings_nothing_is_asked_less_than_who_brings_what_does_not_pay():
    bandit = Bandit(["dead", "alive"])
    for _ in range(20):
        for arm in ("dead", "alive"):
            bandit.learn_request(arm, arm == "alive")
            bandit.learn(arm, paid=False)
    chosen = Counter(bandit.choose(["dead", "alive"], stream(1, n)) for n in range(200))
    assert chosen["dead"] < 30


def test_payoffs_count_by_proposer_and_note():
    ledger = Ledger()
    ledger.proposed("a", ["tile", "tile", "unroll"], duplicates=2, malformed=1, account=Account())
    ledger.told("a", "tile", verified=True, added=Added.BETTER, factor=2.0, champion=True)
    ledger.told("a", "tile", verified=True, added=Added.NEW, factor=0.5, champion=False)
    ledger.told("a", "unroll", verified=False, added=Added.NO, factor=0.0, champion=False)
    dropped, tile, unroll = ledger.rows
    assert (tile.proposed, tile.verified, tile.added, tile.paid, tile.champions, tile.gain) == (2, 2, 2, 1, 1, 1.0)
    assert (unroll.proposed, unroll.verified, unroll.added) == (1, 0, 0)
    assert (dropped.note, dropped.duplicates, dropped.malformed) == ("", 2, 1)
    (whole,) = by_proposer(ledger.rows)
    assert (whole.proposed, whole.paid, whole.duplicates) == (3, 1, 2)
    assert priors(ledger.rows) == (Prior("a", 1.0, 2.0),)


def test_other_runs_teach_no_more_than_twenty_candidates():
    ledger = Ledger()
    ledger.proposed("a", ["x"] * 100, 0, 0, Account())
    assert priors(ledger.rows) == (Prior("a", 0.0, 20.0),)


@pytest.mark.parametrize(
    ("budget", "progress", "because"),
    [
        (Budget(rounds=3), Progress(rounds=3), "3 of 3 rounds"),
        (Budget(evaluations=9), Progress(evaluations=9), "9 evaluations"),
        (Budget(seconds=2.5), Progress(seconds=2.5), "2.5 seconds"),
        (Budget(tokens=100), Progress(tokens=101), "100 tokens"),
        (Budget(stale_rounds=4), Progress(stale_rounds=4, stale_evaluations=24), "in 4 rounds: .* 1 in 8 "),
    ],
)
def test_each_budget_ends_a_search_with_its_reason_and_not_before(budget, progress, because):
    assert not budget.spent(Progress())
    assert re.search(because, budget.spent(progress))


@pytest.mark.parametrize(
    "wrong",
    [{"islands": 0}, {"proposers": ()}, {"proposers": ("a", "a")}, {"proposers": ("seed",)}, {"exploit": 1.5}],
)
def test_settings_that_cannot_be_are_errors(wrong):
    with pytest.raises(ValueError, match=r"at least|names|shares"):
        Settings(**{"seed": 1, "axes": AXES, "proposers": ("a",)} | wrong)

"""Candidates kept in flight: outcomes count as they come, nothing waits for the slow, and a replay is exact."""

import random
from dataclasses import replace

import pytest

from porter.evolve.budget import Budget
from porter.evolve.events import Closed, Doubted, Granted, Told
from porter.evolve.journal import NAME
from porter.evolve.replay import replayed, searching
from porter.evolve.search import Search
from porter.evolve.state import State
from tests.pure.evolve.world import SEED_CANDIDATE, Events, World, proposers, settings

MANY = settings(in_flight=5)


def begun(budget, declared=MANY):
    events = Events()
    search = Search(State(declared), proposers(), [SEED_CANDIDATE], events, lambda: 0.0)
    search.record(Granted(budget))
    return search, events.all


def drive(search, shuffle, count=5, most=10_000):
    """Evaluate at most so many, whichever is drawn of those in flight."""
    world, flying = World(), []
    for _ in range(most):
        if search.ended:
            return
        flying += search.ask(count - len(flying))
        shuffle.shuffle(flying)
        search.tell([world.evaluate(flying.pop())])


def test_one_that_never_comes_back_holds_nothing_up():
    search, events = begun(Budget(rounds=100, evaluations=30))
    world = World()
    (seed,) = search.ask(9)
    search.tell([world.evaluate(seed)])
    lost, *flying = search.ask(5)
    assert len(flying) == 4
    while flying:
        search.tell([world.evaluate(flying.pop(0))])
        flying += search.ask(4 - len(flying))
    assert sum(isinstance(event, Told) and not event.again for event in events) == 29
    assert not search.ended
    search.tell([world.evaluate(lost)])
    for known in search.ask(9):  # the best, once more
        search.tell([world.evaluate(known)])
    assert search.ended == "the 30 evaluations are done"


def test_so_many_are_in_flight_until_the_budget_is_spent():
    search, events = begun(Budget(rounds=100, evaluations=30))
    shuffle, world, flying = random.Random(1), World(), search.ask(1)
    search.tell([world.evaluate(flying.pop())])
    while search.state.progress.evaluations < 24:
        flying += search.ask(5 - len(flying))
        assert len(flying) == 5
        assert len(search.state.round.waiting) <= 6
        shuffle.shuffle(flying)
        search.tell([world.evaluate(flying.pop())])
    assert [event.round for event in events if isinstance(event, Closed)][:3] == [0, 1, 2]


@pytest.mark.parametrize("seed", range(4))
def test_the_journal_replays_byte_for_byte_whatever_the_order_of_arrival(tmp_path, seed):
    budget = Budget(rounds=8)
    with searching(tmp_path, MANY, budget, proposers(), [SEED_CANDIDATE], clock=lambda: 0.0) as search:
        drive(search, random.Random(seed))
    state = replayed(tmp_path).state
    assert state.ended == "8 of 8 rounds are done"
    assert state.best == search.best
    assert list(state.members) == list(search.state.members)


def test_a_search_that_was_killed_anywhere_goes_on_to_a_whole_one(tmp_path):
    budget = Budget(rounds=6)
    for most in (0, 1, 4, 11):
        folder = tmp_path / str(most)
        with searching(folder, MANY, budget, proposers(), [SEED_CANDIDATE], clock=lambda: 0.0) as search:
            drive(search, random.Random(most), most=most)
            waiting = [one.candidate for one in search.state.round.waiting.values()]
        lines = (folder / NAME).read_bytes()
        (folder / NAME).write_bytes(lines + b'{"event":"told","scor')
        with searching(folder, MANY, budget, proposers(), [SEED_CANDIDATE], clock=lambda: 0.0) as search:
            assert [one.candidate for one in search.state.round.waiting.values()] == waiting
            drive(search, random.Random(most))
        assert (folder / NAME).read_bytes().startswith(lines)
        assert replayed(folder).state.ended == "6 of 6 rounds are done"


def test_it_ends_where_nothing_new_is_proposed_and_measures_the_best_again():
    search, events = begun(Budget(rounds=10_000), replace(MANY, measure_after=2))
    drive(search, random.Random(3))
    assert search.ended == "no proposer had anything new"
    told = [event.scored.digest for event in events if isinstance(event, Told) and not event.again]
    assert len(told) == len(set(told)) > 50
    assert search.best.scored.digest in [event.digest for event in events if isinstance(event, Doubted)]

import pytest

from porter.evolve.archive import Added
from porter.evolve.islands import Islands, Move
from porter.evolve.scored import Measure
from tests.pure.evolve.test_archive import AXES, member


def test_the_top_of_each_island_is_shown_to_the_next_in_a_ring():
    islands = Islands(AXES, 3)
    best = [member(f"best {n}", 2.0 + n, cell=(n, 0)) for n in range(3)]
    for number, elite in enumerate(best):
        islands.add(elite, number)
        islands.add(member(f"poor {number}", 0.5 + number / 10, cell=(number, 1)), number)
    moves = islands.migrate(0.5)
    assert [(move.source, move.target, move.digest) for move in moves] == [
        (n, (n + 1) % 3, elite.scored.digest) for n, elite in enumerate(best)
    ]
    assert [len(archive.elites) for archive in islands.archives] == [3, 3, 3]
    assert islands.archives[1].elites[0, 0] is best[0]  # by reference


def test_what_comes_to_an_island_does_not_go_on_in_the_same_migration():
    islands = Islands(AXES, 3)
    elite = member("elite", 2.0)
    islands.add(elite, 0)
    assert islands.migrate(1.0) == (Move(0, 1, elite.scored.digest, Added.NEW),)
    assert not islands.archives[2].elites


def test_one_island_has_no_neighbour():
    islands = Islands(AXES, 1)
    islands.add(member("a"), 0)
    assert islands.migrate(1.0) == ()


def test_a_seed_is_added_to_all():
    islands = Islands(AXES, 3)
    assert islands.add(member("seed"), None).added is Added.NEW
    assert all(len(archive.elites) == 1 for archive in islands.archives)


def test_an_outcome_measured_again_counts_on_each_island_that_holds_the_candidate():
    islands = Islands(AXES, 2)
    islands.add(member("seed", 1.0), None)
    islands.measured_again(member("seed", 0.7))
    assert [archive.elites[0, 0].scored.score.factor for archive in islands.archives] == [0.7, 0.7]


def test_of_equal_bests_on_two_islands_the_first_to_come_is_the_best():
    islands = Islands(AXES, 2)
    first, second = member("first", 2.0), member("second", 2.0)
    islands.add(first, 1)
    islands.add(second, 0)
    assert islands.best is first


def test_measures_are_not_mixed_between_islands():
    islands = Islands(AXES, 2)
    islands.add(member("a"), 0)
    with pytest.raises(ValueError, match="modelled"):
        islands.add(member("b", measure=Measure.MODELLED), 1)

import math

import hypothesis.strategies as st
import pytest
from hypothesis import given

from porter.evolve.archive import Added, Archive
from porter.evolve.axis import Axis, numeric
from porter.evolve.candidate import Candidate, File, Origin
from porter.evolve.proposer import Member
from porter.evolve.scored import Measure, Score, Scored

AXES = (Axis("memory", ("global", "shared", "registers")), Axis("parallel", ("rows", "elements")))


def member(name, factor=1.0, noise=0.0, cell=(0, 0), outcome="verified", built="", measure=Measure.NATIVE, because=""):
    candidate = Candidate((File("kernel.py", name),), Origin("test"))
    score = Score(measure, factor, factor * (1 - noise), factor * (1 + noise)) if outcome == "verified" else None
    return Member(candidate, Scored(candidate.digest, outcome, because, score, cell, built=built))


def archive(*members):
    made = Archive(AXES)
    for each in members:
        made.add(each)
    return made


cells = st.tuples(st.integers(0, 2), st.integers(0, 1))
factors = st.floats(0.05, 20)
members = st.builds(
    member,
    name=st.text(max_size=3),
    factor=factors,
    noise=st.sampled_from([0.0, 0.01, 0.2]),
    cell=cells,
    outcome=st.sampled_from(["verified", "verified", "verified", "wrong", "not_built"]),
    built=st.sampled_from(["", "", "a", "b", "c"]),
    because=st.sampled_from(["x", "y"]),
)


@given(st.lists(members, max_size=30))
def test_an_archive_holds_what_was_added_one_verified_member_a_cell(given_members):
    made = archive(*given_members)
    for cell, elite in made.elites.items():
        assert elite in given_members
        assert elite.scored.outcome == "verified"
        assert elite.scored.cell == cell


@given(st.lists(members, max_size=30), members)
def test_what_add_says_is_what_it_does(given_members, newcomer):
    made = archive(*given_members)
    before = dict(made.elites)
    decision = made.add(newcomer)
    after = dict(made.elites)
    if decision.added is Added.NO:
        assert after == before
    else:
        cell = newcomer.scored.cell
        assert after.pop(cell) is newcomer
        assert (before.pop(cell, None) is None) == (decision.added is Added.NEW)
        assert after == before


@given(st.lists(members, max_size=30), members)
def test_adding_twice_is_adding_once(given_members, newcomer):
    made = archive(*given_members, newcomer)
    before = dict(made.elites), made.failures
    assert made.add(newcomer).added is Added.NO
    assert (dict(made.elites), made.failures) == before


@given(st.lists(members, max_size=30))
def test_an_elite_gives_way_only_to_one_that_is_better_beyond_noise(given_members):
    made = Archive(AXES)
    for each in given_members:
        before = dict(made.elites)
        made.add(each)
        for cell, elite in before.items():
            if made.elites[cell] is not elite:
                assert made.elites[cell].scored.score.low > elite.scored.score.high


@given(st.lists(st.tuples(factors, cells), max_size=12, unique_by=lambda pair: pair[0]), st.randoms())
def test_without_noise_the_order_of_arrival_does_not_change_the_elites(pairs, random):
    many = [member(str(number), factor, cell=cell) for number, (factor, cell) in enumerate(pairs)]
    shuffled = random.sample(many, len(many))
    assert archive(*many).elites == archive(*shuffled).elites


def test_statuses_are_ordered_and_only_no_is_false():
    assert Added.NO < Added.BETTER < Added.NEW
    assert [bool(status) for status in Added] == [False, True, True]


@pytest.mark.parametrize("factor", [math.nan, math.inf, -math.inf, 0.0, -1.0])
def test_a_factor_that_is_none_owns_no_cell(factor):
    made = archive()
    assert not made.add(member("a", factor)).added
    assert not made.elites


def test_an_interval_without_its_factor_owns_no_cell():
    odd = member("a")
    odd = Member(odd.candidate, Scored(odd.scored.digest, "verified", "", Score(Measure.NATIVE, 3, 1, 2), (0, 0)))
    assert not archive().add(odd).added


def test_an_equal_modelled_cost_does_not_replace():
    made = archive(member("first", 1.5, measure=Measure.MODELLED))
    assert made.add(member("second", 1.5, measure=Measure.MODELLED)).added is Added.NO
    assert made.add(member("third", 1.6, measure=Measure.MODELLED)).added is Added.BETTER


def test_the_same_binary_does_not_replace_however_lucky_its_measurement():
    first = member("first", 1.0, 0.01, built="b")
    decision = archive(first).add(member("second", 2.0, 0.01, built="b"))
    assert decision.added is Added.NO
    assert first.scored.digest in decision.because


def test_scores_of_different_measures_are_not_mixed():
    with pytest.raises(ValueError, match="modelled"):
        archive(member("a")).add(member("b", cell=(1, 1), measure=Measure.MODELLED))


@pytest.mark.parametrize("cell", [(3, 0), (-1, 0), (0,), (0, 0, 0)])
def test_a_cell_outside_of_the_axes_is_an_error(cell):
    with pytest.raises(ValueError, match="outside"):
        archive().add(member("a", cell=cell))


def test_failures_are_kept_one_of_each_reason_the_newest_first_and_bounded():
    made = archive(*(member(f"{n}", outcome="wrong", because=f"reason {n}") for n in range(40)))
    made.add(member("again", outcome="wrong", because="reason 30"))
    reasons = [each.scored.because for each in made.failures]
    assert reasons[:3] == ["reason 30", "reason 39", "reason 38"]
    assert len(reasons) == len(set(reasons)) == 16
    assert made.failures[0].candidate.files[0].text == "again"


def test_of_equals_the_one_that_came_first_ranks_first():
    made = archive(member("a", 1.0, cell=(0, 0)), member("b", 2.0, cell=(1, 0)), member("c", 2.0, cell=(0, 1)))
    assert [each.candidate.files[0].text for each in made.ranked()] == ["b", "c", "a"]


def test_an_elite_measured_again_moves_to_where_it_now_belongs():
    lucky, other = member("lucky", 3.0, 0.01, (0, 0)), member("other", 2.0, 0.01, (1, 0))
    made = archive(lucky, other)
    assert made.measured_again(member("lucky", 2.5, 0.01, (2, 0))).added is Added.NEW
    assert set(made.elites) == {(2, 0), (1, 0)}
    assert not made.measured_again(member("lucky", 1.5, 0.01, (1, 0))).added
    assert made.elites == {(1, 0): other}


def test_an_elite_that_fails_when_measured_again_is_none():
    made = archive(member("flaky", 3.0))
    assert not made.measured_again(member("flaky", outcome="crashed")).added
    assert not made.elites
    assert [each.scored.outcome for each in made.failures] == ["crashed"]


def test_what_is_no_elite_is_not_measured_again():
    made = archive(member("a"))
    assert not made.measured_again(member("b", 9.0)).added
    assert len(made.elites) == 1


def test_an_edge_belongs_to_the_coordinate_above_it():
    score = numeric("score", (0.5, 0.8, 1, 1.25, 2, 4, 8))
    assert score.labels == ("<0.5", "0.5-0.8", "0.8-1", "1-1.25", "1.25-2", "2-4", "4-8", ">8")
    assert [score.coordinate(value) for value in (0.1, 0.5, 0.99, 1.0, 1.25, 7.9, 8, 100)] == [0, 1, 2, 3, 4, 6, 7, 7]


def test_axes_that_contradict_themselves_are_errors():
    with pytest.raises(ValueError, match="ascend"):
        numeric("x", (1, 1))
    with pytest.raises(ValueError, match="fit"):
        Axis("x", ("a", "b"), (1, 2))

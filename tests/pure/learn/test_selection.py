import pytest

from porter.evolve.candidate import File
from porter.learn.selection import (
    Choice,
    balanced,
    canonical,
    difficulties,
    distinct,
    held_out,
    is_right_and_faster,
    select_steps,
)
from porter.learn.sieve import Sieve, sieve
from tests.pure.learn.steps_by_hand import ORIGINAL, search, step


def numbers(steps):
    return [one.number for one in steps]


def test_the_best_steps_beat_all_before_them_by_the_gain():
    steps = search(1.04, 1.2, 1.22, 0, 1.3, 1.3)
    assert numbers(select_steps(steps, Choice.BEST, 0.05)) == [2, 5]
    assert numbers(select_steps(steps, Choice.BEST, 0.0)) == [1, 2, 3, 5, 6]


def test_searches_are_told_apart_and_the_seed_is_no_step():
    steps = [*search(2.0, run="a"), *search(1.5, run="b")]
    assert [one.work.run for one in select_steps(steps, Choice.BEST)] == ["a", "b"]
    assert numbers(select_steps(steps, Choice.ALL)) == [1, 1]


def test_initial_steps_change_the_seed():
    steps = [*search(2.0), step(2, 2.5, parent=2.0)]
    assert numbers(select_steps(steps, Choice.INITIAL)) == [1]


@pytest.mark.parametrize(
    ("factor", "parent", "kept"),
    [(1.2, 1.0, True), (1.01, 1.0, False), (0.9, 1.0, False), (0, 1.0, False), (0.5, 0, True), (0, 0, False)],
)
def test_the_dual_filter_keeps_what_is_right_and_better_beyond_noise(factor, parent, kept):
    assert is_right_and_faster(step(1, factor, parent)) is kept


def test_comments_and_layout_make_no_other_program():
    assert canonical([File("k.py", "x = (1)  # one\n\n")]) == canonical([File("k.py", "x = 1\n")])
    assert canonical([File("k.py", "x = 1\n")]) != canonical([File("k.py", "x = 2\n")])
    assert canonical([File("k.cu", "int x /* a */ = 1;\n")]) == canonical([File("k.cu", "int  x = 1; // b\n")])
    assert canonical([File("k.cu", '"a  b"')]) != canonical([File("k.cu", '"a b"')])
    assert canonical([File("k.py", "x =")]) != canonical([File("k.py", "x = ")])


def test_a_program_counts_once_for_each_operator():
    steps = [step(1, 2.0, text="x = 1\n"), step(2, 2.0, text="x = 1 # again\n")]
    other = step(1, 2.0, text="x = 1\n", original="another")
    assert distinct([*steps, other]) == [steps[0], other]


def test_balance_takes_at_most_so_many_of_each_category_and_difficulty():
    easy = search(2.0, 2.0, 2.0, run="easy")
    hard = search(*[0.5] * 20, run="hard")
    loss = search(2.0, 2.0, run="loss", category="loss")
    steps = [*easy, *hard, *loss]
    assert difficulties(steps) == {"easy": "easy", "hard": "hard", "loss": "easy"}
    kept = balanced([one for one in steps if one.number], 2, difficulties(steps))
    assert [one.work.run for one in kept] == ["easy"] * 2 + ["hard"] * 2 + ["loss"] * 2
    assert kept == balanced([one for one in steps if one.number], 2, difficulties(steps))


def test_an_operator_of_the_suite_is_left_out_whatever_its_comments_say():
    near = ORIGINAL.replace("int i", "/* the lane */  int i")
    steps = [*search(2.0, run="same", original=near), *search(2.0, run="other", original="void g() { h(1, 2, 3); }")]
    kept, left_out = held_out(steps, {"suite/scale": ORIGINAL})
    assert {one.work.run for one in kept} == {"other"}
    assert left_out == {"same": "suite/scale"}


def test_a_sieve_says_how_many_are_left_after_each_filter():
    steps = search(1.2, 1.5, 0, 1.0)
    found = sieve(steps, Sieve(better=True, most=1))
    assert list(found.counts.values()) == [5, 4, 2, 2, 1]
    assert len(found.steps) == 1

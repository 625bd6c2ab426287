"""The evaluations of a search are kept whole, whatever becomes of the process that writes them."""

from concurrent.futures import ThreadPoolExecutor

from porter.evaluate.model.outcome import NotVerified
from porter.evolve.scoring.evaluation import Evaluation
from porter.search.evaluations import NAME, EvaluationFile, Kept, kept_evaluations


def evaluation(seconds):
    return Evaluation(NotVerified("it was slow"), said="slow", environment={"torch": "2"}, seconds=seconds)


def test_several_threads_keep_each_evaluation_as_it_was(tmp_path):
    keep = EvaluationFile(tmp_path).keep
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda number: keep(f"{number}", number % 2, evaluation(float(number))), range(20)))
    found = sorted(kept_evaluations(tmp_path), key=lambda one: one.evaluation.seconds)
    assert found == [Kept(f"{number}", number % 2, evaluation(float(number))) for number in range(20)]


def test_a_line_that_was_cut_short_takes_no_other_with_it(tmp_path):
    EvaluationFile(tmp_path).keep("a", 0, evaluation(1.0))
    whole = (tmp_path / NAME).read_bytes()
    (tmp_path / NAME).write_bytes(whole + whole[: len(whole) // 2])
    EvaluationFile(tmp_path).keep("b", 0, evaluation(2.0))
    assert [one.candidate for one in kept_evaluations(tmp_path)] == ["a", "b"]


def test_a_search_of_before_kept_none(tmp_path):
    assert not list(kept_evaluations(tmp_path))

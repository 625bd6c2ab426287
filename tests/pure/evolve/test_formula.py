"""Candidates from a formula: the order of schedules first, then what lies around the best."""

from pathlib import Path

from porter.backend import Port
from porter.evaluate.formula.scheduled import Entry, Formula
from porter.evaluate.model.migration import MigrateOptions
from porter.evolve.proposer import Member, Request
from porter.evolve.proposing.formula import NAME, FormulaProposer
from porter.evolve.scored import Measure, Score, Scored
from porter.evolve.scoring.evaluator import LocalEvaluator, Ranked
from porter.evolve.scoring.subject import Subject
from porter.evolve.traits import MECHANISM, traits
from porter.registry import find_backend
from porter.schedule.schedule import Algorithm
from porter.search.loop import CandidateJudge
from porter.source.parse import parse
from porter.source_text import Source
from porter.translation_unit import original_unit
from tests.pure.schedule.programs import ALL
from tests.toolchain.schedule.test_modules import contract_of

TARGET = find_backend("triton").targets()[0]
CONTRACT = contract_of(ALL["softmax"])


def formula(rows=4096, columns=200_000):
    entry = Entry(CONTRACT, ALL["softmax"])
    entry.__dict__["sizes"] = {"rows": rows, "columns": columns}  # what a workload of the contract would say
    return Formula(Source(Path("own.cu"), ""), TARGET, (entry,))


def request(history=(), count=4):
    return Request(count, 1, 0, 7, (), (), history=tuple(history), seen=frozenset(m.candidate.digest for m in history))


def told(candidate, factor):
    score = Score(Measure.NATIVE, factor, factor, factor)
    return Member(candidate, Scored(candidate.digest, "verified", "", score))


def test_the_first_candidates_are_the_most_promising_schedules():
    own = formula()
    found = FormulaProposer(own).propose(request())
    assert [candidate.origin.note for candidate in found] == [str(schedule) for schedule in own.schedules[:4]]
    assert all(candidate.origin.proposer == NAME for candidate in found)
    assert len({candidate.digest for candidate in found}) == 4


def test_nothing_is_proposed_twice_and_steps_go_from_the_best():
    proposer, history = FormulaProposer(formula()), []
    for _ in range(2):
        found = proposer.propose(request(history))
        history += [told(candidate, float(len(history) + place)) for place, candidate in enumerate(found, 1)]
    best = history[-1].candidate.origin.note
    found = proposer.propose(request(history))
    assert not {c.digest for c in found} & {m.candidate.digest for m in history}
    assert all(c.origin.note.startswith(best.split(",")[0]) for c in found)


def test_a_target_whose_programs_may_not_wait_gets_none_that_do():
    (patient,) = [one for one in find_backend("triton").targets() if one.arch == "gfx942"]
    own = Formula(formula().source, patient, formula().entries)
    assert not patient.programs_wait
    assert Algorithm.SHARED in {schedule.algorithm for schedule in formula().all_schedules}
    assert Algorithm.SHARED not in {schedule.algorithm for schedule in own.all_schedules}


def test_all_schedules_have_names_of_their_own():
    every = formula().all_schedules
    assert len({str(schedule) for schedule in every}) == len(every)


class Scores:
    """Gives every candidate the same score, and says that none may win."""

    measure, device = Measure.NATIVE, "a device"

    def score(self, port, to_beat):
        return Ranked(Score(Measure.NATIVE, 0.5, 0.5, 0.5), "half as fast")

    def may_win(self, score, to_beat):
        return False


def test_what_is_slower_than_the_best_is_not_proven_and_not_verified():
    backend = find_backend("triton")
    source = parse(Source(Path("own.cu"), "__global__ void k(float* x) { x[0] = 1; }"))
    subject = Subject(
        original_unit(source, (), ()), Port((), ()), TARGET, (CONTRACT,), MigrateOptions("triton", Path())
    )
    evaluator = LocalEvaluator(subject, "", backend, (), None, Scores())  # nothing is there to prove by
    kept = []
    apart = traits(MECHANISM, backend, ())
    judge = CandidateJudge(evaluator, 0, apart, frozenset({NAME}), lambda *given: kept.append(given))
    (candidate,) = FormulaProposer(formula()).propose(request(count=1))
    told = judge.evaluate(candidate)
    assert (told.outcome, told.score) == ("not_verified", None)
    assert "was not proven" in told.because
    ((digest, repetition, evaluation),) = kept
    assert (digest, repetition, evaluation.said) == (candidate.digest, 0, "half as fast")

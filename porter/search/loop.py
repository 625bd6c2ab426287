"""Evaluates the candidates of a search, `jobs` at once, while slow proposers answer."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any

from porter.evaluate.model.migration import Progress
from porter.evolve.candidate import Candidate
from porter.evolve.scored import Scored
from porter.evolve.scoring.evaluation import Evaluation, EvaluationRequest, Evaluator, Program, content_of, digest_of
from porter.evolve.scoring.evaluator import scored
from porter.evolve.search import Search
from porter.evolve.traits import Traits

_DEADLINE_S = 3600.0  # for one candidate, its time in a queue included; whole searches take less
Ask = Callable[[Search, Candidate], Callable[[], Scored]]  # called by one thread, and what it returns by any


def _keep_nothing(_candidate: str, _repetition: int, _evaluation: Evaluation) -> None:
    """Leaves it at what a search is told."""


@dataclass(frozen=True)
class CandidateJudge:
    """Asks an evaluator about candidates, and passes on what counts for a search.

    `seed` draws the inputs of all judgements; candidates are told `apart` by these traits. The proposers in
    `score_first` write porter's own candidates, from a formula that was compared with the original: they are scored
    first, and only proven if they beat the best. `keep` is handed each evaluation whole, by any thread.
    """

    evaluator: Evaluator
    seed: int
    apart: Traits
    score_first: frozenset[str] = frozenset()
    keep: Callable[[str, int, Evaluation], None] = _keep_nothing

    def evaluate(self, candidate: Candidate, to_beat: float = 1.0, repetition: int = 0) -> Scored:
        """Evaluates a candidate, which has to be worth more than `to_beat` to be the best."""
        program = Program(candidate.files)
        request = EvaluationRequest(
            problem=self.evaluator.problem,
            candidate=digest_of(content_of(program)),
            seed=self.seed,
            fidelity=self.evaluator.fidelity,
            deadline_s=_DEADLINE_S,
            to_beat=to_beat,
            score_first=candidate.origin.proposer in self.score_first,
            repetition=repetition,
        )
        evaluation = self.evaluator.evaluate(program, request)
        self.keep(candidate.digest, repetition, evaluation)
        return scored(candidate, evaluation, self.apart)

    def asked(self, search: Search, candidate: Candidate) -> Callable[[], Scored]:
        """Returns what evaluates a candidate against the best that `search` has now, in any thread."""
        best = search.best.scored.score if search.best else None
        to_beat, repetition = max(1.0, best.low if best else 1.0), int(candidate.digest in search.state.members)
        return lambda: self.evaluate(candidate, to_beat, repetition)


def evaluate_all(search: Search, ask: Ask, jobs: int, progress: Progress) -> None:
    """Evaluates several candidates at once until the search is over; they count in the order of proposals."""
    with ThreadPoolExecutor(jobs) as pool:
        flying: set[Future[Scored]] = set()
        while not search.ended:
            for candidate in search.ask(jobs - len(flying)):
                progress(f"{_so_far(search)}: {candidate.origin.note or candidate.origin.proposer}")
                flying.add(pool.submit(ask(search, candidate)))
            _wait(flying, search)
            done = {future for future in flying if future.done()}
            flying -= done
            search.tell([future.result() for future in done])


def _wait(flying: set[Future[Scored]], search: Search) -> None:
    """Waits until a candidate is evaluated or a question answered, the latter only as long as the search may last."""
    waited: set[Future[Any]] = {*flying, *search.questions}
    if waited and not search.ended:
        wait(waited, search.seconds_left if search.questions else None, FIRST_COMPLETED)


def _so_far(search: Search) -> str:
    budget, best = search.state.budget, search.best.scored.score if search.best else None
    rounds = f"round {search.state.round.number} of {budget.rounds}" if budget else "searching"
    return f"{rounds}, best {best.factor:.3f}" if best else rounds

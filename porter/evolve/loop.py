"""Candidates of a search evaluated, `jobs` at once, while slow proposers answer."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any

from porter.evaluate.migration import Progress
from porter.evolve.candidate import Candidate
from porter.evolve.scored import Scored
from porter.evolve.search import Search


def evaluate_all(search: Search, evaluate: Callable[[Candidate], Scored], jobs: int, progress: Progress) -> None:
    """Evaluate until it is over, several candidates at once; they count in the order in which they were proposed."""
    with ThreadPoolExecutor(jobs) as pool:
        flying: set[Future[Scored]] = set()
        while not search.ended:
            for candidate in search.ask(jobs - len(flying)):
                progress(f"{_so_far(search)}: {candidate.origin.note or candidate.origin.proposer}")
                flying.add(pool.submit(evaluate, candidate))
            _wait(flying, search)
            done = {future for future in flying if future.done()}
            flying -= done
            search.tell([future.result() for future in done])


def _wait(flying: set[Future[Scored]], search: Search) -> None:
    """Until a candidate is evaluated, or a question answered; for an answer no longer than the search may take."""
    waited: set[Future[Any]] = {*flying, *search.questions}
    if waited and not search.ended:
        wait(waited, search.seconds_left if search.questions else None, FIRST_COMPLETED)


def _so_far(search: Search) -> str:
    budget, best = search.state.budget, search.best.scored.score if search.best else None
    rounds = f"round {search.state.round.number} of {budget.rounds}" if budget else "searching"
    return f"{rounds}, best {best.factor:.3f}" if best else rounds

"""A search: callers ask for candidates and tell outcomes. `state` says what it does in between, `events` what it says.

    with searching(folder, settings, budget, proposers, seeds) as search:
        while not search.ended:
            for candidate in search.ask(8):           # those that are in flight, if none is free
                search.tell([evaluate(candidate)])    # in any order, from one thread
    search.best

A round is proposed as a whole, then evaluated, several at once if the caller can, then closed. Every round serves all
islands, so each island learns of every outcome as soon as it can, with as many evaluations in flight as for one. Where
a search keeps candidates in flight nothing waits for a round: each outcome makes room for the next candidate at once.

Slow proposers answer in threads of their own (`questions`), while rounds go on; their answers count when they come. The
caller waits for them as it does for evaluations.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from itertools import islice
from typing import Protocol

from porter.evolve.candidate import Candidate
from porter.evolve.events import NOTHING_SAID, Event, Proposed, Told, Waited
from porter.evolve.proposer import Account, Accountable, Member, Proposer
from porter.evolve.questions import Questions
from porter.evolve.scored import Scored
from porter.evolve.state import Asking, State
from porter.evolve.store import keepable


class Recorder(Protocol):
    """Writes down what happens in a search."""

    def write(self, event: Event, seconds: float) -> None:
        """Appends an event."""
        ...


class Unrecorded:
    """Forgets the events of a search, where nobody reads them."""

    def write(self, event: Event, seconds: float) -> None:
        """Forgets an event."""


class Search:
    """Asks proposers, hands candidates out, and takes outcomes in; from one thread.

    `clock` returns seconds. A resumed journal continues its own count: while nothing runs, no time passes.
    """

    def __init__(
        self,
        state: State,
        proposers: Sequence[Proposer],
        seeds: Sequence[Candidate],
        recorder: Recorder | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.state = state
        self._proposers: Mapping[str, Proposer] = {proposer.name: proposer for proposer in proposers}
        if missing := set(state.settings.proposers) - self._proposers.keys():
            raise ValueError(f"no such proposers: {sorted(missing)}")
        self._seeds = tuple(seeds)
        self._recorder = recorder or Unrecorded()
        self._clock = clock
        self._began = clock() - state.progress.seconds
        self._questions = Questions()
        self._out: set[str] = set()
        self._early: dict[str, Scored] = {}

    @property
    def ended(self) -> str:
        """The reason why it is over; empty while it goes on."""
        return self.state.ended

    @property
    def best(self) -> Member | None:
        """The best so far; None while nothing is verified."""
        return self.state.best

    @property
    def questions(self) -> tuple[Future[None], ...]:
        """The futures of slow proposers' answers: when one is done it is time to ask again."""
        return self._questions.pending

    @property
    def seconds_left(self) -> float | None:
        """The time it may still go on; None where that is not limited."""
        budget = self.state.budget
        if budget is None or budget.seconds is None:
            return None
        return max(0.0, budget.seconds - (self._clock() - self._began))

    def ask(self, count: int) -> list[Candidate]:
        """Returns at most `count` candidates to be evaluated.

        There are none where all current ones are out, or the search is over. A candidate may come again after its
        outcome was told: it is the best so far, and is measured once more, afresh.
        """
        self._proceed()
        if self.ended:
            return []
        waiting = self.state.round.waiting
        free = list(islice((digest for digest in waiting if digest not in self._out), count))
        self._out.update(free)
        return [waiting[digest].candidate for digest in free]

    def tell(self, outcomes: Sequence[Scored]) -> None:
        """Takes the outcomes of candidates that are out. After the end of the search they are ignored.

        Raises:
            ValueError: a candidate is not out.
        """
        for scored in outcomes:
            if self.ended:
                return
            if scored.digest not in self._out or scored.digest in self._early:
                raise ValueError(f"{scored.digest} is not out for evaluation")
            self._early[scored.digest] = _sound(scored)
            self._hear()

    def record(self, event: Event) -> None:
        """Applies an event, and writes it."""
        seconds = round(self._clock() - self._began, 3)
        self._recorder.write(self.state.apply(event, seconds), seconds)

    def _hear(self) -> None:
        """Applies outcomes, each in its turn: those that came early may have to wait for those before them."""
        while not self.ended and (waiting := self.state.heard(self._early)):
            scored = self._early.pop(waiting.candidate.digest)
            self._out.remove(scored.digest)
            self.record(Told(scored, waiting.again))
            self._proceed()

    def _proceed(self) -> None:
        """Applies all that follows, up to where candidates are waited for."""
        self._hear_answers()
        while due := self.state.due():
            self.record(self._proposed(due) if isinstance(due, Asking) else due)
            self._hear_answers()

    def _hear_answers(self) -> None:
        """Sends requests that are not out yet, and counts the answers that have come, in their order."""
        if self.ended:
            return
        for step, asking in self.state.out.items():
            self._questions.ask(step, self._proposers[asking.proposer], asking.request)
        for step, (offered, account) in self._questions.answers():
            self.record(self._sorted(self.state.out[step], step, offered, account))
        if self.state.out and self.seconds_left == 0.0 and not self.ended:
            self.record(Waited())

    def _proposed(self, asking: Asking) -> Proposed:
        proposer = self._proposers.get(asking.proposer)
        offered = proposer.propose(asking.request) if proposer else self._seeds
        account = proposer.account() if isinstance(proposer, Accountable) else NOTHING_SAID
        return self._sorted(asking, self.state.step, offered, account)

    def _sorted(self, asking: Asking, step: int, offered: Sequence[Candidate], account: Account) -> Proposed:
        """Returns what was offered, without candidates that are known by now or whose files cannot be kept."""
        kept = [candidate for candidate in offered if keepable(candidate)]
        new = {candidate.digest: candidate for candidate in kept if not self.state.knows(candidate)}
        return Proposed(
            step=step,
            round=asking.request.round,
            island=asking.request.island,
            proposer=asking.proposer,
            candidates=tuple(new.values())[: asking.request.count if asking.proposer in self._proposers else None],
            duplicates=len(kept) - len(new),
            malformed=len(offered) - len(kept),
            account=account,
        )


def _sound(scored: Scored) -> Scored:
    """Returns the outcome without its score if that is unsound, such as one from a time that is not a number."""
    if scored.score is None or scored.score.sound:
        return scored
    return replace(scored, score=None, because=f"{scored.because}; no score: {scored.score.factor} is not a factor")

"""A search: candidates are asked for, and told of. What it does in between stands in `state`, what it says in `events`.

    with searching(folder, settings, budget, proposers, seeds) as search:
        while not search.ended:
            for candidate in search.ask(8):           # those that are in flight, if none is free
                search.tell([evaluate(candidate)])    # in any order, from one thread
    search.best

A round is proposed as a whole, then evaluated, several at once if the caller can, then closed. Every round serves all
islands: so each learns of every outcome as soon as it can, with as many evaluations in flight as if one were served.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from porter.evolve.candidate import Candidate
from porter.evolve.events import NOTHING_SAID, Event, Proposed, Told
from porter.evolve.proposer import Accountable, Member, Proposer, Request
from porter.evolve.scored import Scored
from porter.evolve.state import Asking, State
from porter.evolve.store import keepable


class Recorder(Protocol):
    """Where a search writes what happens."""

    def write(self, event: Event, seconds: float) -> None:
        """Append an event."""
        ...


class Unrecorded:
    """Where nobody reads."""

    def write(self, event: Event, seconds: float) -> None:
        """Forget an event."""


class Search:
    """Asks proposers, hands candidates out, and takes outcomes in; from one thread.

    `clock` gives seconds. Those of the journal go on where it ends: while nothing runs, no time passes.
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
        self._out: set[str] = set()
        self._early: dict[str, Scored] = {}

    @property
    def ended(self) -> str:
        """Returns why it is over; empty while it goes on."""
        return self.state.ended

    @property
    def best(self) -> Member | None:
        """The best so far; None while nothing is verified."""
        return self.state.best

    def ask(self, count: int) -> list[Candidate]:
        """At most `count` candidates to be evaluated.

        None where all that there are now are out, or the search is over. A candidate that was told of may come again:
        it is the best so far, and measured once more, afresh.
        """
        self._proceed()
        if self.ended:
            return []
        free = [w.candidate for w in self.state.round.waiting if w.candidate.digest not in self._out]
        self._out.update(candidate.digest for candidate in free[:count])
        return free[:count]

    def tell(self, outcomes: Sequence[Scored]) -> None:
        """What came of candidates that are out. After the end it is no longer heard.

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
        """Let an event happen, and write it."""
        seconds = round(self._clock() - self._began, 3)
        self._recorder.write(self.state.apply(event, seconds), seconds)

    def _hear(self) -> None:
        """Outcomes count in the order of proposals: those that came early wait for those before them."""
        while not self.ended and (waiting := self.state.round.waiting) and waiting[0].candidate.digest in self._early:
            scored = self._early.pop(waiting[0].candidate.digest)
            self._out.remove(scored.digest)
            self.record(Told(scored, waiting[0].again))
            self._proceed()

    def _proceed(self) -> None:
        """Let all happen that follows, up to where candidates are waited for."""
        while due := self.state.due():
            self.record(self._proposed(due.proposer, due.request) if isinstance(due, Asking) else due)

    def _proposed(self, name: str, request: Request) -> Proposed:
        proposer = self._proposers.get(name)
        offered = proposer.propose(request) if proposer else self._seeds
        kept = [candidate for candidate in offered if keepable(candidate)]
        new = {candidate.digest: candidate for candidate in kept if candidate.digest not in request.seen}
        return Proposed(
            step=self.state.step,
            round=request.round,
            island=request.island,
            proposer=name,
            candidates=tuple(new.values())[: request.count if proposer else None],
            duplicates=len(kept) - len(new),
            malformed=len(offered) - len(kept),
            account=proposer.account() if isinstance(proposer, Accountable) else NOTHING_SAID,
        )


def _sound(scored: Scored) -> Scored:
    """Without a score that is none, such as of a time that is not a number."""
    if scored.score is None or scored.score.sound:
        return scored
    return replace(scored, score=None, because=f"{scored.because}; no score: {scored.score.factor} is no factor")

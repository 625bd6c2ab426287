"""Holds a search's beliefs (the world model of K-Search, arXiv 2602.19128): a tree of intents, and what came of each.

An intent is an idea, not a program: it is made into several programs before it is judged, so that a good idea outlives
a bad first try. It stands on a program, its base: one that a search drew, or the best that came of its parent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from math import sqrt

from porter.evaluate.model.outcome import Verified
from porter.evolve.candidate import File, Value
from porter.evolve.proposer import Member
from porter.evolve.scored import Score

_PAYS = 1.01  # times as good as its base: less is no ground to build on, even where nothing is noise
ROOT = 0  # the parent of intents that stand on a program the search drew


class State(StrEnum):
    """The state that an intent has come to."""

    OPEN = "open"
    KEPT = "kept"  # it paid
    DROPPED = "dropped"


@dataclass(frozen=True, slots=True)
class Program:
    """A right program that intents stand on, or the last one of an open intent, which failed and is to be mended."""

    files: tuple[File, ...]
    point: Mapping[str, Value]
    score: Score | None
    feedback: str = ""
    cell: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Attempt:
    """A program made of an intent; `outcome` is empty until it is known."""

    digest: str
    outcome: str = ""
    because: str = ""
    score: Score | None = None


@dataclass(frozen=True, slots=True)
class Intent:
    """`expected` is by how many times it should improve its `base`; `kind` is the rule it comes of, or the model's."""

    id: int
    parent: int
    kind: str
    hypothesis: str
    expected: float
    base: str
    preconditions: tuple[str, ...] = ()
    tries: int = 0  # after which it is judged
    attempts: tuple[Attempt, ...] = ()
    exhausted: bool = False  # nothing more can be made of it
    state: State = State.OPEN
    judged: str = ""

    @property
    def is_under_way(self) -> bool:
        """Returns whether the outcome of an attempt is not known yet."""
        return any(not attempt.outcome for attempt in self.attempts)

    @property
    def best(self) -> Attempt | None:
        """The right attempt with the highest score."""
        right = [a for a in self.attempts if a.score is not None]
        return max(right, key=lambda a: a.score.rank if a.score else (0.0, 0.0), default=None)


@dataclass(frozen=True, slots=True)
class World:
    """All intents, oldest first, and the programs they stand on by their digests.

    `tries` is how many programs are made of an intent before it is judged. Where it `goes_on`, one that improves on
    all before it gives the intent as many again: it is abandoned after so many in a row that do not. `considered` is
    how many intents had been judged when the tree was last revised.
    """

    tries: int = 3
    goes_on: bool = False
    intents: tuple[Intent, ...] = ()
    programs: Mapping[str, Program] = field(default_factory=dict)
    considered: int = 0

    def intent(self, number: int) -> Intent | None:
        """The intent with this id."""
        return next((intent for intent in self.intents if intent.id == number), None)

    @property
    def frontier(self) -> tuple[Intent, ...]:
        """Intents of which more is to be made, the most promising first: the one expected to reach furthest.

        One that goes on learns of each attempt: while one is under way, others come first.
        """
        open_ones = (i for i in self.intents if i.state is State.OPEN and not i.exhausted)
        waiting = (i for i in open_ones if len(i.attempts) < i.tries)
        return tuple(sorted(waiting, key=lambda i: (self.goes_on and i.is_under_way, -self._reach(i), i.id)))

    def _reach(self, intent: Intent) -> float:
        score = self.programs[intent.base].score
        return intent.expected * (score.factor if score else 1.0)

    @property
    def judged(self) -> int:
        """Returns how many intents are no longer open."""
        return sum(intent.state is not State.OPEN for intent in self.intents)

    def planted(self, intent: Intent, base: Program) -> World:
        """With a new intent, whose id is given here."""
        new = replace(intent, id=max((i.id for i in self.intents), default=ROOT) + 1, tries=self.tries)
        return replace(self, intents=(*self.intents, new), programs={**self.programs, intent.base: base})

    def reopened(self, digest: str, base: Program) -> World:
        """With more tries for the judged intents on `base` of which other programs can be made."""
        world = replace(self, programs={**self.programs, digest: base})
        for intent in self.intents:
            if intent.base == digest and intent.state is not State.OPEN and not intent.exhausted:
                more = len(intent.attempts) + self.tries
                world = world.with_intent(replace(intent, state=State.OPEN, judged="", tries=more))
        return world

    def with_intent(self, changed: Intent) -> World:
        """With `changed` in the place of what has its id."""
        return replace(self, intents=tuple(changed if i.id == changed.id else i for i in self.intents))

    def attempted(self, intent: Intent, attempt: Attempt) -> World:
        """With one more program made of `intent`, which is judged where that was the last and all are known."""
        return self._judged(replace(intent, attempts=(*intent.attempts, attempt)))

    def exhausted(self, intent: Intent) -> World:
        """With `intent` judged by what was made of it, once that is known, since no more can be."""
        return self._judged(replace(intent, exhausted=True))

    def told(self, member: Member) -> World:
        """With what came of a program, if it was made of an intent here."""
        scored = member.scored
        for intent in self.intents:
            if any(a.digest == scored.digest and not a.outcome for a in intent.attempts):
                known = Attempt(scored.digest, scored.outcome, scored.because, scored.score)
                attempts = tuple(known if a.digest == scored.digest else a for a in intent.attempts)
                tries = len(attempts) + self.tries if self._improves(intent, scored.score) else intent.tries
                kept = self.goes_on or scored.outcome == Verified.label  # what failed is mended by the next attempt
                world = self._with_program(member) if kept else self
                return world._judged(replace(intent, attempts=attempts, tries=tries))
        return self

    def _improves(self, intent: Intent, score: Score | None) -> bool:
        """Returns whether an intent that goes on gets more tries for this score."""
        if not self.goes_on or intent.state is not State.OPEN or score is None:
            return False
        before = intent.best.score if intent.best else self.programs[intent.base].score
        return before is not None and score.beats(before)

    def _with_program(self, member: Member) -> World:
        return replace(self, programs={**self.programs, member.scored.digest: program_of(member)})

    def _judged(self, intent: Intent) -> World:
        """`intent` kept or dropped, once enough is known of it; what it taught goes to those of its kind."""
        known = [a for a in intent.attempts if a.outcome]
        waiting = len(known) < len(intent.attempts) or (len(known) < intent.tries and not intent.exhausted)
        if intent.state is not State.OPEN or waiting:
            return self.with_intent(intent)
        base, best = self.programs[intent.base].score, intent.best
        if best is None or best.score is None or base is None:
            reasons = "; ".join(dict.fromkeys(f"{a.outcome}: {a.because}" if a.because else a.outcome for a in known))
            return self.with_intent(replace(intent, state=State.DROPPED, judged=reasons or "nothing to change"))
        gain = best.score.factor / base.factor
        state = State.KEPT if best.score.beats(base) and gain >= _PAYS else State.DROPPED
        judged = f"{gain:.3g} times as good as its base, {intent.expected:.3g} expected"
        return self.with_intent(replace(intent, state=state, judged=judged))._taught(intent.kind, gain)

    def _taught(self, kind: str, gain: float) -> World:
        """Expectations of open intents of `kind` moved half way, in factors, to what one of them came to."""
        open_ones = (i for i in self.intents if i.state is State.OPEN and i.kind == kind and i.kind)
        world = self
        for intent in open_ones:
            world = world.with_intent(replace(intent, expected=sqrt(intent.expected * gain)))
        return world

    def pruned(self) -> World:
        """Without programs that nothing can stand on any more."""
        needed = {i.base for i in self.intents if i.state is State.OPEN}
        needed |= {i.best.digest for i in self.intents if i.best and i.state is not State.DROPPED}
        if self.goes_on:
            needed |= {i.attempts[-1].digest for i in self.intents if i.attempts and i.state is State.OPEN}
        return replace(self, programs={name: p for name, p in self.programs.items() if name in needed})


def program_of(member: Member) -> Program:
    """A member as a base."""
    candidate, scored = member.candidate, member.scored
    return Program(candidate.files, dict(candidate.point), scored.score, scored.feedback, scored.cell)

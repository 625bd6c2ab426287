"""Limits how long a search goes on, and says why it ends."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Progress:
    """What a search has spent so far, and how long nothing has been better.

    `seconds` are those of the journal, not of this machine's clock: a replayed search ends where it ended.
    """

    rounds: int = 0
    evaluations: int = 0
    seconds: float = 0.0
    tokens: int = 0
    stale_rounds: int = 0
    stale_evaluations: int = 0


@dataclass(frozen=True, slots=True)
class Budget:
    """The limits on what a search may spend; None means no limit.

    `stale_rounds` is the model of improvement: after that many rounds without an improvement beyond noise, none is
    expected any more. Measuring a champion again is part of measuring it, and does not count as an evaluation.
    """

    rounds: int = 40
    evaluations: int | None = None
    seconds: float | None = None
    tokens: int | None = None
    stale_rounds: int | None = None

    def out_of_time(self, progress: Progress) -> str:
        """Returns why no more can be evaluated, even in the middle of a round; empty while more can."""
        if self.seconds is not None and progress.seconds >= self.seconds:
            return f"the {self.seconds:g} seconds are over"
        return ""

    def out_of_tokens(self, progress: Progress) -> str:
        """Returns why no more can be proposed; empty while it can."""
        if self.tokens is not None and progress.tokens >= self.tokens:
            return f"the {self.tokens} tokens are spent"
        return ""

    def left(self, progress: Progress, proposed: int) -> int | None:
        """Returns how many more may be proposed while `waiting` candidates wait for evaluation; None for no limit."""
        return None if self.evaluations is None else max(0, self.evaluations - progress.evaluations - proposed)

    def spent(self, progress: Progress) -> str:
        """Returns why no further round begins; empty while one can."""
        if progress.rounds >= self.rounds:
            return f"{progress.rounds} of {self.rounds} rounds are done"
        if self.left(progress, 0) == 0:
            return f"the {self.evaluations} evaluations are done"
        if self.stale_rounds is not None and progress.stale_rounds >= self.stale_rounds:
            return f"nothing was better in {progress.stale_rounds} rounds{_at_most(progress.stale_evaluations)}"
        return self.out_of_time(progress) or self.out_of_tokens(progress)


def _at_most(evaluations: int) -> str:
    """Returns the upper bound by the rule of three: what never happened in n trials is rarer than 3 / n, with 95 %."""
    if evaluations < 3:
        return ""
    return f": with 95 % fewer than 1 in {evaluations / 3:.0f} candidates would be"

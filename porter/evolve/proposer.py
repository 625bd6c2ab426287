"""What proposes candidates: one protocol for a walk through a space of schedules, rewriting, a model, a plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from porter.evolve.candidate import Candidate
from porter.evolve.scored import Scored


@dataclass(frozen=True, slots=True)
class Member:
    """A candidate with what came of it."""

    candidate: Candidate
    scored: Scored


@dataclass(frozen=True, slots=True)
class Request:
    """What a proposer is asked for: `count` candidates, with all that a choice may depend on.

    `parents` are right ones, the best first, then those of other regions of the archive; `failures` those that lately
    came to nothing and may be repaired. `seed` is drawn for this request alone: the same request gets the same answer.
    """

    count: int
    round: int
    island: int
    seed: int
    parents: tuple[Member, ...]
    failures: tuple[Member, ...]


class Proposer(Protocol):
    """Proposes; it may keep nothing between requests that replaying these would not give it again."""

    name: str

    def propose(self, request: Request) -> Sequence[Candidate]:
        """At most `count` candidates; none where it has nothing more to propose."""
        ...

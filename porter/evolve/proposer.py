"""Defines the protocol of all proposers: a walk through a space of schedules, rewriting, a model, a plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from porter.evolve.candidate import Candidate
from porter.evolve.scored import Scored


@dataclass(frozen=True, slots=True)
class Member:
    """A candidate with its outcome."""

    candidate: Candidate
    scored: Scored


@dataclass(frozen=True, slots=True)
class Request:
    """A request to a proposer for `count` candidates, with all that a choice may depend on.

    `parents` are right candidates: first the one to be made better, then the best others, then some of other regions of
    the archive. `failures` are recent candidates that failed and may be repaired, the newest first. `told` are the
    outcomes of this proposer's candidates since its last request; `history` is all that was evaluated, in order. `seen`
    are the digests of these and of what waits for evaluation: proposing one of them again is useless. `memory` is what
    the proposer's account left last. `seed` is drawn for this request alone: the same request gets the same answer.
    """

    count: int
    round: int
    island: int
    seed: int
    parents: tuple[Member, ...]
    failures: tuple[Member, ...]
    told: tuple[Member, ...] = ()
    history: tuple[Member, ...] = ()
    seen: frozenset[str] = frozenset()
    memory: str = ""


@dataclass(frozen=True, slots=True)
class Exchange:
    """An exchange with `model`: question and answer, how many tokens both took, and what they cost.

    An exchange without a prompt asks nothing: its reply says what happened between exchanges.
    """

    prompt: str
    reply: str
    tokens: int = 0
    model: str = ""
    cost: float = 0.0


@dataclass(frozen=True, slots=True)
class Account:
    """The things that a proposer leaves in the journal besides candidates: its exchanges with a model, and its memory.

    The memory is a document of the proposer's own (a plan, say), which the next request brings back, also in a resumed
    run. `over` says why it has nothing more to propose in this run: it is not asked again until the run is resumed.
    """

    exchanges: tuple[Exchange, ...] = ()
    memory: str = ""
    over: str = ""

    @property
    def tokens(self) -> int:
        """Returns the tokens of all exchanges."""
        return sum(exchange.tokens for exchange in self.exchanges)

    @property
    def cost(self) -> float:
        """Returns what these cost, in the currency of the prices."""
        return sum(exchange.cost for exchange in self.exchanges)

    @property
    def questions(self) -> int:
        """Returns how many questions a model answered."""
        return sum(bool(exchange.prompt) for exchange in self.exchanges)


class Proposer(Protocol):
    """Proposes candidates; it may only keep state between requests that replaying these would give it again.

    So a copy of a proposer answers as it does: this allows several questions at once.
    """

    name: str

    def propose(self, request: Request) -> Sequence[Candidate]:
        """Returns at most `count` candidates; none where it has nothing more to propose."""
        ...


@runtime_checkable
class Accountable(Protocol):
    """A proposer that has more to say than candidates: it is asked once after each request."""

    def account(self) -> Account:
        """Returns the account of the last request alone."""
        ...

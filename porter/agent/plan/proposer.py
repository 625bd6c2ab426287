"""The proposer with a plan: it keeps a tree of intents, and makes programs of the most promising ones.

    told ──▶ World ── Planner.revise ──▶ frontier ── Maker.make ──▶ candidates
               ▲────────────────── memory (JSON, in the journal) ──────┘

With a model both come of it; without one the planner is a table of rules and the maker turns knobs.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import Protocol

from porter.agent.llm import seed_of
from porter.agent.plan import document
from porter.agent.plan.world import Attempt, Intent, World
from porter.agent.writer import Draft
from porter.evolve.candidate import Candidate
from porter.evolve.proposer import Account, Exchange, Request

NAME = "plan"  # of the plan by rules
MODEL_PLAN = "model plan"


@dataclass(frozen=True, slots=True)
class Revised:
    """A world after its revision, and what was said for it; `over` says why no model will answer again in this run."""

    world: World
    said: tuple[Exchange, ...] = ()
    over: str = ""


class Planner(Protocol):
    """Keeps the tree: plants intents, changes what is expected of them, drops them."""

    def revise(self, world: World, request: Request) -> Revised:
        """The world with what follows from what is known now, and what was said to a model on the way."""
        ...


class Maker(Protocol):
    """Makes programs of intents."""

    def make(self, world: World, intent: Intent, request: Request, seed: int, seen: Set[str]) -> Draft | None:
        """The next program of `intent`, none of `seen`; None where nothing more can be made of it."""
        ...


class PlanProposer:
    """Proposes what its plan says. It keeps nothing: its world comes with each request, and goes into the account."""

    def __init__(self, planner: Planner, maker: Maker, begin: World, name: str = NAME) -> None:
        """`begin` is the plan before anything is known."""
        self.name = name
        self._planner = planner
        self._maker = maker
        self._begin = begin
        self._account = Account()

    def propose(self, request: Request) -> Sequence[Candidate]:
        """As many candidates as the most promising intents give."""
        world = document.read(request.memory) if request.memory else self._begin
        for member in request.told:
            world = world.told(member)
        revised = self._planner.revise(world, request)
        world, said, over = revised.world, revised.said, revised.over
        made: list[Candidate] = []
        while len(made) < request.count and world.frontier:
            intent = world.frontier[0]
            seen = request.seen | {candidate.digest for candidate in made}
            draft = self._maker.make(world, intent, request, seed_of(request, len(said) + len(made)), seen)
            if draft is None:
                world = world.exhausted(intent)
                continue
            said += draft.exchanges
            over = over or draft.over
            if not draft.answered:
                break
            made.extend([draft.candidate] if draft.candidate else [])
            world = world.attempted(intent, _attempt(draft))
        self._account = Account(said, document.written(world.pruned()), over)
        return made

    def account(self) -> Account:
        """Returns what was said to a model in the last request, and the plan as it is since."""
        return self._account


def _attempt(draft: Draft) -> Attempt:
    if draft.candidate:
        return Attempt(draft.candidate.digest)
    return Attempt("", "no program", draft.exchanges[-1].reply)

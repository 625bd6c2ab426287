"""The steps of a search, as a model learns from them: what was known, what was done, and what came of it.

A step is made of the journal alone, whoever proposed it: its request is derived again by the search's own state. So a
turn of a knob is a step like the reply of a model, with the prompt in which a model would have been asked for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from porter.agent.llm import attempts
from porter.agent.question import Message
from porter.evolve.candidate import Candidate, File, Value
from porter.evolve.events import Opened, Proposed, Told
from porter.evolve.lines import Line
from porter.evolve.proposer import Exchange, Member, Request
from porter.evolve.scored import Scored
from porter.evolve.settings import SEED
from porter.evolve.state import Asking, State
from porter.learn.edit import edit

FORMAT, VERSION = "porter step", 1
Prompt = Callable[[Request, Member, tuple[str, ...]], tuple[Message, ...]]


@dataclass(frozen=True, slots=True)
class Program:
    """A candidate, with what was known of it when a step was made; `is_seed` where its search began with it."""

    files: tuple[File, ...]
    scored: Scored
    is_seed: bool = False


@dataclass(frozen=True, slots=True)
class Work:
    """The subject of a search: an operator of `category`, its CUDA source, and the device to write for.

    `run` is the name of the search's folder and a digest of its journal.
    """

    run: str
    name: str
    category: str
    target: str
    arch: str
    original: str


@dataclass(frozen=True, slots=True)
class Situation:
    """The situation in which a step was made: what was known before it.

    `parent` is what was changed, None for the seed; `exemplars` are the other programs shown. `prompt` is how a model
    is asked for a step from here, empty where there is none to be made; what a model really was asked stands in the
    action's exchanges.
    """

    round: int
    island: int
    parent: Program | None
    exemplars: tuple[Program, ...]
    prompt: tuple[Message, ...] = ()

    @property
    def best_factor(self) -> float:
        """Returns what the best program that was shown is worth; that of the seed, 1, where none was right."""
        return max((factor_of(one) for one in (self.parent, *self.exemplars) if one), default=0.0) or 1.0


@dataclass(frozen=True, slots=True)
class Action:
    """An action: by whom, in words, as whole files, and as the reply that makes them of the parent's files."""

    proposer: str
    note: str
    point: Mapping[str, Value]
    files: tuple[File, ...]
    edit: str
    exchanges: tuple[Exchange, ...]


@dataclass(frozen=True, slots=True)
class Decision:
    """The decision of the archive on a step: `no`, `better` or `new`, and why."""

    added: str
    because: str


@dataclass(frozen=True, slots=True)
class Step:
    """Candidate `number` of a search, in the order in which they count."""

    work: Work
    number: int
    situation: Situation
    action: Action
    outcome: Scored
    decision: Decision
    format: str = FORMAT
    version: int = VERSION

    @property
    def factor(self) -> float:
        """Returns what the candidate is worth over the seed; 0 where it is not verified or has no score."""
        return factor_of(Program(self.action.files, self.outcome))

    @property
    def is_first(self) -> bool:
        """Returns whether it is the search's own beginning, which nobody proposed."""
        return self.action.proposer == SEED


def factor_of(program: Program) -> float:
    """Returns what a program is worth over the seed; 0 where it is not verified or has no score."""
    scored = program.scored
    return scored.score.factor if scored.outcome == "verified" and scored.score and scored.score.sound else 0.0


def no_prompt(request: Request, current: Member, tried: tuple[str, ...]) -> tuple[Message, ...]:  # noqa: ARG001
    """Returns the prompt of a step whose prompt is left out."""
    return ()


@dataclass(frozen=True, slots=True)
class _Proposal:
    """A candidate that waits for its outcome, with the request that it answers."""

    request: Request
    event: Proposed
    candidate: Candidate


def steps(lines: Iterable[Line], work: Work, prompt: Prompt = no_prompt) -> Iterator[Step]:
    """Yields a step for each candidate that was evaluated, as it came of its first evaluation.

    `prompt` says how a model would have been asked at that time. Raises `ValueError` where a line does not follow from
    those before it.
    """
    read = iter(lines)
    head = next(read).event
    assert isinstance(head, Opened)
    state, number = State(head.settings), 0
    proposals: dict[str, _Proposal] = {}
    for line in read:
        event = line.event
        if isinstance(event, Proposed):
            asking = state.out.get(event.step) or state.due()
            if isinstance(asking, Asking):  # else `apply` says what does not follow
                proposals |= {one.digest: _Proposal(asking.request, event, one) for one in event.candidates}
        applied = state.apply(event, line.seconds)
        if isinstance(applied, Told) and not applied.again:
            proposal = proposals.pop(applied.scored.digest)
            decision = Decision(applied.added.name.lower(), applied.because)
            situation, action = _taken(proposal, prompt)
            yield Step(work, number, situation, action, applied.scored, decision)
            number += 1


def _taken(proposal: _Proposal, prompt: Prompt) -> tuple[Situation, Action]:
    """Returns what was known, and what was done."""
    request, candidate, event = proposal.request, proposal.candidate, proposal.event
    current = _changed(request, candidate) if event.proposer != SEED else None
    others = tuple(one for one in request.parents if current and one.candidate.digest != current.candidate.digest)
    asked = prompt(request, current, attempts(request)) if current else ()
    parent = _program(current) if current else None
    exemplars = tuple(map(_program, others))
    note = candidate.origin.note
    reply = edit(current.candidate.files, candidate.files, note) if current else ""
    said = event.account.exchanges
    return (
        Situation(request.round, request.island, parent, exemplars, asked),
        Action(event.proposer, note, candidate.point, candidate.files, reply, said),
    )


def _changed(request: Request, candidate: Candidate) -> Member | None:
    """Returns what a candidate was made of: the parent that it names, else the one that was to be made better."""
    known = {member.candidate.digest: member for member in (*request.history, *request.parents)}
    named = (known[digest] for digest in candidate.origin.parents if digest in known)
    return next(named, None) or next(iter(request.parents), None)


def _program(member: Member) -> Program:
    return Program(member.candidate.files, member.scored, member.candidate.origin.proposer == SEED)

"""A plan kept by a language model: it revises the tree, and writes the programs of its intents."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass, replace

from porter.agent.complaint import ReplyError
from porter.agent.llm import attempts, material
from porter.agent.model import UnansweredError
from porter.agent.plan.proposer import MODEL_PLAN, Revised
from porter.agent.plan.revision import MOST_ADDED, revised
from porter.agent.plan.world import Attempt, Intent, Program, World
from porter.agent.prompt import Material, corrected, fitting, told_score
from porter.agent.question import Answer
from porter.agent.task import Task
from porter.agent.writer import Draft, Panel, Writer, over_of, remark
from porter.evaluate.model.outcome import Verified
from porter.evolve.candidate import Candidate, Origin
from porter.evolve.proposer import Exchange, Member, Request
from porter.evolve.scored import Scored

_SHOWN = 40  # intents, the newest


@dataclass(frozen=True, slots=True)
class ThinkingPlanner:
    """Asks the model what follows, when an intent was judged, or none is left."""

    panel: Panel
    task: Task

    def revise(self, world: World, request: Request) -> Revised:
        """The tree as the model revises it; as it was where the model does not answer, or not usably."""
        said: tuple[Exchange, ...] = ()
        if not request.parents or (world.frontier and world.judged == world.considered):
            return Revised(world)
        writer, current = self.panel.chosen(request.seed), request.parents[0]
        asked = replace(material(self.task, request, current, attempts(request)), others=())
        for turn in range(1 + writer.writing.corrections):
            try:
                answer, exchanges = _asked(writer, asked, world, request.seed + turn)
            except UnansweredError as error:
                return Revised(world, (*said, writer.unanswered(error)), over_of(error))
            said += exchanges
            try:
                return Revised(replace(revised(world, answer, current), considered=world.judged), said)
            except ReplyError as error:
                said += (remark(f"not used: {error.told}"),)
                asked = replace(asked, talk=(*asked.talk, *corrected(answer.text, error.told)))
        return Revised(world, said)


def _asked(writer: Writer, asked: Material, world: World, seed: int) -> tuple[Answer, tuple[Exchange, ...]]:
    room, shown = writer.writing.context_tokens, world.intents[-_SHOWN:]
    prompt = fitting(asked, "plan.md.j2", room, intents=shown, programs=world.programs, most=MOST_ADDED)
    return writer.asked(prompt.messages, seed % 2**31)


@dataclass(frozen=True, slots=True)
class IntentWriter:
    """Has the model write the programs of an intent, and tells it what came of those before."""

    panel: Panel
    task: Task

    def make(self, world: World, intent: Intent, request: Request, seed: int, seen: Set[str]) -> Draft | None:
        """A program of `intent`: its last one mended where that failed, else one of the best that came of it so far."""
        current = _failed(world, intent) or _best(world, intent)
        needs = f" It needs: {'; '.join(intent.preconditions)}." if intent.preconditions else ""
        tried = [_told(attempt) for attempt in reversed(intent.attempts) if attempt.outcome]
        asked = material(self.task, request, current, tried, intent.hypothesis + needs)
        draft = self.panel.chosen(seed).write(asked, MODEL_PLAN, seed, seen)
        return replace(draft, candidate=draft.candidate and _named(draft.candidate, intent))


def _named(candidate: Candidate, intent: Intent) -> Candidate:
    idea = candidate.origin.note or intent.hypothesis
    return replace(candidate, origin=replace(candidate.origin, note=f"intent {intent.id}: {idea}"))


def _told(attempt: Attempt) -> str:
    came = told_score(attempt.score) if attempt.score else attempt.because
    return f"this very idea: {attempt.outcome}, {came}"


def _failed(world: World, intent: Intent) -> Member | None:
    """The last attempt at `intent` where that came to nothing, on whichever island it ran."""
    last = intent.attempts[-1] if intent.attempts else None
    if last is None or not last.outcome or last.score is not None or last.digest not in world.programs:
        return None
    program = world.programs[last.digest]
    scored = Scored(last.digest, last.outcome, last.because, None, program.cell, program.feedback)
    return Member(Candidate(program.files, Origin(MODEL_PLAN), program.point), scored)


def _best(world: World, intent: Intent) -> Member:
    """The best attempt where it is better than the base of the intent, else the base."""
    base, best = world.programs[intent.base], intent.best
    program = world.programs.get(best.digest) if best else None
    if best and best.score and program and base.score and best.score.beats(base.score):
        return _member(best.digest, program)
    return _member(intent.base, base)


def _member(digest: str, program: Program) -> Member:
    """A program of the plan as the search would show it."""
    scored = Scored(digest, Verified.label, "", program.score, program.cell, program.feedback)
    return Member(Candidate(program.files, Origin(MODEL_PLAN), program.point), scored)

"""A model at work on one program: asked, its reply read, told what is wrong with it, asked again."""

from __future__ import annotations

from collections.abc import Callable, Set
from dataclasses import dataclass, field, replace
from random import Random

from porter.agent.complaint import NothingNewError, ReplyError
from porter.agent.ledger import Prices
from porter.agent.model import Model, OverError, UnansweredError
from porter.agent.prompt import Material, corrected, written
from porter.agent.question import Answer, Message, Question, Sampling
from porter.agent.reply import read_reply
from porter.agent.splice import splice
from porter.evolve.candidate import Candidate, Origin
from porter.evolve.proposer import Exchange


@dataclass(frozen=True, slots=True)
class Writing:
    """The way to ask a model: it reads `context_tokens` at most, and a reply may be put right `corrections` times."""

    model: str
    sampling: Sampling
    context_tokens: int = 32_768
    corrections: int = 1
    prices: Prices = field(default_factory=Prices)


@dataclass(frozen=True, slots=True)
class Draft:
    """The result of asking: a candidate or none, what was said, and whether the model answers at all.

    `over` says why it never will again in this run.
    """

    candidate: Candidate | None
    exchanges: tuple[Exchange, ...]
    answered: bool = True
    over: str = ""


@dataclass(frozen=True, slots=True)
class Writer:
    """Writes programs by asking `model`; `tell` hears of what comes to nothing, at once."""

    model: Model
    writing: Writing
    tell: Callable[[str], None]

    def write(self, material: Material, proposer: str, seed: int, seen: Set[str]) -> Draft:
        """One candidate made of the current program of `material`; its digest is none of `seen`."""
        exchanges: tuple[Exchange, ...] = ()
        for turn in range(1 + self.writing.corrections):
            try:
                prompt = written(material, self.writing.context_tokens)
                answer, said = self.asked(prompt.messages, seed + turn)
            except UnansweredError as error:
                said = (*exchanges, self.unanswered(error))
                return Draft(None, said, answered=False, over=over_of(error))
            exchanges += said
            try:
                return Draft(_candidate(material, answer, proposer, seen), exchanges)
            except ReplyError as error:
                exchanges += (remark(f"not used: {error.told}"),)
                talk = (*material.talk, *corrected(answer.text, error.told))
                material = replace(material, talk=talk)
        return Draft(None, exchanges)

    def asked(self, messages: tuple[Message, ...], seed: int) -> tuple[Answer, tuple[Exchange, ...]]:
        """The model's answer, and what goes into the journal of how it came."""
        question = Question(self.writing.model, messages, self.writing.sampling, seed)
        answer = self.model.ask(question)
        failed = (remark(f"a try failed: {why}") for why in answer.tries)
        model, cost = self.writing.model, self.writing.prices.of(answer.usage)
        return answer, (*failed, Exchange(question.text, answer.text, answer.usage.tokens, model, cost))

    def unanswered(self, error: UnansweredError) -> Exchange:
        """Returns what the journal is told of a question without an answer, when whoever watches was told."""
        self.tell(f"{self.writing.model}: no answer: {error.because}")
        return remark(f"no answer: {error.because}")


@dataclass(frozen=True, slots=True)
class Panel:
    """Several writers, each asked as often as its weight says."""

    writers: tuple[Writer, ...]
    weights: tuple[float, ...]

    def chosen(self, seed: int) -> Writer:
        """The writer for a question; the same for the same seed."""
        (writer,) = Random(seed).choices(self.writers, self.weights)
        return writer


def over_of(error: UnansweredError) -> str:
    """Returns why nothing more will be answered in this run; empty where the next question may be."""
    return error.because if isinstance(error, OverError) else ""


def remark(text: str) -> Exchange:
    """Returns what happened between exchanges: one that asks nothing."""
    return Exchange("", text)


def _candidate(material: Material, answer: Answer, proposer: str, seen: Set[str]) -> Candidate:
    """The candidate that `answer` makes of the current program. Raises a `ReplyError` where it makes none."""
    current = material.current.candidate
    reply = read_reply(answer)
    files = splice(current.files, reply.changes)
    candidate = Candidate(files, Origin(proposer, (current.digest,), reply.idea))
    if candidate.digest in seen:
        raise NothingNewError("This program was tried before. Change something else.")
    return candidate

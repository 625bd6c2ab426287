"""Prompts: what a model is told, in the sections of Kernel-Smith, within the tokens it can read.

What does not fit is dropped, the least informative part first: the programs of other regions, then the other top ones
(`others` has them the best first), what was tried before, the headers that the original includes, the findings of the
port. The brief, the original, its contract, the current program and what is wrong with it always stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined

from porter.agent.changes import briefly, difference
from porter.agent.model import UnansweredError
from porter.agent.question import Message, Role, estimated_tokens
from porter.agent.task import Task
from porter.evaluate.model.outcome import Verified
from porter.evolve.axis import Axis
from porter.evolve.candidate import File
from porter.evolve.proposer import Member
from porter.evolve.scored import Measure, Score

_OVER_SEED = "of the seed, the port that the search began with, over its own"
_MEASURED = {
    Measure.NATIVE: f"the time {_OVER_SEED}, both measured on the device",
    Measure.PROXY: f"the time {_OVER_SEED}, both measured on another device than the target",
    Measure.MODELLED: f"the cost {_OVER_SEED}, by a static model of the device, which ranks programs and is not a time",
}
_SHOWN_FEEDBACK = 6_000  # characters: the first error stands at the beginning, the reason of a traceback at the end
_LINE = 400  # characters of what was tried and came of it
_CHANGED_LINES = 10  # of a program that was tried, against what it was made of
_WORTH_A_DIFF = 0.6  # of a program's text: a longer diff is harder to read than the program
_FENCES = {"py": "python", "cu": "cuda", "cpp": "cpp", "maca": "cpp", "cc": "cpp", "cxx": "cpp", "h": "cpp"}


@dataclass(frozen=True, slots=True)
class Material:
    """The material of a prompt. `current` is what is to be made better, or mended where it is not right.

    `idea` is what is to be done, where that is decided already; `talk` what was said since: replies that were of no
    use, and what was wrong with them.
    """

    task: Task
    current: Member
    others: tuple[Member, ...] = ()
    history: tuple[str, ...] = ()
    idea: str = ""
    talk: tuple[Message, ...] = ()
    headers: tuple[File, ...] = ()
    findings: tuple[str, ...] = ()

    @property
    def measure(self) -> str:
        """Says what a score is, in words; empty where no program has one."""
        scores = [member.scored.score for member in (self.current, *self.others)]
        return next((_MEASURED[score.measure] for score in scores if score), "")


@dataclass(frozen=True, slots=True)
class Prompt:
    """Messages, and how many parts of each kind were left out."""

    messages: tuple[Message, ...]
    left_out: str = ""


def written(material: Material, room_tokens: int) -> Prompt:
    """The prompt that asks for a program, in at most `room_tokens`. Raises `UnansweredError` where it is longer."""
    right = material.current.scored.outcome == Verified.label
    return fitting(material, "improve.md.j2" if right else "repair.md.j2", room_tokens)


def fitting(material: Material, template: str, room_tokens: int, **values: object) -> Prompt:
    """`template` filled in with as much of `material` as fits into `room_tokens`, and `values`."""
    for left in _leaner(material):
        left_out = _left_out(material, left)
        prompt = (*asked(left.task, template, left=left, left_out=left_out, **values), *left.talk)
        if (tokens := size(prompt)) <= room_tokens:
            return Prompt(prompt, left_out)
    raise UnansweredError(f"the shortest prompt has {tokens} tokens, {room_tokens} are allowed")


def asked(task: Task, template: str, **values: object) -> tuple[Message, ...]:
    """The system's message, and `template` filled in as the user's."""
    system = _environment().get_template("system.md.j2").render(task=task)
    user = _environment().get_template(template).render(task=task, **values)
    return Message(Role.SYSTEM, system.strip() + "\n"), Message(Role.USER, user.strip() + "\n")


def size(messages: tuple[Message, ...]) -> int:
    """Tokens of all of them, rather too many."""
    return sum(estimated_tokens(message.text) for message in messages)


def _leaner(material: Material) -> Iterator[Material]:
    """`material` with all it has, then with ever less, in the order in which parts are dropped."""
    yield material
    while material.others:
        yield (material := replace(material, others=material.others[:-1]))
    while material.history:
        yield (material := replace(material, history=material.history[:-1]))
    while material.headers:
        yield (material := replace(material, headers=material.headers[:-1]))
    while material.findings:
        yield (material := replace(material, findings=material.findings[:-1]))


def _left_out(whole: Material, left: Material) -> str:
    counts = {
        "other programs": len(whole.others) - len(left.others),
        "earlier attempts": len(whole.history) - len(left.history),
        "headers": len(whole.headers) - len(left.headers),
        "findings": len(whole.findings) - len(left.findings),
    }
    return ", ".join(f"{count} {name}" for name, count in counts.items() if count)


@cache
def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader("porter.agent", "prompts"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,
    )
    made.filters.update(fenced=fenced, code=code, score=told_score, shortened=shortened)
    made.globals.update(difference=told_difference, place=told_place)
    return made


def fenced(file: File) -> str:
    """`file` as fenced code, under its name."""
    return f"FILE: {file.name}\n{code(file.text, _FENCES.get(file.name.rsplit('.', 1)[-1], ''))}"


def code(text: str, kind: str) -> str:
    """`text` in a fence that is longer than any in it, so that what stands there cannot end it."""
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{kind}\n{text.strip(chr(10))}\n{fence}"


def told_difference(member: Member, current: Member) -> str:
    """A program as it differs from the current one; the whole of it where that is as easily read."""
    files = member.candidate.files
    text = difference(current.candidate.files, files)
    if text and len(text) < _WORTH_A_DIFF * sum(len(file.text) for file in files):
        return f"It differs from the current program in this:\n\n{code(text, 'diff')}"
    return "\n\n".join(map(fenced, files))


def told_place(member: Member, axes: Sequence[Axis]) -> str:
    """Returns how a program works, by its place in the archive."""
    labels = (f"{axis.name}: {axis.labels[at]}" for axis, at in zip(axes, member.scored.cell, strict=False))
    return ", ".join(labels)


def told_member(member: Member, parent: Member | None) -> str:
    """Returns what was tried, what came of it, and the lines that were changed for it in `parent`."""
    scored = member.scored
    came = told_score(scored.score) if scored.score else scored.because
    what = member.candidate.origin.note or member.candidate.origin.proposer
    line = " ".join(f"{what}: {scored.outcome}, {came}".split())[:_LINE]
    if parent is None:
        return line
    changed = briefly(parent.candidate.files, member.candidate.files, _CHANGED_LINES)
    return f"{line}\n{changed}".rstrip()


def told_score(score: Score) -> str:
    """A score, and how sure it is."""
    between = f" (95 %: {score.low:.3g} to {score.high:.3g})" if score.low < score.high else ""
    return f"score {score.factor:.3g}{between}"


def shortened(text: str) -> str:
    """`text` without its middle where it is long."""
    if len(text) <= _SHOWN_FEEDBACK:
        return text.strip()
    half = _SHOWN_FEEDBACK // 2
    return f"{text[:half]}\n[... {len(text) - 2 * half} characters ...]\n{text[-half:]}".strip()


def corrected(reply: str, complaint: str) -> tuple[Message, Message]:
    """A reply that was of no use as its model reads it again, and what was wrong with it."""
    wrong = _environment().get_template("correction.md.j2").render(complaint=complaint)
    return Message(Role.ASSISTANT, reply), Message(Role.USER, wrong.strip() + "\n")

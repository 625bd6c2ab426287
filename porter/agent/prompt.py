"""Prompts: what a model is told, in the sections of Kernel-Smith, within the tokens it can read.

What does not fit is dropped, the least informative part first: the programs of other regions, then the other top ones
(`others` has them the best first), what was tried before, the headers that the original includes, the findings of the
port. The brief, the original, its contract, the current program and what is wrong with it always stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined

from porter.agent.model import UnansweredError
from porter.agent.question import Message, Role, estimated_tokens
from porter.agent.task import Task
from porter.evaluate.outcome import Verified
from porter.evolve.candidate import File
from porter.evolve.proposer import Member
from porter.evolve.scored import Measure, Score

_MEASURED = {
    Measure.NATIVE: "times as fast as the seed, measured on the device",
    Measure.PROXY: "times as fast as the seed, measured on a stand-in for the device",
    Measure.MODELLED: "times as good as the seed by a static cost model, which ranks and is no time",
}
_SHOWN_FEEDBACK = 6_000  # characters: the first error stands at the beginning, the reason of a traceback at the end
_LINE = 400  # characters of what was tried and came of it
_FENCES = {"py": "python", "cu": "cuda", "cpp": "cpp", "maca": "cpp", "cc": "cpp", "cxx": "cpp", "h": "cpp"}


@dataclass(frozen=True, slots=True)
class Material:
    """What a prompt is made of. `current` is what is to be made better, or mended where it is not right.

    `idea` is what is to be done, where that is decided already; `complaint` what was wrong with the last reply.
    """

    task: Task
    current: Member
    others: tuple[Member, ...] = ()
    history: tuple[str, ...] = ()
    idea: str = ""
    complaint: str = ""
    headers: tuple[File, ...] = ()
    findings: tuple[str, ...] = ()


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
        prompt = asked(left.task, template, left=left, left_out=left_out, **values)
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
    return made


def fenced(file: File) -> str:
    """`file` as fenced code, under its name."""
    return f"FILE: {file.name}\n{code(file.text, _FENCES.get(file.name.rsplit('.', 1)[-1], ''))}"


def code(text: str, kind: str) -> str:
    """`text` in a fence that is longer than any in it, so that what stands there cannot end it."""
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{kind}\n{text.strip(chr(10))}\n{fence}"


def told_member(member: Member) -> str:
    """Returns what was tried and what came of it, in one line."""
    scored = member.scored
    came = told_score(scored.score) if scored.score else scored.because
    what = member.candidate.origin.note or member.candidate.origin.proposer
    return " ".join(f"{what}: {scored.outcome}, {came}".split())[:_LINE]


def told_score(score: Score) -> str:
    """A score in words, with what it is of and how sure it is."""
    between = f" (95 %: {score.low:.3g} to {score.high:.3g})" if score.low < score.high else ""
    return f"{score.factor:.3g} {_MEASURED[score.measure]}{between}"


def shortened(text: str) -> str:
    """`text` without its middle where it is long."""
    if len(text) <= _SHOWN_FEEDBACK:
        return text.strip()
    half = _SHOWN_FEEDBACK // 2
    return f"{text[:half]}\n[... {len(text) - 2 * half} characters ...]\n{text[-half:]}".strip()

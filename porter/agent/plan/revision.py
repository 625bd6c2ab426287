"""Reads what a model changes in the plan from its reply: JSON, believed only as far as it makes sense."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from porter.agent.complaint import CutOffError, NoCodeError, ReplyError
from porter.agent.plan.world import ROOT, Intent, State, World, program_of
from porter.agent.question import Answer, Ending, encodable
from porter.evolve.proposer import Member

MOST_ADDED = 6
_WORDS = 400  # characters of a hypothesis, a precondition, a reason
_LEAST, _MOST = 0.5, 100.0  # an expectation beyond is no expectation
_FENCED = re.compile(r"^```(?:json)?[ \t]*\n(.*?)^```[ \t]*$", re.DOTALL | re.MULTILINE)

_Plain = Mapping[str, Any]  # what JSON gives; its shape is checked by reading it


class RevisionError(ReplyError):
    """The reply's JSON says what cannot be done to the plan."""


def revised(world: World, answer: Answer, current: Member) -> World:
    """`world` as `answer` wants it: intents dropped, reworded and added, expectations changed.

    `current` is the program that intents without a parent stand on. Raises a `ReplyError`, and then nothing is changed.
    """
    if answer.ending is Ending.CUT:
        raise CutOffError("The reply reached the limit of tokens before its end. Be shorter.")
    document = _document(encodable(answer.text).replace("\r\n", "\n"))
    try:
        for row in document.get("drop", []):
            because = _words(row.get("because", "")) or "dropped by the model"
            world = world.with_intent(replace(_open(world, row), state=State.DROPPED, judged=because))
        for row in document.get("revise", []):
            world = world.with_intent(_reworded(_open(world, row), row))
        for row in document.get("add", [])[:MOST_ADDED]:
            world = _planted(world, row, current)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise RevisionError(f"The JSON document is not of the form that was asked for: {error!r}.") from error
    return world


def _document(text: str) -> _Plain:
    """The last fenced JSON object of the reply, or the reply itself where it is one."""
    found = [*_FENCED.findall(text), text] if "```" not in text else _FENCED.findall(text)
    for candidate in reversed(found):
        try:
            document = json.loads(candidate)
        except (ValueError, RecursionError) as error:
            problem = str(error)
            continue
        if isinstance(document, dict):
            return document
        problem = "it is not an object"
    raise NoCodeError(f"The reply holds no JSON document: {problem if found else 'no fence is complete'}.")


def _reworded(intent: Intent, row: _Plain) -> Intent:
    """Returns `intent` with what is said anew of it."""
    expected = _expected(row) if "expected" in row else intent.expected
    hypothesis = _words(row.get("hypothesis", intent.hypothesis))
    if not hypothesis:
        raise RevisionError("An intent needs a hypothesis.")
    needs = tuple(_words(need) for need in row["preconditions"]) if "preconditions" in row else intent.preconditions
    return replace(intent, expected=expected, hypothesis=hypothesis, preconditions=needs)


def _planted(world: World, row: _Plain, current: Member) -> World:
    hypothesis = _words(row["hypothesis"])
    if not hypothesis:
        raise RevisionError("An intent needs a hypothesis.")
    needs = tuple(_words(need) for need in row.get("preconditions", []))
    parent = int(row.get("parent") or ROOT)
    intent = Intent(0, parent, "", hypothesis, _expected(row), current.candidate.digest, needs)
    if parent == ROOT:
        return world.planted(intent, program_of(current))
    grown = world.intent(parent)
    program = world.programs.get(grown.best.digest) if grown and grown.best else None
    if grown is None or grown.best is None or program is None:
        raise RevisionError(f"Intent #{parent} has no right program that another could stand on.")
    return world.planted(replace(intent, base=grown.best.digest), program)


def _open(world: World, row: _Plain) -> Intent:
    intent = world.intent(int(row["id"]))
    if intent is None or intent.state is not State.OPEN:
        raise RevisionError(f"There is no open intent #{row['id']}.")
    return intent


def _expected(row: _Plain) -> float:
    value = float(row["expected"])
    if not _LEAST <= value <= _MOST:
        raise RevisionError(f"{value} is not a factor to expect: give one from {_LEAST:g} to {_MOST:g}.")
    return value


def _words(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not text")
    return " ".join("".join(c if c.isprintable() else " " for c in value).split())[:_WORDS]

"""A world as JSON that a person can read, and back: the proposer's memory in the journal."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from porter.agent.plan.world import Attempt, Intent, Program, State, World
from porter.errors import InputError
from porter.evolve.candidate import File
from porter.evolve.scored import Measure, Score

_VERSION = 2
_Plain = Mapping[str, Any]  # what JSON gives; its shape is checked by reading it


def written(world: World) -> str:
    """The document, the same text for the same world."""
    return json.dumps({"version": _VERSION, **asdict(world)}, indent=1, sort_keys=True)


def read(text: str) -> World:
    """The world that `written` wrote. Raises `InputError` for any other text."""
    try:
        plain = json.loads(text)
        if plain["version"] != _VERSION:
            raise ValueError(f"version {plain['version']!r} is not {_VERSION}")
        return World(
            int(plain["tries"]),
            bool(plain["goes_on"]),
            tuple(map(_intent, plain["intents"])),
            {name: _program(program) for name, program in plain["programs"].items()},
            int(plain["considered"]),
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"this is not a plan of porter's: {error!r}") from error


def _intent(plain: _Plain) -> Intent:
    fields = {"attempts": tuple(map(_attempt, plain["attempts"])), "state": State(plain["state"])}
    return Intent(**{**plain, **fields, "preconditions": tuple(plain["preconditions"])})


def _attempt(plain: _Plain) -> Attempt:
    return Attempt(**{**plain, "score": _score(plain["score"])})


def _program(plain: _Plain) -> Program:
    files = tuple(File(**file) for file in plain["files"])
    return Program(**{**plain, "files": files, "score": _score(plain["score"]), "cell": tuple(plain["cell"])})


def _score(plain: _Plain | None) -> Score | None:
    return None if plain is None else Score(**{**plain, "measure": Measure(plain["measure"])})

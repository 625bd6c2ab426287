"""Models as a user names them: on the command line, in a TOML profile, and in the journal of a search.

most_cost = 5.0

[[model]]
name = "large"
base_url = "http://localhost:8000/v1"
weight = 3
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, cast

from porter.agent.ledger import Budget, Prices
from porter.agent.options import ATTEMPTS, Limit, ModelOptions, Models
from porter.agent.patience import Backoff
from porter.agent.question import Sampling
from porter.agent.secret import OPENAI
from porter.errors import InputError, UsageError

_COST, _ATTEMPTS, _TABLE = "most_cost", "attempts", "model"
_SHARED = (_COST, _ATTEMPTS)  # what is said once for all models
Value = str | int | float | bool


@dataclass(frozen=True, slots=True)
class ModelRow:
    """One `[[model]]`: flat, as people write it. Prices are of a million tokens, `answer_limit` is the server's."""

    name: str
    base_url: str = OPENAI
    local: bool = False
    weight: float = 1.0
    at_once: int = 4
    temperature: float = 0.6
    top_p: float = 0.95
    context_tokens: int = 32_768
    answer_tokens: int = 32_768
    answer_limit: str = "max_tokens"
    corrections: int = 1
    timeout_s: float = 600.0
    tries: int = 5
    longest_pause_s: float = 60.0
    requests_per_minute: float = 0.0
    input_price: float = 0.0
    output_price: float = 0.0

    def options(self) -> ModelOptions:
        """As the agent takes it. Raises `UsageError` for numbers that make no sense."""
        return ModelOptions(
            self.name, self.base_url, self.local, self.weight, self.at_once,
            Sampling(self.temperature, self.top_p, self.answer_tokens), self.context_tokens, self.corrections,
            self.timeout_s, Backoff(self.tries, longest_s=self.longest_pause_s), self.requests_per_minute,
            Prices(self.input_price, self.output_price), cast(Limit, self.answer_limit),
        )  # fmt: skip


_TYPES: Mapping[str, type] = {"name": str} | {f.name: type(f.default) for f in fields(ModelRow) if f.name != "name"}


@dataclass(frozen=True, slots=True)
class Profile:
    """Rows of models, the most that they may cost together, and after how many attempts without a gain an intent of
    their plan is abandoned; a `recording` answers in their place.
    """

    rows: tuple[ModelRow, ...]
    most_cost: float | None = None
    attempts: int = ATTEMPTS
    recording: Path | None = None

    def models(self, tokens: int | None) -> Models:
        """As the agent takes them, within so many tokens. Raises `UsageError` for what makes no sense."""
        budget, replays = Budget(tokens, self.most_cost), self.recording is not None
        return Models(tuple(row.options() for row in self.rows), budget, self.recording, replays, self.attempts)

    @property
    def text(self) -> str:
        """One line for a journal, which `profile_of_text` reads."""
        shared = {_COST: self.most_cost, _ATTEMPTS: self.attempts}
        return json.dumps({**shared, _TABLE: [asdict(row) for row in self.rows]}, sort_keys=True)


def read_profile(path: Path) -> Profile:
    """The profile in a TOML file. Raises `InputError` where it is none."""
    try:
        return _profile(tomllib.loads(path.read_text("utf-8")))
    except (OSError, ValueError, UsageError) as error:
        raise InputError(f"{path}: this is not a profile of models: {error}", "docs/agent.md has one") from error


def profile_of_text(text: str) -> Profile:
    """The profile that `Profile.text` wrote. Raises `InputError` for anything else."""
    try:
        return _profile({key: value for key, value in json.loads(text).items() if value is not None})
    except (ValueError, AttributeError, UsageError) as error:
        raise InputError(f"the journal names no models that can be asked: {error}") from error


def named_profile(names: Sequence[str], base_url: str, file: Path | None, changes: Iterable[str]) -> Profile | None:
    """The models of a command line: those of the `file`, then those that are named; `changes` are `key=value` for all.

    A name that is a folder, where no URL is given, is a local model. None where nothing is named. Raises `UsageError`
    for a change that says nothing.
    """
    found = read_profile(file) if file else Profile(())
    url = base_url or OPENAI
    named = [ModelRow(name, url, local=Path(name).is_dir() and not base_url) for name in names]
    changed = dict(map(_change, changes))
    rows = [*found.rows, *named]
    if not rows:
        if changed or base_url:
            raise UsageError(
                "there are settings for a model, but no model is named", "add --model NAME or --models FILE"
            )
        return None
    shared = {key: changed.pop(key) for key in _SHARED if key in changed}
    given = {_COST: found.most_cost, _ATTEMPTS: found.attempts, **shared}
    return _profile({**given, _TABLE: [{**asdict(row), **changed} for row in rows]})


def _change(text: str) -> tuple[str, Value]:
    """A `key=value`, whose value is what TOML makes of it, else the words themselves."""
    key, equals, value = text.partition("=")
    if not equals or key not in (*_TYPES, *_SHARED):
        raise UsageError(
            f"{text!r} is not a setting of a model", f"key=value, with one of: {', '.join((*_TYPES, *_SHARED))}"
        )
    try:
        return key, cast(Value, tomllib.loads(f"value = {value}")["value"])
    except ValueError:
        return key, value


def _profile(document: Mapping[str, object]) -> Profile:
    if unknown := document.keys() - {*_SHARED, _TABLE}:
        raise UsageError(f"nothing is called {', '.join(sorted(unknown))} there")
    rows, cost, attempts = document.get(_TABLE, []), document.get(_COST), document.get(_ATTEMPTS, ATTEMPTS)
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise UsageError("models are tables: [[model]]")
    if type(attempts) is not int:
        raise UsageError(f"{_ATTEMPTS} is a whole number, not {attempts!r}")
    return Profile(tuple(map(_row, rows)), None if cost is None else _number(_COST, cost), attempts)


def _row(values: Mapping[str, object]) -> ModelRow:
    """One row. Raises `UsageError` where a key is not known, or a value is of another kind."""
    if unknown := values.keys() - _TYPES.keys():
        raise UsageError(f"a model has no {', '.join(sorted(unknown))}", f"it has: {', '.join(_TYPES)}")
    if "name" not in values:
        raise UsageError("a model has no name")
    read: dict[str, Any] = {}  # of the types of the fields: each is compared
    for key, value in values.items():
        wanted = _TYPES[key]
        value = _number(key, value) if wanted is float else value  # noqa: PLW2901
        if type(value) is not wanted:
            raise UsageError(f"{key} has to be of the type {wanted.__name__}, not {value!r}")
        read[key] = value
    return ModelRow(**read)


def _number(key: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise UsageError(f"{key} is a number, not {value!r}")
    return float(value)

"""Writes events as lines of JSON and reads them back: canonical, so that equal events are equal bytes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

from porter.errors import InputError
from porter.evolve.candidate import Candidate, Origin
from porter.evolve.events import EVENTS, Event
from porter.evolve.proposer import Account, Exchange
from porter.evolve.store import Store

_SCALARS: Mapping[object, type | tuple[type, ...]] = {
    str: str,
    int: int,
    float: (int, float),
    bool: bool,
    NoneType: NoneType,
}

Plain = Any  # what JSON can hold; its shape is checked by the types of the fields


@dataclass(frozen=True, slots=True)
class Line:
    """An event, and how many seconds after the search began it happened, without pauses of the search."""

    event: Event
    seconds: float


class Lines:
    """Writes and reads lines whose long parts lie in a store: those of a line are kept before it is made."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def written(self, line: Line) -> bytes:
        """Returns the line, with its end."""
        kind = type(line.event).__name__.lower()
        plain = {"event": kind, "seconds": line.seconds, **self._fields(line.event)}
        text = json.dumps(plain, sort_keys=True, separators=(",", ":"), allow_nan=False)
        return text.encode() + b"\n"

    def read(self, raw: bytes) -> Line:
        """Returns the line that `written` wrote.

        Raises:
            InputError: it is of another version, or something it names is not in the store.
        """
        try:
            plain = json.loads(raw)
            kind, seconds = EVENTS[plain.pop("event")], self._value(float, plain.pop("seconds"))
            event = self._record(kind, plain)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise InputError(f"this is not a line of a search: {error!r}") from error
        assert isinstance(event, Event)
        assert isinstance(seconds, int | float)
        return Line(event, seconds)

    def _plain(self, value: object) -> Plain:
        match value:
            case Candidate():
                return {
                    "digest": self._store.keep(value),
                    "files": [file.name for file in value.files],
                    "origin": self._fields(value.origin),
                    "point": dict(value.point),
                }
            case Exchange(prompt, reply, tokens, model, cost):
                rest = {"tokens": tokens, "model": model, "cost": cost}
                return {**self._texts(prompt=prompt, reply=reply), **rest}
            case Account(exchanges, memory, over):
                said = [self._plain(each) for each in exchanges]
                return {"exchanges": said, **self._texts(memory=memory), "over": over}
            case Enum():
                return value.name.lower()
            case tuple():
                return [self._plain(part) for part in value]
            case Mapping():
                return {str(key): self._plain(part) for key, part in value.items()}
            case None | bool() | int() | float() | str():
                return value
        return self._fields(value)

    def _fields(self, record: object) -> Mapping[str, Plain]:
        assert is_dataclass(record), f"{type(record).__name__} has no place in a journal"
        return {field.name: self._plain(getattr(record, field.name)) for field in fields(record)}

    def _texts(self, **texts: str) -> Mapping[str, Plain]:
        return {name: self._store.keep_text(text) for name, text in texts.items()}

    def _record(self, kind: type, plain: Mapping[str, Plain]) -> object:
        hints = _hints(kind)
        if plain.keys() != hints.keys():
            raise ValueError(f"{kind.__name__} has {sorted(hints)}, not {sorted(plain)}")
        return kind(**{name: self._value(hint, plain[name]) for name, hint in hints.items()})

    def _value(self, hint: object, plain: Plain) -> object:
        """Returns what a field's type makes of its plain value."""
        kept = {Candidate: self._candidate, Exchange: self._exchange, Account: self._account}
        if isinstance(hint, type) and hint in kept:
            return kept[hint](plain)
        if isinstance(hint, UnionType):
            hint = next(option for option in get_args(hint) if (option is NoneType) == (plain is None))
        if get_origin(hint) is tuple:
            return tuple(self._value(get_args(hint)[0], part) for part in plain)
        if isinstance(hint, type) and issubclass(hint, Enum):
            return hint[plain.upper()]
        if isinstance(hint, type) and is_dataclass(hint):
            return self._record(hint, plain)
        if not isinstance(plain, _SCALARS.get(hint, dict)):
            raise TypeError(f"{plain!r} is not {hint}")
        return plain

    def _candidate(self, plain: Plain) -> Candidate:
        digest, files = plain["digest"], self._store.files(plain["digest"], plain["files"])
        origin = plain["origin"]
        candidate = Candidate(
            files, Origin(origin["proposer"], tuple(origin["parents"]), origin["note"]), plain["point"]
        )
        if candidate.digest != digest:
            raise InputError(f"candidate {digest} was changed: its files have the digest {candidate.digest}")
        return candidate

    def _exchange(self, plain: Plain) -> Exchange:
        prompt, reply = (self._store.text(plain[name]) for name in ("prompt", "reply"))
        return Exchange(prompt, reply, plain["tokens"], plain["model"], plain["cost"])

    def _account(self, plain: Plain) -> Account:
        said = tuple(map(self._exchange, plain["exchanges"]))
        return Account(said, self._store.text(plain["memory"]), plain["over"])


@cache
def _hints(kind: type) -> Mapping[str, object]:
    return get_type_hints(kind)

"""Plans as JSON: each record an object with its class's name, decoded strictly by the types of its fields.

What is decoded was written by a process that runs a candidate's code: nothing in it is believed but its shape.
"""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import TypeVar, Union, get_args, get_origin, get_type_hints

_KIND = "is"
_T = TypeVar("_T")


class WireError(ValueError):
    """What was sent is no such record; the message says what stands there."""


def encode(record: object) -> str:
    """A record, with the records in it, as JSON."""
    return json.dumps(_plain(record), separators=(",", ":"))


def decode(kind: type[_T], text: str | bytes) -> _T:
    """The record of type `kind` that `text` is. Raises `WireError`."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise WireError(f"no JSON: {error}") from None
    try:
        return _decoded(kind, data)  # type: ignore[return-value]
    except RecursionError:
        raise WireError("nested too deeply") from None


def _plain(value: object) -> object:
    if is_dataclass(value) and not isinstance(value, type):
        return {_KIND: type(value).__name__, **{f.name: _plain(getattr(value, f.name)) for f in fields(value)}}
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise TypeError(f"a {type(value).__name__} has no place in a record")


@cache
def _hints(kind: type) -> dict[str, object]:
    return get_type_hints(kind)


@cache
def _choices(kind: object) -> tuple[object, ...]:
    """The members of a union, however it is nested."""
    if get_origin(kind) in (Union, UnionType):
        return tuple(member for part in get_args(kind) for member in _choices(part))
    return (kind,)


def _decoded(kind: object, data: object) -> object:
    choices = _choices(kind)
    if isinstance(data, dict):
        name = data.get(_KIND)
        for choice in choices:
            if is_dataclass(choice) and choice.__name__ == name:  # type: ignore[union-attr]
                return _record(choice, data)  # type: ignore[arg-type]
    for choice in choices:
        if choice in (bool, int, float, str, NoneType) and type(data) is choice:
            return data
        if get_origin(choice) is tuple and isinstance(data, list):
            return _items(get_args(choice), data)
    raise WireError(f"{_shown(data)} where {_named(choices)} is expected")


def _record(kind: type, data: dict[str, object]) -> object:
    hints = _hints(kind)
    if data.keys() != {_KIND, *hints}:
        raise WireError(f"{kind.__name__} has {', '.join(sorted(map(str, data.keys() - {_KIND})))}")
    return kind(**{name: _decoded(hint, data[name]) for name, hint in hints.items()})


def _items(kinds: tuple[object, ...], data: list[object]) -> tuple[object, ...]:
    if len(kinds) == 2 and kinds[1] is Ellipsis:
        return tuple(_decoded(kinds[0], item) for item in data)
    if len(kinds) != len(data):
        raise WireError(f"{len(data)} items where {len(kinds)} are expected")
    return tuple(_decoded(kind, item) for kind, item in zip(kinds, data, strict=True))


def _shown(data: object) -> str:
    if isinstance(data, dict):
        return f"a record {data.get(_KIND)!r}"[:80]
    return "a list" if isinstance(data, list) else repr(data)[:80]


def _named(choices: tuple[object, ...]) -> str:
    return " or ".join(getattr(choice, "__name__", str(choice)) for choice in choices)

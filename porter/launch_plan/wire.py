"""Plans and evaluations as JSON: each record an object with its class's name, decoded strictly by its fields' types.

What is decoded was written by a process that runs a candidate's code, or on another machine: nothing in it is believed
but its shape. Fractions, paths and members of enumerations stand in it as texts, sets as lists in a fixed order.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from enum import StrEnum
from fractions import Fraction
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

KIND = "is"  # the key under which a record has the name of its class
NOT_FINITE = ("NaN", "Infinity", "-Infinity")  # floats that JSON has no numbers for, as `encode_portable` writes them
_ATOMS = frozenset((bool, int, float, str, NoneType))
_TEXTS = (Fraction, StrEnum, Path)
_T = TypeVar("_T")
_Decoder = Callable[[object], object]


class WireError(ValueError):
    """The text that was sent is no such record; the message says what stands there."""


def encode(record: object) -> str:
    """A record, with the records in it, as JSON."""
    return _ENCODER.encode(record)


def encode_portable(record: object) -> str:
    """A record as JSON that every reader takes: floats that are no numbers stand in it as texts of `NOT_FINITE`."""
    try:
        return _PORTABLE.encode(record)
    except ValueError:
        return _PORTABLE.encode(_finite(json.loads(encode(record))))


def _finite(value: object) -> object:
    """Returns what JSON has, in which floats that are no numbers are texts."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, dict):
        return {name: _finite(part) for name, part in value.items()}
    return [_finite(part) for part in value] if isinstance(value, list) else value


def decode(kind: type[_T], text: str | bytes) -> _T:
    """The record of type `kind` that `text` is. Raises `WireError`."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise WireError(f"no JSON: {error}") from None
    try:
        return _decoder(kind)(data)  # type: ignore[return-value, arg-type]
    except RecursionError:
        raise WireError("nested too deeply") from None


@cache
def _names(kind: type) -> tuple[str, ...]:
    """The fields of a record."""
    return tuple(field.name for field in fields(kind))


def _object(value: object) -> dict[str, object] | list[object] | str:
    """Returns what JSON has in place of a record, a set, a mapping, a path or a fraction."""
    if isinstance(value, Fraction | Path):
        return str(value)
    if isinstance(value, frozenset):
        return sorted(value, key=encode)
    if isinstance(value, Mapping):
        return dict(value)
    if not is_dataclass(value) or isinstance(value, type):
        raise TypeError(f"a {type(value).__name__} has no place in a record")
    kind = type(value)
    return {KIND: kind.__name__, **{name: getattr(value, name) for name in _names(kind)}}


_ENCODER = json.JSONEncoder(default=_object, separators=(",", ":"))
_PORTABLE = json.JSONEncoder(default=_object, separators=(",", ":"), allow_nan=False)


@cache
def _choices(kind: object) -> tuple[object, ...]:
    """The members of a union, however it is nested."""
    if get_origin(kind) in (Union, UnionType):
        return tuple(member for part in get_args(kind) for member in _choices(part))
    return (kind,)


@cache
def _decoder(kind: object) -> _Decoder:
    """Returns what decodes a type of fields, made once: a plan has thousands of them."""
    choices = _choices(kind)
    records = {choice.__name__: choice for choice in choices if isinstance(choice, type) and is_dataclass(choice)}
    atoms = _ATOMS.intersection(choices)
    items = next((_items(choice) for choice in choices if get_origin(choice) in (tuple, frozenset)), None)
    named = next((_mapping(*get_args(choice)) for choice in choices if get_origin(choice) is Mapping), None)
    texts = [choice for choice in choices if isinstance(choice, type) and issubclass(choice, _TEXTS)]

    def decoded(data: Any) -> object:  # noqa: ANN401 - what JSON has
        given = type(data)
        if given in atoms:
            return data
        if float in atoms and (given is int or (given is str and data in NOT_FINITE)):
            return float(data)
        if given is str and texts:
            return _text(texts, data)
        if given is list and items is not None:
            return items(data)
        if given is dict and named is not None:
            return named(data)
        name = data.get(KIND) if given is dict else None
        if isinstance(name, str) and name in records:
            return _record(records[name], data)
        raise WireError(f"{_shown(data)} where {_named(choices)} is expected")

    return decoded


def _text(kinds: list[type[Fraction | StrEnum | Path]], data: str) -> object:
    """Returns the fraction, the path or the member of an enumeration that a text stands for."""
    for kind in kinds:
        try:
            return kind(data)
        except (ValueError, ZeroDivisionError):
            continue
    raise WireError(f"{_shown(data)} where {_named(tuple(kinds))} is expected")


def _mapping(key: object, value: object) -> Callable[[dict[str, object]], Mapping[object, object]]:
    """Returns what decodes a mapping of names."""
    names, values = _decoder(key), _decoder(value)
    return lambda data: {names(name): values(part) for name, part in data.items()}


@cache
def _fields(kind: type) -> Mapping[str, _Decoder]:
    """Returns what decodes each field of a record."""
    return {name: _decoder(hint) for name, hint in get_type_hints(kind).items()}


def _record(kind: type, data: dict[str, object]) -> object:
    decoders = _fields(kind)
    if len(data) != len(decoders) + 1 or not decoders.keys() <= data.keys():
        raise WireError(f"{kind.__name__} has {', '.join(sorted(map(str, data.keys() - {KIND})))}")
    try:
        return kind(**{name: decoded(data[name]) for name, decoded in decoders.items()})
    except ValueError as error:  # a record says itself what it cannot hold
        raise error if isinstance(error, WireError) else WireError(f"{kind.__name__}: {error}") from None


def _items(kind: object) -> Callable[[list[object]], object]:
    """Returns what decodes the items of a set, or of a tuple: any number of one kind, or one of each."""
    kinds = get_args(kind)
    decoders = tuple(_decoder(one) for one in kinds if one is not Ellipsis)
    if get_origin(kind) is frozenset:
        return lambda data: frozenset(map(decoders[0], data))
    if len(kinds) == 2 and kinds[1] is Ellipsis:
        (each,) = decoders
        return lambda data: tuple(map(each, data))

    def one_of_each(data: list[object]) -> tuple[object, ...]:
        if len(decoders) != len(data):
            raise WireError(f"{len(data)} items where {len(decoders)} are expected")
        return tuple(decoded(item) for decoded, item in zip(decoders, data, strict=True))

    return one_of_each


def _shown(data: object) -> str:
    if isinstance(data, dict):
        return f"a record {data.get(KIND)!r}"[:80]
    return "a list" if isinstance(data, list) else repr(data)[:80]


def _named(choices: tuple[object, ...]) -> str:
    return " or ".join(getattr(choice, "__name__", str(choice)) for choice in choices)

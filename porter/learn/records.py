"""Frozen records as JSON, and back: each field by its type."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Any, TypeVar, cast, get_args, get_origin, get_type_hints

Plain = Any  # what JSON can hold; its shape is checked by the types of the fields
Record = TypeVar("Record")
_SCALARS: Mapping[object, tuple[type, ...]] = {str: (str,), int: (int,), float: (int, float), bool: (bool,)}


def plain(value: object) -> Plain:
    """Returns `value` as JSON can hold it: records and mappings as objects, tuples as lists, enums by their value."""
    if is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    match value:
        case Enum():
            return value.value
        case tuple() | list():
            return [plain(part) for part in value]
        case Mapping():
            return {str(name): plain(part) for name, part in value.items()}
    return value


def record(kind: type[Record], value: Plain) -> Record:
    """Returns the record that `plain` made `value` of. Raises `ValueError` where it is none of that kind."""
    made = _value(kind, value)
    assert isinstance(made, kind)
    return made


def _value(hint: Any, value: Plain) -> object:  # noqa: ANN401 - a type
    if isinstance(hint, UnionType):
        return _of_union(get_args(hint), value)
    origin = get_origin(hint)
    if origin is tuple:
        return _tuple(get_args(hint), value)
    if origin is not None and issubclass(origin, Mapping):
        _, inner = get_args(hint)
        return {str(name): _value(inner, part) for name, part in _checked(value, dict).items()}
    if isinstance(hint, type) and issubclass(hint, Enum):
        return hint(value)
    if is_dataclass(hint):
        hints = fields_of(cast(type, hint))
        if _checked(value, dict).keys() != hints.keys():
            raise ValueError(f"a {getattr(hint, '__name__', hint)} has {sorted(hints)}, not {sorted(value)}")
        return hint(**{name: _value(inner, value[name]) for name, inner in hints.items()})  # type: ignore[operator]
    wanted = _SCALARS[hint]
    if not isinstance(value, wanted) or (isinstance(value, bool) and bool not in wanted):
        raise ValueError(f"{value!r} is not {hint.__name__}")
    return value


def _of_union(options: tuple[Any, ...], value: Plain) -> object:
    if value is None and NoneType in options:
        return None
    rest = [option for option in options if option is not NoneType]
    for option in rest[:-1]:
        try:
            return _value(option, value)
        except ValueError:
            continue
    return _value(rest[-1], value)


def _tuple(kinds: tuple[Any, ...], value: Plain) -> tuple[object, ...]:
    parts = _checked(value, list)
    if kinds[-1] is Ellipsis:
        return tuple(_value(kinds[0], part) for part in parts)
    if len(parts) != len(kinds):
        raise ValueError(f"{len(kinds)} values are expected, not {len(parts)}")
    return tuple(_value(kind, part) for kind, part in zip(kinds, parts, strict=True))


def _checked(value: Plain, kind: type) -> Plain:
    if not isinstance(value, kind):
        raise ValueError(f"{value!r} is not {kind.__name__}")
    return value


@cache
def fields_of(kind: Any) -> Mapping[str, Any]:  # noqa: ANN401 - a type
    """Returns the types of the fields of a record by their names."""
    return get_type_hints(kind)

"""Writes JSON documents: the one place where porter's values become JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence, Set
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import Path

from porter.source_text import Source

Json = None | bool | int | float | str | Sequence["Json"] | Mapping[str, "Json"]


def encode_json(document: Json) -> str:
    """Returns the text of a document with one trailing newline; keys keep their order."""
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def as_record(record: object) -> dict[str, Json]:
    """Returns a dataclass instance as JSON, its fields in their order."""
    if not is_dataclass(record):
        raise TypeError(f"{type(record).__name__} is not a record")
    return {field.name: as_json(getattr(record, field.name)) for field in fields(record)}


def as_json(value: object) -> Json:
    """Returns a value of porter's types as JSON: records by their fields, a `Source` by its path."""
    match value:
        case None | bool() | int() | str():
            return value.value if isinstance(value, Enum) else value
        case float():
            return value if math.isfinite(value) else None  # JSON has no NaN and no infinity
        case Source():
            return str(value.path)
        case Path():
            return str(value)
        case Mapping():
            return {str(as_json(key)): as_json(item) for key, item in value.items()}
        case Sequence() | Set():
            return [as_json(item) for item in value]
    if is_dataclass(value):
        return as_record(value)
    raise TypeError(f"no JSON for {type(value).__name__}")

"""The JSON Schema of the evaluation border, made from the types of its records.

It describes the JSON that `porter.launch_plan.wire` reads. `python -m porter.evolve.scoring.evaluation_schema` prints
it.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from types import NoneType, UnionType
from typing import Union, get_args, get_origin, get_type_hints

from porter.evolve.scoring.evaluation import VERSION, Evaluation, EvaluationRequest, Problem, Program
from porter.launch_plan.wire import KIND, NOT_FINITE
from porter.writing.document import Json, encode_json

_BORDER = (EvaluationRequest, Evaluation, Problem, Program)
_ATOMS: Mapping[object, Json] = {
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"anyOf": [{"type": "number"}, {"enum": list(NOT_FINITE)}]},
    str: {"type": "string"},
    NoneType: {"type": "null"},
    Fraction: {"type": "string"},
    Path: {"type": "string"},
}


def schema() -> Json:
    """Returns the schema of all records of the border; a document is one of those under `oneOf`."""
    definitions: dict[str, Json] = {}
    for kind in _BORDER:
        _define(kind, definitions)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"porter evaluation border, version {VERSION}",
        "oneOf": [_reference(kind) for kind in _BORDER],
        "$defs": dict(sorted(definitions.items())),
    }


def _reference(kind: type) -> Json:
    return {"$ref": f"#/$defs/{kind.__name__}"}


def _define(kind: type, definitions: dict[str, Json]) -> None:
    """Adds a record, and those in its fields."""
    if kind.__name__ in definitions:
        return
    definitions[kind.__name__] = None  # records may hold each other
    hints = get_type_hints(kind)
    properties: dict[str, Json] = {KIND: {"const": kind.__name__}}
    properties |= {field.name: _schema(hints[field.name], definitions) for field in fields(kind)}
    if "version" in properties:
        properties["version"] = {"const": VERSION}
    said = {"description": " ".join((kind.__doc__ or "").split())} if kind in _BORDER else {}
    definitions[kind.__name__] = {
        **said,
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _schema(hint: object, definitions: dict[str, Json]) -> Json:
    """Returns the schema of a field's type."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return {"anyOf": [_schema(each, definitions) for each in arguments]}
    if origin is tuple:
        return _tuple(arguments, definitions)
    if origin is frozenset:
        return {"type": "array", "items": _schema(arguments[0], definitions), "uniqueItems": True}
    if origin is Mapping:
        return {"type": "object", "additionalProperties": _schema(arguments[1], definitions)}
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return {"enum": [member.value for member in hint]}
    if isinstance(hint, type) and is_dataclass(hint):
        _define(hint, definitions)
        return _reference(hint)
    return _ATOMS[hint]


def _tuple(arguments: tuple[object, ...], definitions: dict[str, Json]) -> Json:
    if len(arguments) == 2 and arguments[1] is Ellipsis:
        return {"type": "array", "items": _schema(arguments[0], definitions)}
    items = [_schema(each, definitions) for each in arguments]
    return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}


if __name__ == "__main__":
    sys.stdout.write(encode_json(schema()))

"""Reads contracts from TOML. Every error names the line and the field, and says what to write there."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TypeVar, cast

from porter.contract.model.contract import (
    Argument,
    Contract,
    Distribution,
    Entry,
    EntryKind,
    Field,
    LaunchShape,
    Layout,
    Question,
    Role,
    ScalarArg,
    TensorArg,
    Tolerance,
    Values,
    Workload,
)
from porter.contract.model.dtype import DType
from porter.contract.model.validate import InvalidContractError, check
from porter.errors import ContractError
from porter.source.encoding import read_text

_Enum = TypeVar("_Enum", bound=StrEnum)
_Item = TypeVar("_Item", str, int, float)
_FIELDS = {
    "contract": "name reference category symbols conditions branches shares entry argument workload tolerance question",
    "entry": "kind name template grid block shared_bytes",
    "tensor": "tensor role dtype shape values bound elements used group optional fields told",
    "field": "name dtype at values bound told",
    "scalar": "scalar type value choices",
    "workload": "name sizes seed scale scalars dtypes distribution device_only takes layouts",
    "question": "about text flag",
    "tolerance": "rtol atol",
}


def load_contracts(path: Path) -> tuple[Contract, ...]:
    """Reads the contracts in the file at `path`. Raises `InputError` where it cannot, `ContractError` as `loads`."""
    return loads(read_text(path), path)


def loads(text: str, path: Path) -> tuple[Contract, ...]:
    """Reads the contracts in `text`; errors name `path`. Raises `ContractError`."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ContractError(
            f"{path}: not TOML: {error}", "porter inspect FILE --as contract writes a valid one"
        ) from error
    file = _File(text, path)
    tables = _Table(file, document, ()).tables("contract", "contract")
    if not tables:
        raise ContractError(f"{path}: no [[contract]] table", "porter inspect FILE --as contract writes one")
    for key in document:
        if key != "contract":
            raise file.error((key,), f"unknown table '{key}'", "the only one at top level is [[contract]]")
    return tuple(_contract(table) for table in tables)


@dataclass(frozen=True, slots=True)
class _File:
    """The text, for finding the line of a field."""

    text: str
    path: Path

    def error(self, path: tuple[str | int, ...], message: str, hint: str) -> ContractError:
        dotted = ".".join(str(part) for part in path if isinstance(part, str))
        return ContractError(f"{self.path}:{self.line(path)}: {dotted}: {message}", hint)

    def line(self, path: tuple[str | int, ...]) -> int:
        """Returns the line of the deepest part of `path` that stands in a table or key of its own."""
        best, start, header = 1, 0, ""
        lines = self.text.splitlines()
        for index, part in enumerate(path):
            if isinstance(part, int):
                continue
            ordinal = path[index + 1] if index + 1 < len(path) and isinstance(path[index + 1], int) else 0
            header = f"{header}.{part}".lstrip(".")
            table = re.compile(rf"\s*\[\[?\s*{re.escape(header)}\s*\]")
            key = re.compile(rf"""\s*["']?{re.escape(part)}["']?\s*=""")
            stop = re.compile(r"\s*\[\[\s*contract\s*\]")
            seen = -1
            for row in range(start, len(lines)):
                if table.match(lines[row]) or key.match(lines[row]):
                    seen += 1
                    if seen == ordinal:
                        best, start = row + 1, row + 1
                        break
                elif index and stop.match(lines[row]):
                    break
        return best


@dataclass(frozen=True, slots=True)
class _Table:
    """A table with its place; each getter checks its value."""

    file: _File
    fields: Mapping[str, object]
    path: tuple[str | int, ...]

    def error(self, key: str, message: str, hint: str) -> ContractError:
        return self.file.error((*self.path, key) if key else self.path, message, hint)

    def only(self, kind: str) -> None:
        """Raises when a field is not one of `kind`'s."""
        known = _FIELDS[kind].split()
        for key in self.fields:
            if key not in known:
                raise self.error(key, f"unknown field of a {kind}", f"the known ones are {', '.join(known)}")

    def get(self, key: str, type_: type[_Item], default: _Item | None = None) -> _Item:
        found = self.fields.get(key, default)
        if found is None:
            raise self.error("", f"'{key}' is missing", f"add {key} = {_EXAMPLE[type_]}")
        if type_ is float and isinstance(found, int) and not isinstance(found, bool):
            found = float(found)
        if not isinstance(found, type_) or isinstance(found, bool):
            raise self.error(key, f"{found!r} is not {_TYPE_NAME[type_]}", f"write {key} = {_EXAMPLE[type_]}")
        return found

    def number(self, key: str) -> float:
        """Returns a number, which stays whole where it is written so."""
        return self.get(key, int) if isinstance(self.fields.get(key), int) else self.get(key, float)

    def flag(self, key: str) -> bool:
        """Returns a boolean, False when absent."""
        found = self.fields.get(key, False)
        if not isinstance(found, bool):
            raise self.error(key, f"{found!r} is not a boolean", f"write {key} = true, or leave it out")
        return found

    def choice(self, key: str, enum: type[_Enum], default: _Enum | None = None) -> _Enum:
        text = self.get(key, str, default.value if default is not None else None)
        values = [member.value for member in enum]
        if text not in values:
            raise self.error(key, f"'{text}' is not one of them", f"choose from {', '.join(values)}")
        return enum(text)

    def strings(self, key: str) -> tuple[str, ...]:
        found = self.fields.get(key, [])
        if not isinstance(found, list) or not all(isinstance(item, str) for item in found):
            raise self.error(key, f"{found!r} is not a list of strings", f'write {key} = ["n", "n * 4"]')
        return tuple(cast(list[str], found))

    def integers(self, key: str) -> tuple[int, ...]:
        found = self.fields.get(key, [])
        if not isinstance(found, list) or not all(type(item) is int for item in found):
            raise self.error(key, f"{found!r} is not a list of integers", f"write {key} = [0, 1]")
        return tuple(cast(list[int], found))

    def table(self, key: str) -> _Table:
        found = self.fields.get(key, {})
        if not isinstance(found, dict):
            raise self.error(key, f"{found!r} is not a table", f"write {key} = {{ ... }}")
        return _Table(self.file, found, (*self.path, key))

    def tables(self, key: str, kind: str) -> tuple[_Table, ...]:
        found = self.fields.get(key, [])
        if not isinstance(found, list) or not all(isinstance(item, dict) for item in found):
            raise self.error(
                key, "this is not an array of tables", f"write it as [[{'contract.' * bool(self.path)}{key}]]"
            )
        tables = tuple(_Table(self.file, item, (*self.path, key, i)) for i, item in enumerate(found))
        if kind:
            for table in tables:
                table.only(kind)
        return tables


_TYPE_NAME: Mapping[type, str] = {str: "a string", int: "an integer", float: "a number"}
_EXAMPLE: Mapping[type, str] = {str: '"..."', int: "1", float: "1.0"}


def _contract(table: _Table) -> Contract:
    tolerances = table.table("tolerance")
    contract = Contract(
        name=table.get("name", str),
        reference=table.get("reference", str, ""),
        category=table.get("category", str, "other"),
        entry=_entry(table.table("entry")),
        arguments=tuple(_argument(argument) for argument in table.tables("argument", "")),
        symbols=table.strings("symbols"),
        conditions=table.strings("conditions"),
        branches=table.strings("branches"),
        shares=table.strings("shares"),
        workloads=tuple(_workload(workload) for workload in table.tables("workload", "workload")),
        tolerance={_dtype(tolerances, key): _tolerance(tolerances.table(key)) for key in tolerances.fields},
        questions=tuple(_question(question) for question in table.tables("question", "question")),
    )
    try:
        check(contract)
    except InvalidContractError as error:
        raise table.file.error((*table.path, *error.path), error.message, error.hint) from error
    return contract


def _entry(table: _Table) -> Entry:
    table.only("entry")
    kind = table.choice("kind", EntryKind)
    launch = None
    if "grid" in table.fields or "block" in table.fields:
        launch = LaunchShape(_triple(table, "grid"), _triple(table, "block"), table.get("shared_bytes", str, "0"))
    return Entry(kind, table.get("name", str), table.strings("template"), launch)


def _triple(table: _Table, key: str) -> tuple[str, str, str]:
    found = table.strings(key)
    if not 1 <= len(found) <= 3:
        raise table.error(key, f"{len(found)} dimensions", f'write one to three: {key} = ["cdiv(n, 256)", "1", "1"]')
    x, y, z = (*found, "1", "1")[:3]
    return x, y, z


def _argument(table: _Table) -> Argument:
    if "scalar" in table.fields:
        table.only("scalar")
        name, type_, value = (table.get(key, str) for key in ("scalar", "type", "value"))
        return ScalarArg(name, type_, value, table.strings("choices"))
    table.only("tensor")
    return TensorArg(
        name=table.get("tensor", str),
        role=table.choice("role", Role),
        dtype=table.choice("dtype", DType),
        shape=table.strings("shape"),
        values=table.choice("values", Values, Values.NORMAL),
        bound=table.get("bound", str, ""),
        used=table.get("used", str, ""),
        elements=table.strings("elements"),
        group=table.get("group", int, 1),
        optional=table.flag("optional"),
        told=table.integers("told"),
        fields=tuple(_field(field) for field in table.tables("fields", "field")),
    )


def _field(table: _Table) -> Field:
    return Field(
        name=table.get("name", str),
        dtype=table.choice("dtype", DType),
        at=table.get("at", int),
        values=table.choice("values", Values, Values.NORMAL),
        bound=table.get("bound", str, ""),
        told=table.integers("told"),
    )


def _workload(table: _Table) -> Workload:
    sizes, scalars, dtypes, layouts = (table.table(key) for key in ("sizes", "scalars", "dtypes", "layouts"))
    return Workload(
        name=table.get("name", str),
        sizes={key: sizes.get(key, int) for key in sizes.fields},
        seed=table.get("seed", int, 0),
        scale=table.get("scale", float, 1.0),
        scalars={key: scalars.number(key) for key in scalars.fields},
        distribution=table.choice("distribution", Distribution, Distribution.DECLARED),
        device_only=table.flag("device_only"),
        dtypes={key: dtypes.choice(key, DType) for key in dtypes.fields},
        takes=table.get("takes", str, ""),
        layouts={key: layouts.choice(key, Layout) for key in layouts.fields},
    )


def _dtype(table: _Table, key: str) -> DType:
    if key not in [d.value for d in DType]:
        raise table.error(key, f"'{key}' is not an element type", f"choose from {', '.join(d.value for d in DType)}")
    return DType(key)


def _tolerance(table: _Table) -> Tolerance:
    table.only("tolerance")
    tolerance = Tolerance(table.get("rtol", float), table.get("atol", float))
    if not (tolerance.rtol >= 0 and tolerance.atol >= 0):
        raise table.error("", "a tolerance is not negative", "write it as { rtol = 1e-5, atol = 1e-6 }")
    return tolerance


def _question(table: _Table) -> Question:
    return Question(table.get("about", str), table.get("text", str), table.get("flag", str))

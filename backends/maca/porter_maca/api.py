"""Reads the table `api_map.toml` once: CUDA names and what MACA calls them."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

OTHER_BRAND = "other brand"


@dataclass(frozen=True, slots=True)
class Renamed:
    """`cuda` is called `maca`, or has no replacement where `maca` is empty; `source` says where that was read."""

    cuda: str
    maca: str
    kind: str
    source: str


@dataclass(frozen=True, slots=True)
class Unsupported:
    """`cuda` has no counterpart, for `reason`."""

    cuda: str
    kind: str
    reason: str


@dataclass(frozen=True, slots=True)
class Rule:
    """A family: a name under `prefix` has `cut` at its front replaced by `maca`."""

    prefix: str
    cut: str
    maca: str
    kind: str
    source: str

    def apply(self, name: str) -> Renamed:
        """Returns the row for `name`, which the prefix covers."""
        return Renamed(name, self.maca + name.removeprefix(self.cut), self.kind, self.source)


@dataclass(frozen=True, slots=True)
class Caution:
    """`names` have counterparts, but `what` they do differs: the finding `code` says how."""

    names: frozenset[str]
    what: str
    code: str
    hint: str


Entry = Renamed | Unsupported


@dataclass(frozen=True)
class ApiTable:
    """Exact rows and families; a header's row is keyed by its path, a folder's by the path with its final slash."""

    names: Mapping[str, Entry]
    families: Mapping[str, Rule | Unsupported]
    headers: Mapping[str, Entry]
    unchanged: Mapping[str, str]
    cautions: tuple[Caution, ...]

    def look_up(self, name: str) -> Entry | None:
        """Returns what becomes of the identifier `name`; None where the table says nothing about it."""
        exact = self.names.get(name)
        if exact is not None:
            return exact
        for prefix in _prefixes(name):
            match self.families.get(prefix):
                case Rule() as rule:
                    return rule.apply(name)
                case Unsupported(_, kind, reason):
                    return Unsupported(name, kind, reason)
        return None

    def is_exact(self, name: str) -> bool:
        """Returns whether `name` itself stands in the table, so that no user's name merely looks like it."""
        return name in self.names

    def header(self, path: str) -> Entry | None:
        """Returns what becomes of `#include <path>`."""
        exact = self.headers.get(path)
        if exact is not None:
            return exact
        folder, slash, rest = path.partition("/")
        while slash:
            match self.headers.get(folder + "/"):
                case Renamed(_, maca, kind, source):
                    return Renamed(path, maca + rest, kind, source)
            more, slash, rest = rest.partition("/")
            folder = f"{folder}/{more}"
        return None


def _prefixes(name: str) -> Iterator[str]:
    """Yields the beginnings of `name` at which a word ends, longest first; CUDA_C does not end within CUDA_CHECK."""
    yield name
    for i in range(len(name) - 1, 1, -1):
        following, prefix = name[i], name[:i]
        if following == "_" or following.isdigit() or (following.isupper() and not prefix.isupper()):
            yield prefix


@cache
def api_table() -> ApiTable:
    """Returns the table that ships with the backend."""
    return read_table((files("porter_maca") / "api_map.toml").read_text("utf-8"))


def read_table(text: str) -> ApiTable:
    """Reads a table in the format at the top of `api_map.toml`. Raises `ValueError` if two rows claim a name."""
    document = tomllib.loads(text)
    names: dict[str, Entry] = {}
    families: dict[str, Rule | Unsupported] = {}
    headers: dict[str, Entry] = {}
    for row in document["names"]:
        _claim(names, {cuda: Renamed(cuda, maca, row["kind"], row["source"]) for cuda, maca in row["maca"].items()})
    for row in document["header"]:
        _claim(headers, {cuda: Renamed(cuda, maca, "header", row["source"]) for cuda, maca in row["maca"].items()})
    for row in document["rule"]:
        _claim(families, {p: Rule(p, row["cut"], row["maca"], row["kind"], row["source"]) for p in row["prefixes"]})
    for row in document["unsupported"]:
        kind, reason = row["kind"], row["reason"]
        _claim(headers if kind == "header" else names, {n: Unsupported(n, kind, reason) for n in row["names"]})
        _claim(families, {p: Unsupported(p, kind, reason) for p in row["prefixes"]})
    unchanged = {name: row["source"] for row in document["unchanged"] for name in row["names"]}
    cautions = tuple(Caution(frozenset(r["names"]), r["what"], r["code"], r["hint"]) for r in document["caution"])
    return ApiTable(names, families, headers, unchanged, cautions)


def _claim(table: dict[str, Any], rows: Mapping[str, Any]) -> None:
    if twice := sorted(table.keys() & rows.keys()):
        raise ValueError(f"claimed by two rows: {', '.join(twice)}")
    table.update(rows)

"""The catalogue of finding codes: TOML tables read once, the core's own and every backend's.

A table has the fields of `CatalogueEntry`:

    [[finding]]
    code = "PORT2001"
    title = "A stretch of the source could not be parsed"
    severity = "warning"
    effort = "minutes"
    explanation = "What it means, why it matters, what porter does, what the user can do."
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from porter.diagnostics.findings import CatalogueEntry, Effort, Severity
from porter.errors import InputError, UsageError
from porter.resources import resource

_CODE = re.compile(r"PORT\d{4}")
_FIELDS = frozenset({"code", "title", "severity", "effort", "explanation"})

Catalogue = Mapping[str, CatalogueEntry]


def load_catalogue(table: Path | str) -> Catalogue:
    """The entries of one TOML file, or of TOML text, by code and in the order of the codes.

    Raises `InputError` for a table that is no catalogue and for a code that occurs twice.
    """
    name, text = (str(table), table.read_text("utf-8")) if isinstance(table, Path) else ("catalogue", table)
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{name}: {error}") from error
    return by_code(_entry(name, row) for row in document.get("finding", []))


@cache
def core_catalogue() -> Catalogue:
    """The codes of porter itself: reading, contract, execution, verdict."""
    tables = sorted((resource("grammars") / "findings").glob("*.toml"))
    return by_code(entry for table in tables for entry in load_catalogue(table).values())


def lookup(code: str, catalogue: Catalogue) -> CatalogueEntry:
    """Returns the entry for `code`, upper or lower case; raises `UsageError` when nothing has it."""
    entry = catalogue.get(code.upper())
    if entry is None:
        raise UsageError(f"no finding has the code {code!r}", "`porter explain` lists all codes")
    return entry


def by_code(entries: Iterable[CatalogueEntry]) -> Catalogue:
    """Returns entries by their codes, in the order of these. Raises `InputError` for a code that occurs twice."""
    found: dict[str, CatalogueEntry] = {}
    for entry in entries:
        if entry.code in found:
            raise InputError(f"{entry.code} is claimed twice: {found[entry.code].title!r} and {entry.title!r}")
        found[entry.code] = entry
    return dict(sorted(found.items()))


def _entry(name: str, row: Mapping[str, str]) -> CatalogueEntry:
    """One table as an entry; complains about `name` and the code."""
    code = row.get("code", "")
    if not _CODE.fullmatch(code):
        raise InputError(f"{name}: a finding's code is PORT and four digits, not {code!r}")
    if wrong := sorted(_FIELDS ^ row.keys()):
        raise InputError(f"{name}: {code} misses or does not know: {', '.join(wrong)}")
    try:
        severity, effort = Severity(row["severity"]), Effort(row["effort"])
    except ValueError as error:
        raise InputError(f"{name}: {code}: {error}") from error
    return CatalogueEntry(code, row["title"], severity, effort, " ".join(row["explanation"].split()))

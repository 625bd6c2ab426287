"""Writes the table of names as a page: `python -m porter_maca.api_docs docs/tables/maca-api.md`."""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from porter_maca.api import ApiTable, Renamed, Rule, Unsupported, api_table

_INTRODUCTION = """\
# CUDA names on MACA

What `porter migrate --target maca` makes of CUDA's names. This page is written by `python -m porter_maca.api_docs` from
`api_map.toml`, the table that also drives the translation and the check for names left behind; a test keeps it current.
Each row says where the pair was read: a public MACA source, or the prefix rule its family follows.
"""


def page(table: ApiTable) -> str:
    """Returns the whole page."""
    return "\n".join(
        (_INTRODUCTION, *_coverage(table), *_unsupported(table), *_rules(table), *_names(table), *_same(table))
    )


def _coverage(table: ApiTable) -> Iterator[str]:
    exact = Counter(row.kind for row in table.names.values() if isinstance(row, Renamed))
    families = Counter(row.kind for row in table.families.values() if isinstance(row, Rule))
    missing = Counter(
        row.kind for row in (*table.names.values(), *table.families.values()) if isinstance(row, Unsupported)
    )
    headers = sum(isinstance(row, Renamed) for row in table.headers.values())
    yield "## Coverage\n"
    yield from _grid(
        ("kind", "names", "families"),
        [(kind, str(exact[kind]), str(families[kind])) for kind in sorted({*exact, *families})],
    )
    yield (
        f"{sum(exact.values())} names and {sum(families.values())} families are renamed, {headers} headers too; "
        f"{len(table.unchanged)} names are the same in both, "
        f"{sum(missing.values())} names or families have no counterpart.\n"
    )


def _unsupported(table: ApiTable) -> Iterator[str]:
    rows: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for name, entry in (*table.names.items(), *table.headers.items()):
        if isinstance(entry, Unsupported):
            rows[entry.kind, entry.reason].append(f"`{name}`")
    for prefix, family in table.families.items():
        if isinstance(family, Unsupported):
            rows[family.kind, family.reason].append(f"`{prefix}…`")
    yield "## Not on MACA\n"
    yield from _grid(("what", "why", "names"), [(k, why, ", ".join(sorted(names))) for (k, why), names in rows.items()])


def _rules(table: ApiTable) -> Iterator[str]:
    rules = [row for row in table.families.values() if isinstance(row, Rule)]
    yield "## Families\n"
    yield "The longest prefix counts, and an exact row before any.\n"
    yield from _grid(
        ("prefix", "becomes", "read in"),
        [(f"`{r.prefix}…`", f"`{r.apply(r.prefix).maca}…`", r.source) for r in sorted(rules, key=lambda r: r.prefix)],
    )


def _names(table: ApiTable) -> Iterator[str]:
    kinds: defaultdict[str, list[Renamed]] = defaultdict(list)
    for row in (*table.headers.values(), *table.names.values()):
        if isinstance(row, Renamed):
            kinds[row.kind].append(row)
    for kind, rows in sorted(kinds.items()):
        yield f"## {kind.capitalize()}\n"
        ordered = sorted(rows, key=lambda row: row.cuda)
        yield from _grid(
            ("CUDA", "MACA", "read in"),
            [(f"`{r.cuda}`", f"`{r.maca}`" if r.maca else "left out", r.source) for r in ordered],
        )


def _same(table: ApiTable) -> Iterator[str]:
    yield "## The same in both\n"
    yield ", ".join(f"`{name}`" for name in sorted(table.unchanged)) + "\n"


def _grid(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yields a table, with a blank line behind it."""
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    yield from (f"| {' | '.join(row)} |" for row in rows)
    yield ""


def main() -> None:
    """Write the page to the file named on the command line."""
    Path(sys.argv[1]).write_text(page(api_table()), "utf-8")


if __name__ == "__main__":
    main()

"""The rules applied to the files of a candidate."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from porter.backend import PortedFile
from porter.diagnostics.findings import Finding
from porter.rules.original import OwnCode
from porter.source_text import Source
from porter_triton.catalogue import finding
from porter_triton.naming import python_name
from porter_triton.rules.module import Module
from porter_triton.rules.table import RULES, Asked, Broken

_USUAL_ENTRIES = ("forward", "ModelNew")


def lint(files: Iterable[PortedFile], original: OwnCode) -> Iterator[Finding]:
    """Yields the rules that `files` break, each once a line, in order. A text that is not Python breaks none.

    `original` is the candidate's original, whose own host code says what else it may do.
    """
    given = tuple(files)
    siblings = frozenset(Path(file.name).stem for file in given)
    for file in given:
        source = Source(Path(file.name), file.text)
        try:
            module = Module.read(file.text, _entries(original))
        except SyntaxError:
            continue
        asked = Asked(module, original.operators, siblings)
        seen: dict[tuple[int, str], Finding] = {}
        for broken in (found for rule in RULES for found in rule(asked)):
            made = _finding(source, broken)
            seen.setdefault((made.span.line if made.span else 0, made.code), made)
        yield from (seen[key] for key in sorted(seen))


def _entries(original: OwnCode) -> Iterator[str]:
    """Yields the functions that are called from outside."""
    yield from _USUAL_ENTRIES
    yield from map(python_name, original.functions)
    yield from (f"launch_{python_name(kernel)}" for kernel in original.kernels)


def _finding(source: Source, broken: Broken) -> Finding:
    line, column = getattr(broken.node, "lineno", 1), getattr(broken.node, "col_offset", 0)
    start = min(source.line_starts[line - 1] + column, len(source.text))
    return replace(finding(broken.code, source.span(start, start + 1), broken.message), source=source)

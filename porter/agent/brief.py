"""Writes what a programmer of a target must know before the first line: a backend's `brief.md.j2`, for one device."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from jinja2 import Environment, StrictUndefined

from porter.backend import Target
from porter.diagnostics.findings import CatalogueEntry

_ENVIRONMENT = Environment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=False)


def brief(template: Path, target: Target, rules: Iterable[CatalogueEntry], version: str = "") -> str:
    """`template` as Markdown: its numbers are those of `target`, what it forbids are the `rules` of the catalogue.

    `version` is that of the target's compiler, where it is one that can be installed.
    """
    text = _ENVIRONMENT.from_string(template.read_text("utf-8"))
    return text.render(target=target, rules=tuple(rules), version=version).strip() + "\n"

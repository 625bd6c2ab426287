"""The findings this backend can report."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from pathlib import Path

from porter.diagnostics.catalogue import Catalogue, load_catalogue
from porter.diagnostics.findings import Finding
from porter.source_text import Span


@cache
def catalogue() -> Catalogue:
    """Returns every code of `findings.toml`."""
    return load_catalogue(Path(str(files("porter_triton") / "findings.toml")))


def finding(code: str, span: Span | None, message: str, hint: str = "") -> Finding:
    """Returns the finding `code` at `span`."""
    return catalogue()[code].at(span, message, hint)

"""The files other tools read: SARIF of the findings, JUnit XML of the verdicts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from porter.cli.options import named_path
from porter.errors import unwritable

SarifOption = Annotated[
    Path | None,
    typer.Option("--sarif", metavar="FILE", parser=named_path, help="Also write the findings as SARIF 2.1.0."),
]
JunitOption = Annotated[
    Path | None,
    typer.Option("--junit", metavar="FILE", parser=named_path, help="Also write verdicts as JUnit XML."),
]


def write_text(path: Path, text: str) -> None:
    """Write a file of results. Raises `PorterError` where that cannot be done."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    except OSError as error:
        raise unwritable(path, error) from error

"""`porter runs`: the searches below a folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from porter.cli.console import Console
from porter.cli.options import DebugFlag, JsonFlag, named_path
from porter.errors import DONE, InputError

FolderArgument = Annotated[
    Path, typer.Argument(metavar="DIR", parser=named_path, help="The folder to search; the current one without it.")
]


def runs(
    context: typer.Context, folder: FolderArgument = Path(), json: JsonFlag = False, debug: DebugFlag = False
) -> int:
    """List the searches below a folder."""
    from porter.report.search.listing import found_runs, runs_document, runs_text

    console: Console = context.obj
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder")
    found = found_runs(folder)
    if console.json:
        console.document(runs_document(found))
    else:
        console.show(runs_text(found, folder))
    return DONE

"""`porter export`: the best that a search found, as a folder to merge, or as data of flashinfer-bench."""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from porter.cli.console import Console
from porter.cli.options import DebugFlag, JsonFlag, RunArgument, cache_folder, named_path
from porter.errors import DONE


class As(StrEnum):
    """The form in which a winner is written."""

    FOLDER = "folder"
    FLASHINFER_BENCH = "flashinfer-bench"


OutOption = Annotated[
    Path, typer.Option("--out", "-o", metavar="DIR", parser=named_path, help="The folder to write; a new one.")
]
AsOption = Annotated[
    As, typer.Option("--as", help="A folder with test and benchmark, or a definition, a solution and workloads.")
]


def export(
    context: typer.Context,
    run: RunArgument,
    out: OutOption,
    form: AsOption = As.FOLDER,
    json: JsonFlag = False,
    debug: DebugFlag = False,
) -> int:
    """Write the best candidate of a search with a test and a benchmark, or for flashinfer-bench."""
    from rich.text import Text

    from porter.evaluate.migration import MigrateOptions
    from porter.report.search_course import course
    from porter.report.search_export import winner_texts, write_texts

    console: Console = context.obj
    found = course(run)
    if form is As.FLASHINFER_BENCH:
        from porter.report.flashinfer_reference import winner_data

        options = MigrateOptions("", cache_folder(), seed=0, environment=dict(os.environ))
        with console.progress() as step:
            written = write_texts(winner_data(found, options, step), out)
    else:
        written = write_texts(winner_texts(found), out)
    if console.json:
        console.document({"written": [str(path) for path in written]})
    else:
        console.show(Text("\n".join(f"wrote {path}" for path in written)))
    return DONE

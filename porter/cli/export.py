"""`porter export`: the best that a search found, as a folder to merge."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from porter.cli.console import Console
from porter.cli.options import DebugFlag, JsonFlag, RunArgument, named_path
from porter.errors import DONE

OutOption = Annotated[
    Path, typer.Option("--out", "-o", metavar="DIR", parser=named_path, help="The folder to write; a new one.")
]


def export(
    context: typer.Context,
    run: RunArgument,
    out: OutOption,
    json: JsonFlag = False,
    debug: DebugFlag = False,
) -> int:
    """Write the best candidate of a search with a test and a benchmark."""
    from rich.text import Text

    from porter.report.search_course import course
    from porter.report.search_export import winner_texts, write_texts

    console: Console = context.obj
    written = write_texts(winner_texts(course(run)), out)
    if console.json:
        console.document({"written": [str(path) for path in written]})
    else:
        console.show(Text("\n".join(f"wrote {path}" for path in written)))
    return DONE

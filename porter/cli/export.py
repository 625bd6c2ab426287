"""`porter export`: the best that a search found, as a folder to merge."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from porter.cli.console import Console
from porter.cli.options import DebugFlag, JsonFlag, named_path
from porter.errors import DONE

RunArgument = Annotated[Path, typer.Argument(metavar="RUN", parser=named_path, help="The folder of a search.")]
ToOption = Annotated[Path, typer.Option("--to", metavar="DIR", parser=named_path, help="A new folder.")]


def export(
    context: typer.Context, run: RunArgument, to: ToOption, json: JsonFlag = False, debug: DebugFlag = False
) -> int:
    """Write the best candidate of a search with a test, a benchmark, and how it was found."""
    from rich.text import Text

    from porter.report.search_course import course
    from porter.report.search_export import winner_texts, write_texts

    console: Console = context.obj
    texts = winner_texts(course(run))
    write_texts(texts, to)
    if console.json:
        console.document({"to": str(to), "files": list(texts)})
    else:
        console.show(Text("\n".join(f"wrote {to / name}" for name in texts)))
    return DONE

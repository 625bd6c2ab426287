"""`porter import`: definitions of flashinfer-bench as references that candidates are checked against."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from porter.cli.console import Console
from porter.cli.export import OutOption
from porter.cli.options import DebugFlag, JsonFlag, named_path
from porter.errors import DONE

PlaceArgument = Annotated[
    Path, typer.Argument(metavar="PATH", parser=named_path, help="A definition, or the folder of a data set.")
]


def adopt(
    context: typer.Context, place: PlaceArgument, out: OutOption, json: JsonFlag = False, debug: DebugFlag = False
) -> int:
    """Write references for definitions of flashinfer-bench, and the solutions beside them."""
    from rich.text import Text

    from porter.report.search.export import write_texts
    from porter.report.search.flashinfer_import import imported_texts

    console: Console = context.obj
    written = write_texts(imported_texts(place), out)
    if console.json:
        console.document({"written": [str(path) for path in written]})
    else:
        console.show(Text("\n".join(f"wrote {path}" for path in written)))
    return DONE

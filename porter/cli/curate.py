"""`porter curate`: repositories of PyTorch modules as executable tasks, none of which repeats another."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from porter.cli.console import Console
from porter.cli.options import DebugFlag, JsonFlag, check_writable, cores, named_path
from porter.errors import DONE

RepositoriesArgument = Annotated[
    list[Path], typer.Argument(metavar="REPO", parser=named_path, help="Folders of Python files; nothing is imported.")
]
OutOption = Annotated[
    Path,
    typer.Option("--out", "-o", metavar="DIR", parser=named_path, help="The folder of the tasks; begun ones go on."),
]
HeldOutOption = Annotated[
    Path | None,
    typer.Option("--held-out", metavar="DIR", parser=named_path, help="Leave out what this suite has already."),
]
WorkersOption = Annotated[
    int | None, typer.Option("--workers", metavar="N", min=1, help="Processes at once; as many as cores by default.")
]


def curate(
    context: typer.Context,
    repositories: RepositoriesArgument,
    out: OutOption,
    held_out: HeldOutOption = None,
    workers: WorkersOption = None,
    json: JsonFlag = False,
    debug: DebugFlag = False,
) -> int:
    """Make tasks from PyTorch modules in repositories: each runs alone, and none repeats another."""
    from porter.learn.curation.curate import curate as curated
    from porter.learn.curation.holding_out import HeldOut, held_out_of
    from porter.report.learning.curation import curation_document, curation_text

    console: Console = context.obj
    console.how_to_go_on = "the same command goes on: what was read and tried is kept"
    check_writable("--out", out)
    with console.progress() as step:
        against = HeldOut() if held_out is None else held_out_of(held_out)
        found = curated(repositories, out, against, workers or cores(), step)
    console.document(curation_document(found)) if console.json else console.show(curation_text(found))
    return DONE

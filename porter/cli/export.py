"""`porter export`: the best that a search found, as a folder to merge, a patch, or data of flashinfer-bench."""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from porter.cache_folder import cache_folder
from porter.cli.console import Console
from porter.cli.options import DebugFlag, JsonFlag, RunArgument, named_path
from porter.errors import DONE, UsageError


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
PatchOption = Annotated[
    Path | None,
    typer.Option(
        "--patch",
        metavar="REPO",
        parser=named_path,
        help="Instead write a patch that adds the port beside its source in this git repository.",
    ),
]
AtOption = Annotated[
    str,
    typer.Option(
        "--at",
        metavar="PATH",
        help="The source's path in the repository; porter looks for it without this. Or a function, as "
        "path.py:function, for which the port answers the calls that it was compared at.",
    ),
]
InPlaceFlag = Annotated[bool, typer.Option("--in-place", help="Replace the source by the port.")]


def export(
    context: typer.Context,
    run: RunArgument,
    out: OutOption,
    form: AsOption = As.FOLDER,
    patch: PatchOption = None,
    at: AtOption = "",
    in_place: InPlaceFlag = False,
    json: JsonFlag = False,
    debug: DebugFlag = False,
) -> int:
    """Write the best candidate of a search with a test and a benchmark, for flashinfer-bench, or as a patch."""
    from rich.text import Text

    from porter.evaluate.model.migration import MigrateOptions
    from porter.report.search.course import course
    from porter.report.search.export import winner_texts, write_texts

    console: Console = context.obj
    found = course(run)
    if patch is None and (at or in_place):
        raise UsageError("--at and --in-place only go with a patch", "add --patch REPO")
    if patch is not None:
        from porter.report.search.source_patch import is_function, patch_of, prove

        if form is not As.FOLDER:
            raise UsageError("--patch and --as cannot be given together", "leave one out")
        with console.progress() as step:
            step("holding the best candidate to its source")
            proof = prove(found, os.environ, edges=is_function(at))
            texts = patch_of(found, proof, patch, os.environ, at=at, in_place=in_place)
            written = write_texts(texts, out)
    elif form is As.FLASHINFER_BENCH:
        from porter.report.search.flashinfer_reference import winner_data

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

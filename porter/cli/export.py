"""`porter export`: the best that a search found, as a folder to merge; and all that it tried, to learn from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from porter.cli.console import Console
from porter.cli.options import DebugFlag, JsonFlag, RunArgument, named_path
from porter.errors import DONE, UsageError

ToOption = Annotated[
    Path | None, typer.Option("--to", metavar="DIR", parser=named_path, help="Write the best candidate to this folder.")
]
TrajectoriesOption = Annotated[
    Path | None,
    typer.Option(
        "--trajectories",
        metavar="FILE",
        parser=named_path,
        help="Write every candidate to this file, for training: JSON lines or .parquet.",
    ),
]


def export(
    context: typer.Context,
    run: RunArgument,
    to: ToOption = None,
    trajectories: TrajectoriesOption = None,
    json: JsonFlag = False,
    debug: DebugFlag = False,
) -> int:
    """Write the best candidate of a search with a test and a benchmark, or all candidates as a data set."""
    from rich.text import Text

    from porter.evolve.replay import replayed
    from porter.evolve.trajectories import trajectories as steps
    from porter.report.search_course import course
    from porter.report.search_export import winner_texts, write_lines, write_texts
    from porter.report.search_parquet import SUFFIX, write_parquet

    console: Console = context.obj
    if to is None and trajectories is None:
        raise UsageError("this needs --to or --trajectories", f"for example porter export {run} --to best")
    written = list[Path]()
    if to is not None:
        written += write_texts(winner_texts(course(run)), to)
    if trajectories is not None:
        write = write_parquet if trajectories.suffix == SUFFIX else write_lines
        written.append(write(steps(replayed(run).lines), trajectories))
    if console.json:
        console.document({"written": [str(path) for path in written]})
    else:
        console.show(Text("\n".join(f"wrote {path}" for path in written)))
    return DONE

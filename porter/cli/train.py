"""`porter train`: models from what was measured."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from porter.cli.console import Console
from porter.cli.options import DebugFlag, JsonFlag, named_path
from porter.errors import DONE

train = typer.Typer(name="train", help="Train a model on what was measured.", no_args_is_help=True)

TableArgument = Annotated[
    Path, typer.Argument(metavar="TABLE", parser=named_path, help="A table of measured schedules.")
]
ModelOption = Annotated[
    Path, typer.Option("--out", metavar="MODEL", parser=named_path, help="Write the model to this file, as JSON.")
]
SeedOption = Annotated[int, typer.Option("--seed", metavar="N", min=0, help="Another seed makes another model.")]


@train.command()
def schedules(
    context: typer.Context,
    table: TableArgument,
    out: ModelOption,
    seed: SeedOption = 0,
    json: JsonFlag = False,
    debug: DebugFlag = False,
) -> int:
    """Train the small model that says which schedules to try first; seconds on a CPU."""
    from porter.learn.landscape import tabular
    from porter.learn.schedule_model import save, trained
    from porter.learn.table import read_table
    from porter.report.learning import model_document, model_text

    console: Console = context.obj
    read = read_table(table)
    landscapes = tabular(read)
    model = trained(landscapes, seed, about={**read.about, "table": table.name, "seed": str(seed)})
    save(model, out)
    if console.json:
        console.document(model_document(model, landscapes, out))
    else:
        console.show(model_text(model, landscapes, out))
    return DONE

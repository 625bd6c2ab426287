"""`porter resume`, `porter replay`: a search that goes on, and one that is read again."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from porter.cli.console import Console
from porter.cli.options import (
    DebugFlag,
    JsonFlag,
    TimeLimitOption,
    cache_folder,
    named_path,
)
from porter.errors import DONE, FELL_SHORT

if TYPE_CHECKING:
    from porter.evolve.budget import Budget
    from porter.evolve.run import SearchOptions

RunArgument = Annotated[Path, typer.Argument(metavar="RUN", parser=named_path, help="The folder of a search.")]
RoundsOption = Annotated[int, typer.Option("--rounds", metavar="N", min=0, help="Rounds of search; 0: none.")]
EvaluationsOption = Annotated[
    int | None, typer.Option("--evaluations", metavar="N", min=1, help="Candidates evaluated at most.")
]
SecondsOption = Annotated[
    float | None, typer.Option("--seconds", metavar="S", min=1, help="How long a search may take; then it ends.")
]
StaleOption = Annotated[
    int | None,
    typer.Option("--patience", metavar="N", min=1, help="Rounds without anything better, after which it ends."),
]
JobsOption = Annotated[int, typer.Option("--jobs", metavar="N", min=0, help="Candidates at once; 0: one a core.")]


def budget_of(rounds: int, evaluations: int | None, seconds: float | None, patience: int | None) -> Budget:
    """What a search may spend."""
    from porter.evolve.budget import Budget

    return Budget(rounds, evaluations, seconds, stale_rounds=patience)


def cores() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0))


def search_of(budget: Budget, seed: int | None, jobs: int) -> SearchOptions:
    """A search with that budget; another seed leads it elsewhere."""
    from porter.evolve.run import SearchOptions

    return SearchOptions(budget, seed or 0, jobs=jobs or cores())


def resume(
    context: typer.Context,
    run: RunArgument,
    rounds: RoundsOption = 40,
    evaluations: EvaluationsOption = None,
    seconds: SecondsOption = None,
    patience: StaleOption = None,
    jobs: JobsOption = 0,
    time_limit: TimeLimitOption = 20.0,
    json: JsonFlag = False,
    debug: DebugFlag = False,
) -> int:
    """Go on with a search that was stopped, or that has rounds left."""
    from porter.evaluate.migration import MigrateOptions
    from porter.evolve.run import resume as go_on
    from porter.report.improved import improved_document, improved_text

    console: Console = context.obj
    options = MigrateOptions(
        target="", cache=cache_folder(), time_limit_s=time_limit, seed=0, environment=dict(os.environ)
    )
    with console.progress() as step:
        improved = go_on(run, options, budget_of(rounds, evaluations, seconds, patience), jobs or cores(), step)
    console.document(improved_document(improved)) if json else console.show(improved_text(improved))
    return DONE if improved.best is not None else FELL_SHORT


def replay(context: typer.Context, run: RunArgument, json: JsonFlag = False, debug: DebugFlag = False) -> int:
    """Derive a search's archive from its journal again, and compare every decision; nothing is evaluated."""
    from porter.evolve.run import read
    from porter.report.improved import improved_document, improved_text

    console: Console = context.obj
    improved = read(run)
    console.document(improved_document(improved)) if json else console.show(improved_text(improved))
    return DONE

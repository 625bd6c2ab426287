"""`porter steps`: what searches tried, chosen and written for a model to learn from."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from porter.cache_folder import cache_folder
from porter.cli.console import Console
from porter.cli.options import DebugFlag, JsonFlag, named_path
from porter.errors import DONE, UsageError

if TYPE_CHECKING:
    from porter.learn.selection import Choice
    from porter.learn.steps import Step

RunsArgument = Annotated[list[Path], typer.Argument(metavar="RUN", parser=named_path, help="Folders of searches.")]
OutOption = Annotated[
    Path,
    typer.Option(
        "--out", "-o", metavar="FILE", parser=named_path, help="The new file: JSON lines, or Parquet for .parquet."
    ),
]
WhichOption = Annotated[
    str,
    typer.Option(
        "--which",
        metavar="NAME",
        help="Which steps: all, initial (they change the seed) or best (they beat all before them).",
    ),
]
MinGainOption = Annotated[
    float, typer.Option("--min-gain", metavar="SHARE", min=0, help="With --which best: by what share at least.")
]
BetterFlag = Annotated[
    bool, typer.Option("--better", help="Keep only steps that are verified and better than their parents.")
]
MostOption = Annotated[
    int | None,
    typer.Option("--most", metavar="N", min=1, help="Keep at most N steps of each category and difficulty."),
]
HeldOutOption = Annotated[
    Path | None,
    typer.Option("--held-out", metavar="DIR", parser=named_path, help="Leave out operators of this suite."),
]
NoPromptsFlag = Annotated[
    bool, typer.Option("--without-prompts", help="Leave prompts out: then nothing is ported again, and it is quick.")
]


def steps(
    context: typer.Context,
    runs: RunsArgument,
    out: OutOption,
    which: WhichOption = "all",
    min_gain: MinGainOption = 0.05,
    better: BetterFlag = False,
    most: MostOption = None,
    held_out: HeldOutOption = None,
    without_prompts: NoPromptsFlag = False,
    json: JsonFlag = False,
    debug: DebugFlag = False,
) -> int:
    """Write the steps of searches as a data set: what was known, what was done, and the outcome."""
    from porter.evaluate.model.migration import MigrateOptions
    from porter.learn.runs import steps_of_run
    from porter.learn.sieve import Sieve, sieve
    from porter.learn.step_files import write_steps
    from porter.report.learning.steps import sieve_document, sieve_text

    console: Console = context.obj
    wanted = Sieve(_choice(which), min_gain, better, most, _sources(held_out))
    options = MigrateOptions(target="", cache=cache_folder())
    with console.progress() as step:
        found: list[Step] = []
        for run in runs:
            step(f"reading {run}")
            found += steps_of_run(run, options, with_prompts=not without_prompts)
        kept = sieve(found, wanted)
        write_steps(kept.steps, out)
    console.document(sieve_document(kept, out)) if console.json else console.show(sieve_text(kept, out))
    return DONE


def _choice(name: str) -> Choice:
    from porter.learn.selection import Choice

    try:
        return Choice(name)
    except ValueError:
        known = ", ".join(Choice)
        raise UsageError(f"--which {name}: there is no such choice", f"the choices are {known}") from None


def _sources(suite: Path | None) -> dict[str, str]:
    """Returns the CUDA sources of a suite by the names of its operators."""
    from porter.source.encoding import read_text
    from porter.suite.operators import operators

    if suite is None:
        return {}
    found = {one.key: read_text(one.kernel) for one in operators(suite)}
    if not found:
        raise UsageError(f"--held-out {suite}: no operators are there", "name a folder of suites, such as op_suites")
    return found

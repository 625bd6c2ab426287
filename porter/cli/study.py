"""`porter study`: how fast good schedules are found, by what was learnt and without."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from porter.cli.console import Console
from porter.cli.options import DebugFlag, JsonFlag, named_path
from porter.errors import DONE, UsageError

if TYPE_CHECKING:
    from porter.learn.landscape import Landscape
    from porter.learn.study import MakeArm

_SYNTHETIC, _TABULAR = "synthetic", "tabular"

LandscapeOption = Annotated[
    str,
    typer.Option("--landscape", metavar="NAME", help="tabular: the times in --table; synthetic: a formula's."),
]
TableOption = Annotated[
    Path | None, typer.Option("--table", metavar="FILE", parser=named_path, help="A table of measured schedules.")
]
ArmsOption = Annotated[
    str,
    typer.Option(
        "--arms",
        metavar="NAMES",
        help="Who chooses the next schedule, separated by commas: random, order, search, kriging, learnt, both.",
    ),
]
HeldOutOption = Annotated[
    str,
    typer.Option(
        "--held-out",
        metavar="NAME",
        help="What the model does not learn from: the family of an operator, or the operator itself.",
    ),
]
EvaluationsOption = Annotated[
    int, typer.Option("--evaluations", metavar="N", min=1, help="Evaluations for each operator.")
]
SeedsOption = Annotated[int, typer.Option("--seeds", metavar="N", min=1, help="How often to repeat the study.")]
OutOption = Annotated[
    Path | None, typer.Option("--out", "-o", metavar="FILE", parser=named_path, help="Write raw results to this file.")
]


def study(
    context: typer.Context,
    landscape: LandscapeOption = _SYNTHETIC,
    table: TableOption = None,
    arms: ArmsOption = "random,search,learnt",
    held_out: HeldOutOption = "family",
    evaluations: EvaluationsOption = 10,
    seeds: SeedsOption = 3,
    out: OutOption = None,
    json: JsonFlag = False,
    debug: DebugFlag = False,
) -> int:
    """Compare ways to find good schedules, on operators that they have not learnt from."""
    from porter.learn.study import HELD_OUT
    from porter.learn.study import study as studied
    from porter.report.learning.study import study_document, study_text, write_study

    console: Console = context.obj
    chosen, (landscapes, about) = _arms(arms), _landscapes(landscape, table)
    if held_out not in HELD_OUT:
        raise UsageError(f"--held-out {held_out}: there is no such choice", f"the choices are {', '.join(HELD_OUT)}")
    with console.progress() as step:
        found = studied(landscapes, chosen, evaluations, seeds, held_out=held_out, progress=step)
    if out is not None:
        write_study(found, about, out)
    console.document(study_document(found, about)) if console.json else console.show(study_text(found))
    return DONE


def _arms(names: str) -> dict[str, MakeArm]:
    from porter.learn.study import ARMS

    chosen = tuple(dict.fromkeys(filter(None, (name.strip() for name in names.split(",")))))
    unknown = [name for name in chosen if name not in ARMS]
    if unknown or not chosen:
        raise UsageError(f"--arms {names}: there is no arm {', '.join(unknown)}", f"the arms are {', '.join(ARMS)}")
    return {name: ARMS[name] for name in chosen}


def _landscapes(name: str, file: Path | None) -> tuple[tuple[Landscape, ...], dict[str, str]]:
    """Returns the operators, and what is said of them."""
    from porter.learn.landscape import synthetic, tabular
    from porter.learn.table import read_table

    if name == _SYNTHETIC and file is None:
        return synthetic(), {"landscape": "synthetic: times of a formula, of no device"}
    if name not in (_SYNTHETIC, _TABULAR) or (name == _TABULAR) is (file is None):
        raise UsageError(
            f"--landscape {name}: a landscape is synthetic, or tabular with --table FILE",
            "for example porter study --landscape tabular --table benchmarks/results/schedule_table_h100.json",
        )
    assert file is not None
    table = read_table(file)
    return tabular(table), {"landscape": f"tabular: {file.name}", **table.about}

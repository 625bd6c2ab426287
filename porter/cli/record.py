"""`porter record`: keep right answers for machines that cannot give them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from porter.cli.build import Build, built_for
from porter.cli.console import Console
from porter.cli.groups import spread
from porter.cli.options import (
    DebugFlag,
    JsonFlag,
    Original,
    SeedOption,
    drawn_seed,
    named_path,
)
from porter.errors import DONE, InputError, unwritable

StandardArgument = Annotated[
    Path,
    typer.Argument(
        metavar="FILE", parser=named_path, help="A CUDA source, a contract that names one, or a Python reference."
    ),
]
OutOption = Annotated[
    Path,
    typer.Option(
        "--out", "-o", metavar="FILE", parser=named_path, help="The recording to write; an existing one is replaced."
    ),
]


@spread
def record(
    context: typer.Context,
    *,
    standard: StandardArgument,
    out: OutOption,
    original: Original,
    build: Build,
    seed: SeedOption = None,
    json: JsonFlag = False,
    debug: DebugFlag = False,
) -> int:
    """Record right answers, for machines that cannot compute them."""
    from porter.evaluate.problem.standards import named_source
    from porter.evaluate.record import record as record_answers
    from porter.oracle.golden import write_golden
    from porter.report.learning.recording import recording_document, recording_text

    console: Console = context.obj
    asked = replace(original.options(""), seed=drawn_seed() if seed is None else seed)
    options = built_for(asked, build.of(named_source(standard)))
    if out.suffix != ".golden":
        raise InputError(f"{out}: a recording's name ends in .golden", f"for example -o {out.with_suffix('.golden')}")
    with console.progress() as step:
        recorded = record_answers(standard, options, step)
    try:
        write_golden(out, recorded)
    except OSError as error:
        raise unwritable(out, error) from error
    if console.json:
        console.document(recording_document(recorded, out))
    else:
        console.show(recording_text(recorded, out))
    return DONE

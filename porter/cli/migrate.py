"""`porter migrate`: port, prove, report."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from porter.cli.console import Console
from porter.cli.groups import spread
from porter.cli.options import (
    ArchOption,
    DebugFlag,
    JsonFlag,
    LimitOption,
    Original,
    QuietFlag,
    ReferenceOption,
    SeedOption,
    TargetOption,
    VerboseFlag,
    checked_file,
    named_path,
)
from porter.cli.search import (
    BaseUrlOption,
    EvaluationsOption,
    JobsOption,
    ModelOption,
    PatienceOption,
    RecordingOption,
    ResumeFlag,
    RoundsOption,
    SecondsOption,
    Spending,
    TokensOption,
    model_of,
    refuse_without_rounds,
    search_of,
)

PathsArgument = Annotated[
    list[Path], typer.Argument(metavar="PATH...", parser=named_path, help="CUDA sources, or directories of them.")
]
OutOption = Annotated[
    Path, typer.Option("--out", "-o", metavar="DIR", parser=named_path, help="The folder for ports and reports.")
]
DiffFlag = Annotated[bool, typer.Option("--diff", help="Show what the port changes.")]
ForceFlag = Annotated[bool, typer.Option("--force", help="Overwrite output files that were edited since.")]


@spread
def migrate(
    context: typer.Context,
    *,
    paths: PathsArgument,
    target: TargetOption,
    arch: ArchOption = "",
    original: Original,
    limit: LimitOption = 60.0,
    reference: ReferenceOption = None,
    rounds: RoundsOption = 0,
    evaluations: EvaluationsOption = None,
    seconds: SecondsOption = None,
    tokens: TokensOption = None,
    patience: PatienceOption = 15,
    jobs: JobsOption = 0,
    model: ModelOption = "",
    base_url: BaseUrlOption = "",
    recording: RecordingOption = None,
    resume: ResumeFlag = False,
    seed: SeedOption = None,
    out: OutOption = Path("porter-out"),
    force: ForceFlag = False,
    diff: DiffFlag = False,
    quiet: QuietFlag = False,
    verbose: VerboseFlag = False,
    json: JsonFlag = False,
    debug: DebugFlag = False,
) -> int:
    """Port CUDA sources, execute ports and originals on the CPU, compare them; time them where there is a device."""
    from porter.cli.attempt import Destination, Wish, attempt_all
    from porter.measure.deadline import Deadline
    from porter.native.place import missing_device

    console: Console = context.obj
    options = replace(
        original.options(target),
        arch=arch,
        deadline=Deadline(limit),
        timed=not missing_device(),
        reference=checked_file(reference),
    )
    if not rounds:
        refuse_without_rounds(evaluations=evaluations, seconds=seconds, tokens=tokens, resume=resume)
        refuse_without_rounds(model=model, base_url=base_url, recording=recording)
    budget = Spending(rounds, evaluations, seconds, tokens, patience).budget()
    proposing = model_of(model, base_url, recording)
    wish = Wish(options, search_of(budget, seed, jobs, proposing, again=resume) if rounds else None)
    return attempt_all(paths, wish, Destination(out, force), console, diff=diff)

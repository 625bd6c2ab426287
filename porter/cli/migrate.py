"""`porter migrate`: port, prove, report."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from porter.cli.build import Build
from porter.cli.console import Console
from porter.cli.groups import spread
from porter.cli.options import (
    ArchOption,
    DebugFlag,
    FollowOption,
    JsonFlag,
    LimitOption,
    Original,
    QuietFlag,
    ReferenceOption,
    SeedOption,
    TargetsOption,
    VerboseFlag,
    checked_file,
    cores,
    named_path,
    parse_follow,
)
from porter.cli.result_files import JunitOption, SarifOption
from porter.cli.search import (
    AxesOption,
    BaseUrlOption,
    EvaluationsOption,
    EvaluatorOption,
    InFlightOption,
    JobsOption,
    ModelOption,
    ModelSetOption,
    ModelsOption,
    PatienceOption,
    RecordingOption,
    ResumeFlag,
    RoundsOption,
    SecondsOption,
    Spending,
    TokensOption,
    asking_of,
    model_of,
    refuse_without_rounds,
    search_of,
)
from porter.errors import UsageError

if TYPE_CHECKING:
    from porter.evaluate.migration import MigrateOptions

PathsArgument = Annotated[
    list[Path], typer.Argument(metavar="PATH", parser=named_path, help="CUDA sources, or directories of them.")
]
OutOption = Annotated[
    Path, typer.Option("--out", "-o", metavar="DIR", parser=named_path, help="The folder for ports and reports.")
]
CheckFlag = Annotated[
    bool, typer.Option("--check", help="Only report what is dangerous; run nothing and write no port.")
]
WatchFlag = Annotated[
    bool,
    typer.Option("--watch", help="Stay, and port again what changes: a source, its headers or its contract."),
]
DiffFlag = Annotated[bool, typer.Option("--diff", help="Show what the port changes.")]
ForceFlag = Annotated[bool, typer.Option("--force", help="Overwrite output files that you edited.")]


@spread
def migrate(
    context: typer.Context,
    *,
    paths: PathsArgument,
    target: TargetsOption,
    arch: ArchOption = "",
    original: Original,
    build: Build,
    limit: LimitOption = 60.0,
    reference: ReferenceOption = None,
    follow: FollowOption = "",
    rounds: RoundsOption = 0,
    evaluations: EvaluationsOption = None,
    seconds: SecondsOption = None,
    tokens: TokensOption = None,
    patience: PatienceOption = 15,
    jobs: JobsOption = 0,
    model: ModelOption = None,
    base_url: BaseUrlOption = "",
    models: ModelsOption = None,
    model_set: ModelSetOption = None,
    recording: RecordingOption = None,
    axes: AxesOption = "",
    evaluator: EvaluatorOption = None,
    in_flight: InFlightOption = 0,
    resume: ResumeFlag = False,
    seed: SeedOption = None,
    out: OutOption = Path("porter-out"),
    force: ForceFlag = False,
    diff: DiffFlag = False,
    check: CheckFlag = False,
    watch: WatchFlag = False,
    sarif: SarifOption = None,
    junit: JunitOption = None,
    quiet: QuietFlag = False,
    verbose: VerboseFlag = False,
    json: JsonFlag = False,
    debug: DebugFlag = False,
) -> int:
    """Port CUDA sources, run ports and originals on the CPU, and compare the results."""
    from porter.cli.attempt import Destination, Show, Task, Wish, attempt_all, conclude
    from porter.cli.on_change import on_every_change
    from porter.cli.sources import named_sources
    from porter.evolve.run import choosing
    from porter.measure.deadline import Deadline
    from porter.native.place import missing_device

    console: Console = context.obj
    if watch and (json or sarif or junit or check):
        raise UsageError("--watch goes with none of --json, --sarif, --junit and --check", "run those without --watch")
    asked = [replace(original.options(name), arch=arch) for name in dict.fromkeys(target)]
    if check:
        return _check(paths, asked, build, console, sarif, junit)
    timed = not missing_device()
    asked = [replace(one, deadline=Deadline(limit), timed=timed, reference=checked_file(reference)) for one in asked]
    if not rounds:
        refuse_without_rounds(
            evaluations=evaluations, seconds=seconds, resume=resume, axes=axes, evaluator=evaluator, in_flight=in_flight
        )
    asked = [replace(one, follow=parse_follow(follow)) for one in asked]
    budget = Spending(rounds, evaluations, seconds, tokens, patience).budget()
    asked_model = model_of(model, base_url, models, model_set, recording)
    search = None
    if rounds:
        search = search_of(
            budget,
            seed,
            jobs,
            asked_model,
            again=resume,
            console=console,
            axes=axes,
            evaluators=evaluator or (),
            in_flight=in_flight,
        )
    asking = asking_of(asked_model, tokens, console)
    choice = choosing(jobs or cores()) if timed else None
    wishes = tuple(Wish(options, build, console.allowances, search, asking, choice) for options in asked)
    several = len(paths) > 1 or paths[0].is_dir() or len(wishes) > 1
    task = Task(wishes, Destination(out, force), Show(diff, sarif, junit), several)
    if watch:
        return on_every_change(paths, task, console)
    return conclude(attempt_all(named_sources(paths), task, console), task, console)


def _check(
    paths: list[Path],
    asked: list[MigrateOptions],
    build: Build,
    console: Console,
    sarif: Path | None,
    junit: Path | None,
) -> int:
    from porter.cli.check import check_all

    if junit is not None:
        raise UsageError("--junit is about verdicts, and --check executes nothing", "write the findings with --sarif")
    return check_all(paths, asked, build, console, sarif)

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
    named_path,
    parse_follow,
)
from porter.cli.result_files import JunitOption, SarifOption
from porter.cli.search import RoundsOption
from porter.cli.searching import Searching
from porter.errors import UsageError

if TYPE_CHECKING:
    from porter.cli.attempt import Wish
    from porter.evaluate.model.migration import MigrateOptions

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
    searching: Searching,
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
    from porter.cli.attempt import Destination, Show, Task, attempt_all, conclude
    from porter.cli.on_change import on_every_change
    from porter.cli.sources import named_sources
    from porter.measure.deadline import Deadline

    console: Console = context.obj
    if watch and (json or sarif or junit or check):
        raise UsageError(
            "--watch cannot be given with --json, --sarif, --junit or --check", "run those without --watch"
        )
    asked = [replace(original.options(name), arch=arch) for name in dict.fromkeys(target)]
    if check:
        return _check(paths, asked, build, console, sarif, junit)
    asked = [replace(one, deadline=Deadline(limit), reference=checked_file(reference)) for one in asked]
    if not rounds:
        searching.refuse()
    asked = [replace(one, follow=parse_follow(follow)) for one in asked]
    wishes = _wishes(asked, build, searching, rounds, seed, console)
    several = len(paths) > 1 or paths[0].is_dir() or len(wishes) > 1
    task = Task(wishes, Destination(out, force), Show(diff, sarif, junit), several)
    if watch:
        return on_every_change(paths, task, console)
    return conclude(attempt_all(named_sources(paths), task, console), task, console)


def _wishes(
    asked: list[MigrateOptions], build: Build, searching: Searching, rounds: int, seed: int | None, console: Console
) -> tuple[Wish, ...]:
    """Returns the wishes for each source, one for each target; times are taken where there is a device."""
    from porter.cli.attempt import Wish
    from porter.native.place import missing_device

    timed = not missing_device()
    profile = searching.profile()
    search = searching.options(rounds, seed, profile, console) if rounds else None
    asking = searching.asking(profile, console)
    options = (replace(one, timed=timed) for one in asked)
    return tuple(Wish(one, build, console.allowances, search, asking) for one in options)


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
        raise UsageError("--junit writes verdicts, and --check makes none", "write the findings with --sarif")
    return check_all(paths, asked, build, console, sarif)

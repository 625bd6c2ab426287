"""`porter regress`: notice when a driver or compiler breaks a port."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from porter.cache_folder import cache_folder
from porter.cli.console import Console
from porter.cli.options import DebugFlag, JsonFlag, checked_file, cores, named_path
from porter.cli.suite import JobsOption, LimitOption
from porter.errors import DONE, FELL_SHORT, unwritable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from porter.suite.regress import Compared
    from porter.suite.result import SuiteResult

BaselineArgument = Annotated[
    Path,
    typer.Argument(metavar="BASELINE", parser=named_path, help="A target's folder of a suite run, or its suite.json."),
]
UpdateFlag = Annotated[bool, typer.Option("--update", help="Make the present results the new baseline.")]
KnownOption = Annotated[
    Path | None,
    typer.Option(
        "--known-failures",
        metavar="FILE",
        parser=named_path,
        help="The file of known failures; without it, known_failures.toml beside BASELINE.",
    ),
]
JunitOption = Annotated[
    Path | None, typer.Option("--junit", metavar="FILE", parser=named_path, help="Also write JUnit XML to this file.")
]


def regress(
    context: typer.Context,
    baseline: BaselineArgument,
    known_failures: KnownOption = None,
    junit: JunitOption = None,
    update: UpdateFlag = False,
    jobs: JobsOption = 0,
    limit: LimitOption = 600.0,
    json: JsonFlag = False,
    debug: DebugFlag = False,
) -> int:
    """Run the ports of a suite run again; exit code 1 when one is no longer right, no longer builds, or is slower."""
    from porter.report.suite.regression import regression_document, regression_text
    from porter.suite.children import Children
    from porter.suite.known import KNOWN_FAILURES
    from porter.suite.known import known_failures as read_known
    from porter.suite.regress import compare_all
    from porter.suite.replay import replay
    from porter.suite.result import read_run

    folder = baseline if baseline.is_dir() else baseline.parent
    run = read_run(baseline)
    known = read_known(checked_file(known_failures) or folder / KNOWN_FAILURES, run.target)
    console: Console = context.obj
    children = Children(jobs or cores(), limit)
    with console.progress() as step:
        now = replay(folder, run, cache_folder(), children, lambda one: step(f"{one.key}: {one.outcome}"))
    compared = compare_all((*run.results, *run.missing), now, known)
    _write(compared, run, folder if update else None, junit)
    console.document(regression_document(compared, run.target)) if json else console.show(regression_text(compared))
    return FELL_SHORT if any(one.is_lost for one in compared) and not update else DONE


def _write(compared: Sequence[Compared], run: SuiteResult, update: Path | None, junit: Path | None) -> None:
    from dataclasses import replace

    from porter.report.suite.regression import regression_junit
    from porter.suite.lock import locked
    from porter.suite.result import MISSING, write_result, write_run

    if update is not None:
        kept = tuple(one.before if one.now.is_of_machine else one.now for one in compared if one.now.outcome != MISSING)
        with locked(update):
            write_run(update, replace(run, results=kept, operators=tuple(one.key for one in kept)))
            for one in kept:
                write_result(update / one.key, one)
    if junit is not None:
        try:
            junit.write_text(regression_junit(compared, run.target), "utf-8")
        except OSError as error:
            raise unwritable(junit, error) from error

"""`porter doctor`: what this machine can do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from porter.cache_folder import cache_folder
from porter.cli.console import Console
from porter.cli.options import DebugFlag, JsonFlag
from porter.cli.search import EvaluatorOption
from porter.errors import UsageError

WarmFlag = Annotated[bool, typer.Option("--warm", help="First build what all ports share; this takes a minute, once.")]


def doctor(
    context: typer.Context,
    warm: WarmFlag = False,
    evaluator: EvaluatorOption = None,
    json: JsonFlag = False,
    debug: DebugFlag = False,
) -> int:
    """Show what this machine can do for each platform, and what it lacks, or another with --evaluator."""
    from porter.report.machine import examine, machine_document, machine_text, start_workers

    console: Console = context.obj
    if evaluator:
        return _elsewhere(evaluator, console, warm=warm)
    if warm:
        _warm(console)
    with console.progress() as step:
        step("starting a worker of each kind")
        machine = examine(cache_folder(), start_workers(cache_folder()))
    console.document(machine_document(machine)) if json else console.show(machine_text(machine))
    return 0


def _warm(console: Console) -> None:
    from porter.evaluate.problem.warm import warm

    with console.progress() as step:
        warm(cache_folder(), step)


def _elsewhere(urls: Sequence[str], console: Console, *, warm: bool) -> int:
    from dataclasses import replace

    from porter.cli.serve import RAY, server_at
    from porter.report.machine import machine_text
    from porter.serve.report import report_document, report_text

    if warm:
        raise UsageError("--warm builds on this machine, and --evaluator names another one")
    if any(url.startswith(RAY) for url in urls):
        raise UsageError("porter doctor asks servers, and cannot ask a Ray cluster", "`ray status` says what is there")
    reports = [replace(server_at(url), patience_s=0.0).report() for url in dict.fromkeys(urls)]
    if console.json:
        documents = [report_document(report) for report in reports]
        console.document({"servers": documents} if len(documents) > 1 else documents[0])
        return 0
    for report in reports:
        console.show(machine_text(report.machine).append("\n").append_text(report_text(report)))
    return 0

"""`porter doctor`: what this machine can do."""

from __future__ import annotations

from typing import Annotated

import typer

from porter.cli.console import Console
from porter.cli.options import DebugFlag, JsonFlag, cache_folder

WarmFlag = Annotated[bool, typer.Option("--warm", help="First build what all ports share; this takes a minute, once.")]


def doctor(context: typer.Context, warm: WarmFlag = False, json: JsonFlag = False, debug: DebugFlag = False) -> int:
    """Show what this machine can do for each platform, and what it lacks."""
    from porter.report.machine import examine, machine_document, machine_text, start_workers

    console: Console = context.obj
    if warm:
        _warm(console)
    with console.progress() as step:
        step("starting a worker of each kind")
        machine = examine(cache_folder(), start_workers(cache_folder()))
    console.document(machine_document(machine)) if json else console.show(machine_text(machine))
    return 0


def _warm(console: Console) -> None:
    from porter.evaluate.warm import warm

    with console.progress() as step:
        warm(cache_folder(), step)

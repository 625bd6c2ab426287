"""`porter doctor`: what this machine can do."""

from __future__ import annotations

import typer

from porter.cli.console import Console
from porter.cli.options import DebugFlag, JsonFlag, cache_folder


def doctor(context: typer.Context, json: JsonFlag = False, debug: DebugFlag = False) -> int:
    """Say what this machine can do, per backend, and why not."""
    from porter.report.machine import examine, machine_document, machine_text

    console: Console = context.obj
    machine = examine(cache_folder())
    console.document(machine_document(machine)) if json else console.show(machine_text(machine))
    return 0

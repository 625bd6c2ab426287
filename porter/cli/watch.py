"""`porter watch`: a search as it goes on."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from porter.cli.options import LONGEST_S, DebugFlag, RunArgument
from porter.errors import DONE, InputError

if TYPE_CHECKING:
    from porter.evolve.events import Event
    from porter.report.search.course import Course

PeriodOption = Annotated[
    float, typer.Option("--every", metavar="S", min=0.05, max=LONGEST_S, help="Seconds between updates.")
]


def watch(context: typer.Context, run: RunArgument, every: PeriodOption = 0.5, debug: DebugFlag = False) -> int:
    """Follow a search until it ends; Ctrl-C stops watching, not the search."""
    from porter.report.search.course import following

    if not run.is_dir():
        raise InputError(f"{run}: no such folder")
    looks = following(run)
    try:
        if sys.stdout.isatty():
            _live(looks, every)
        else:
            _lines(looks, every)
    except KeyboardInterrupt:
        typer.echo("")
    return DONE


def _live(looks: Iterator[tuple[Course, tuple[Event, ...]]], every: float) -> None:
    """One picture of the search, drawn anew when something happened."""
    from rich.live import Live

    from porter.report.search.watch import picture

    with Live(auto_refresh=False) as live:
        for found, events in looks:
            if events:
                live.update(picture(found), refresh=True)
            if found.state.ended:
                return
            time.sleep(every)


def _lines(looks: Iterator[tuple[Course, tuple[Event, ...]]], every: float) -> None:
    """A line for each thing worth knowing, for a pipe or a log."""
    from porter.report.search.watch import told

    for found, events in looks:
        for line in told(found, events):
            typer.echo(line)
        sys.stdout.flush()
        if found.state.ended:
            return
        time.sleep(every)

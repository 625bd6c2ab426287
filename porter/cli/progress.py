"""Says what a command is doing just now, at a terminal or in the log of a build machine."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from porter.evaluate.model.migration import Progress

_PERIOD_S = 15.0  # between two lines of a log: a build machine ends jobs that say nothing for minutes
_STARTING = "starting"


@contextmanager
def status_line() -> Iterator[Progress]:
    """Shows the current step in one line of the terminal, which the next step replaces and the end wipes away."""
    from rich.console import Console as RichConsole
    from rich.live import Live
    from rich.spinner import Spinner
    from rich.text import Text

    console = RichConsole(file=sys.stderr)
    spinner = Spinner("dots", Text(_STARTING))
    # Where stdout is the same terminal its lines have to stand above this one; a file must not lose them to stderr.
    with Live(spinner, console=console, transient=True, redirect_stdout=sys.stdout.isatty(), refresh_per_second=10):

        def show(step: str) -> None:
            spinner.update(text=Text(step, no_wrap=True, overflow="ellipsis"))

        yield show


@contextmanager
def lines_now_and_then(stream: TextIO, period_s: float = _PERIOD_S) -> Iterator[Progress]:
    """Writes the current step to `stream` every `period_s` seconds, with the seconds since the beginning."""
    begin, current, ended = time.monotonic(), [_STARTING], threading.Event()

    def show(step: str) -> None:
        current[0] = step

    def tell() -> None:
        while not ended.wait(period_s):
            with suppress(OSError, ValueError):  # nobody reads on: the work goes on all the same
                stream.write(f"[{time.monotonic() - begin:.0f} s] {current[0]}\n")
                stream.flush()

    teller = threading.Thread(target=tell, daemon=True)
    teller.start()
    try:
        yield show
    finally:
        ended.set()
        teller.join()

"""Writes a command's output: the result to stdout, progress and errors to stderr, all of it JSON with `--json`."""

from __future__ import annotations

import shutil
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from porter.errors import FELL_SHORT, PorterError, exhaustion
from porter.writing.document import Json, encode_json

if TYPE_CHECKING:
    from rich.text import Text

    from porter.diagnostics.allowances import Allowance
    from porter.evaluate.model.migration import Progress
    from porter.report.findings.view import View


class Console:
    """One command's output. With `json` stdout holds exactly one JSON document, whatever happens.

    `allowances` are the findings that the project accepts; `how_to_go_on` is what whoever interrupts the command reads.
    """

    def __init__(self, *, json: bool, debug: bool, quiet: bool = False, verbose: bool = False) -> None:
        self.allowances: tuple[Allowance, ...] = ()
        self.how_to_go_on = "the same command begins again; what was built for it is kept and not built again"
        self.json = json
        self.debug = debug
        self.quiet = quiet
        self.verbose = verbose

    @property
    def view(self) -> View:
        """Returns how much of a result people are shown: as wide as their terminal; in a pipe nothing is cut."""
        from porter.report.findings.view import Detail, View

        detail = Detail.QUIET if self.quiet else Detail.VERBOSE if self.verbose else Detail.NORMAL
        return View(detail, shutil.get_terminal_size().columns if sys.stdout.isatty() else 0)

    def show(self, text: Text) -> None:
        """The result for people: coloured on a terminal, as it is in a pipe."""
        _print(text, sys.stdout)

    def document(self, document: Json) -> None:
        """The result for programs."""
        _write(encode_json(document), sys.stdout)

    @contextmanager
    def progress(self) -> Iterator[Progress]:
        """The current step on stderr: a line that changes on a terminal, elsewhere a new line now and then.

        What goes to stdout meanwhile stands above the line. Nothing is shown with `quiet` or `json`.
        """
        from porter.cli.progress import lines_now_and_then, status_line

        if self.quiet or (self.json and not sys.stderr.isatty()):
            yield _unwatched
            return
        with status_line() if sys.stderr.isatty() else lines_now_and_then(sys.stderr) as show:
            yield show

    def warn(self, text: str) -> None:
        """Writes a warning to stderr at once, also where nobody watches a terminal."""
        from rich.text import Text

        _print(Text.assemble(("warning: ", "yellow"), text), sys.stderr)

    def fail(self, error: Exception) -> int:
        """Show `error` and give its exit code. What is not a `PorterError` is a bug of porter, and said to be one."""
        failed = error if isinstance(error, PorterError) else exhaustion(error)
        if failed is not None:
            code, message, hint = failed.exit_code, failed.message, failed.hint
        else:
            code, message, hint = FELL_SHORT, f"{type(error).__name__}: {error}", "run again with --debug"
        if self.debug:
            traceback.print_exception(error)
        if self.json:
            try:
                self.document({"error": {"message": message, "hint": hint, "exit_code": code}})
                return code
            except OSError:  # standard output is what failed
                pass
        self._complain(message, hint)
        return code

    def _complain(self, message: str, hint: str) -> None:
        from rich.text import Text

        text = Text.assemble(("error: ", "bold red"), message)
        _print(text.append(f"\n  hint: {hint}") if hint else text, sys.stderr)


def _print(text: Text, stream: TextIO) -> None:
    """Styles for a terminal; elsewhere the bare text, in which rich would expand the tabs."""
    if not stream.isatty():
        _write(f"{text.plain}\n", stream)
        return
    from rich.console import Console as RichConsole

    RichConsole(file=stream, highlight=False).print(text, soft_wrap=True)


def _write(text: str, stream: TextIO) -> None:
    """At once: what cannot be written shall be known before the exit code is."""
    stream.write(text)
    stream.flush()


def _unwatched(step: str) -> None:
    """Progress that nobody sees."""

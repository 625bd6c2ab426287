"""The command `porter`: its subcommands, and the only place where an error becomes an exit code.

0  done and verified
1  ran, but something fell short
2  wrong usage or input
3  the machine lacks what was asked for
130  interrupted
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, cast

import typer
from typer.core import TyperGroup
from typer.main import get_command

from porter import __version__
from porter.cli.adopt import adopt
from porter.cli.backend import backend
from porter.cli.bench import bench
from porter.cli.configuration import Configuration, find_configuration
from porter.cli.console import Console
from porter.cli.curate import curate
from porter.cli.doctor import doctor
from porter.cli.explain import explain
from porter.cli.export import export
from porter.cli.inspect import inspect
from porter.cli.migrate import migrate
from porter.cli.record import record
from porter.cli.regress import regress
from porter.cli.report import report
from porter.cli.runs import runs
from porter.cli.search import replay, resume
from porter.cli.search_candidate import search
from porter.cli.serve import serve
from porter.cli.steps import steps
from porter.cli.study import study
from porter.cli.suite import suite
from porter.cli.survey import survey
from porter.cli.train import train
from porter.cli.verify import verify
from porter.cli.watch import watch
from porter.errors import Interrupted, UsageError
from porter.garbage_collection import collect_seldom

HELP = {"help_option_names": ["-h", "--help"]}

app = typer.Typer(
    name="porter",
    help="Port CUDA kernels to another accelerator, and check the port against the source.",
    epilog="Exit codes: 0 verified; 1 something fell short; 2 wrong usage or input; 3 the machine lacks something.",
    context_settings=HELP,
    rich_markup_mode=None,  # rich help costs 70 ms, a quarter of what --help may take
)
commands = (
    *(migrate, survey, inspect, verify, bench, record, regress, report),
    *(search, resume, replay, watch, runs, export, steps, curate, study, explain, doctor, serve),
)
for command in commands:
    app.command(context_settings=HELP)(command)
app.command("import", context_settings=HELP)(adopt)
app.add_typer(suite, context_settings=HELP)
app.add_typer(train, context_settings=HELP)
app.add_typer(backend, context_settings=HELP)


@app.callback(invoke_without_command=True)
def porter(version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False) -> None:
    """Port CUDA kernels to another accelerator, and prove the port."""
    if version:
        typer.echo(f"porter {__version__}")
        raise typer.Exit


def main(arguments: Sequence[str]) -> int:
    """Run one command line and give its exit code; nothing is raised, a traceback is shown only with `--debug`."""
    given = set(arguments)
    quiet, verbose = bool(given & {"-q", "--quiet"}), bool(given & {"-v", "--verbose"})
    console = Console(json="--json" in given, debug="--debug" in given, quiet=quiet, verbose=verbose)
    try:
        wants_help = not given or given & {"-h", "--help", "--version"}
        configuration = Configuration() if wants_help else find_configuration(Path.cwd())
        console.allowances = configuration.allowances
        command = cast(TyperGroup, get_command(app))
        code: int | None = command.main(
            list(arguments) or ["--help"],
            prog_name="porter",
            standalone_mode=False,
            obj=console,
            default_map=configuration.defaults(command),
        )
    except typer.TyperException as error:
        return console.fail(
            UsageError(error.format_message(), "`porter --help` and `porter COMMAND --help` show the usage")
        )
    except Exception as error:  # noqa: BLE001 - the border of the process: a user sees a sentence, not a traceback
        return console.fail(error)
    if code == Interrupted.exit_code:  # what typer makes of a KeyboardInterrupt
        return console.fail(Interrupted("interrupted", console.how_to_go_on))
    return code or 0


def run() -> None:
    """The console script. Who asks it to end is answered as who presses Ctrl-C: what it started ends, too."""
    collect_seldom()
    # A search models with matrices of 250 rows. On two busy cores BLAS's threads wait for each other: 24 ms, not 1.1.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    _open_standard_streams()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.exit(main(sys.argv[1:]))


def _open_standard_streams() -> None:
    """Those that the caller closed lead nowhere: else the next file opened would take the place of one."""
    while (nowhere := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(nowhere, True)
    os.close(nowhere)
    sys.stdout = sys.stdout or os.fdopen(1, "w")
    sys.stderr = sys.stderr or os.fdopen(2, "w")

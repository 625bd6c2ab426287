"""Command lines in a process that has imported porter already, one after the other."""

import os
import sys
import traceback

import porter.cli.attempt
import porter.cli.inspect
import porter.evaluate.verify
import porter.report.migration.judgement
import porter_maca
import porter_triton
from porter.cli.main import main, run

__all__ = ["command_line", "command_lines", "porter", "porter_maca", "porter_triton"]


def command_line(arguments, folder, environment, output):
    """`porter ARGUMENTS` in `folder`; what it says goes to files in the folder `output`. It ends the process."""
    _enter(folder, environment, output)
    sys.argv = ["porter", *arguments]
    run()


def command_lines(line):
    """`porter` as often as `line` asks, which is sent the exit codes: all find the fork servers of workers started."""
    while asked := line.recv():
        arguments, *place = asked
        _enter(*place)
        try:
            code = main(arguments)
        except BaseException:  # noqa: BLE001 - Python would say the same, and the next command line is to run
            traceback.print_exc()
            code = 1
        sys.stdout.flush()
        sys.stderr.flush()
        line.send(code)


def _enter(folder, environment, output):
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    for number, name in ((0, None), (1, "stdout"), (2, "stderr")):
        opened = os.open(os.devnull if name is None else output / name, os.O_RDWR | os.O_CREAT | os.O_TRUNC)
        os.dup2(opened, number)
        os.close(opened)
    streams = [open(number, mode, closefd=False) for number, mode in enumerate("rww")]  # noqa: SIM115 - as Python does
    sys.stdin, sys.stdout, sys.stderr = streams

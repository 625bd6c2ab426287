"""The command line in a process that has imported it already; nothing of a command was run there."""

import os
import sys

import porter.cli.attempt
import porter.cli.inspect
import porter.evaluate.verify
import porter.report.judgement
import porter_maca
import porter_triton
from porter.cli.main import run

__all__ = ["command_line", "porter", "porter_maca", "porter_triton"]


def command_line(arguments, folder, environment, output):
    """`porter ARGUMENTS` in `folder`; what it says goes to files in the folder `output`. It ends the process."""
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    for number, name in ((0, None), (1, "stdout"), (2, "stderr")):
        opened = os.open(os.devnull if name is None else output / name, os.O_RDWR | os.O_CREAT | os.O_TRUNC)
        os.dup2(opened, number)
        os.close(opened)
    sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w")  # noqa: SIM115 - as Python does
    sys.argv = ["porter", *arguments]
    run()

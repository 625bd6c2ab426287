"""Makes the command for the Python of a worker: closed to the environment, with the packages that this process has."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import porter

# With -I neither variables nor the folder it starts in say what is imported: the list that comes with it does.
_START = (
    "import json, runpy, sys; sys.path[:] = json.loads(sys.argv[1]); del sys.argv[:2]; "
    "runpy.run_module(sys.argv[0], run_name='__main__', alter_sys=True)"
)
_LAST_LINES = 3
_LINE_LENGTH = 300


def python_command(module: str, arguments: Sequence[str]) -> list[str]:
    """Returns the command that runs `module` as a program which finds the packages that this process finds."""
    return [sys.executable, "-I", "-c", _START, json.dumps(package_folders()), module, *arguments]


def package_folders() -> list[str]:
    """Returns where this process looks for packages, with absolute paths.

    The folder it was started in is left out, where users keep their files, unless porter itself is imported from there.
    """
    here, own = Path.cwd(), Path(porter.__file__).parents[1]
    places = [os.path.abspath(place) for place in sys.path]  # noqa: PTH100 - not resolved: packages may be links
    return [place for place in dict.fromkeys(places) if Path(place) != here or own == here]


def last_words(log: str) -> str:
    """Returns the last lines of what a process wrote to its log, in one line."""
    lines = [line.strip() for line in log.splitlines() if line.strip(" ^~\t")]
    return " | ".join(line[:_LINE_LENGTH] for line in lines[-_LAST_LINES:])

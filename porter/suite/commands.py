"""Runs commands of porter in processes that are forked from one which has imported it: that takes a second.

`serve([MODULE, ...])` does what `python -m MODULE ...` does.
"""

from __future__ import annotations

import importlib
import runpy
import sys
import warnings

from porter.registry import loadable_backends

_USED = ("porter.cli.main", "porter.cli.migrate", "porter.evaluate.module_port", "porter.suite.replay")


def prepare() -> None:
    """Imports what the commands of a suite use."""
    for name in _USED:
        importlib.import_module(name)
    loadable_backends()


def serve(arguments: list[str]) -> None:
    """Runs the module that comes first with the other arguments."""
    sys.argv = arguments
    warnings.filterwarnings("ignore", ".*found in sys.modules", RuntimeWarning)
    try:
        runpy.run_module(arguments[0], run_name="__main__", alter_sys=True)
    finally:
        sys.stdout.flush()

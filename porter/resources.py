"""Data that ships with porter beside its package, in a wheel and in a checkout: `grammars/` and `op_suites/`."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from porter.errors import MachineError


def resource(name: str) -> Path:
    """The folder or file `name`: inside the installed package, else beside it in a checkout.

    Raises `MachineError` when neither has it, which means a broken installation.
    """
    package = Path(str(files("porter")))
    for home in (package, package.parent):
        if (home / name).exists():
            return home / name
    raise MachineError(f"porter's installation lacks {name!r} (looked in {package} and beside it)", "reinstall porter")

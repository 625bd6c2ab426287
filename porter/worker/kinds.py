"""The kinds of workers there are, each of which can be started for a try."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from porter.errors import MachineError
from porter.execution.job import Limits
from porter.worker.child import Child
from porter.worker.forking import begin


@dataclass(frozen=True, slots=True)
class WorkerKind:
    """Workers that `module` runs, with `environment` besides the usual; `task` says in a few words what they do.

    Their arguments begin with the path of a Python module; `arguments` are those behind it.
    """

    task: str
    module: str
    environment: Mapping[str, str]
    arguments: tuple[str, ...] = ()


def begin_all(kinds: Iterable[WorkerKind]) -> None:
    """Begins to import what workers of these kinds need, which takes seconds in which the caller does something else.

    Whoever then starts one is told of what went wrong.
    """
    for kind in kinds:
        begin(kind.module, kind.environment)


def start(kind: WorkerKind) -> str:
    """Starts a worker with an empty module and ends it. Returns why it could not be started; nothing where it could."""
    with tempfile.TemporaryDirectory(prefix="porter-doctor-", ignore_cleanup_errors=True) as name:
        module, work = Path(name, "empty.py"), Path(name, "work")
        module.touch()
        work.mkdir()
        try:
            child = Child(kind.module, [str(module), *kind.arguments], work, Limits(), kind.environment, forked=True)
        except MachineError as error:
            return error.message
        death = child.begin()
        child.end()
        return death.message if death else ""

"""The process that carries plans out on symbols, as porter sees it: kernels are anyone's, and may come to no end."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from porter.execution.job import Limits
from porter.lift.fitted import EvaluatedProbe, FittedProbes, read, read_evaluated
from porter.lift.nodes import NoTensorProgramError, NotLiftedError
from porter.symbolic.request import SymbolicRequest
from porter.worker.child import Child, Death

PROGRAM = "porter.symbolic.worker"
LIFTED, REFUSED, NEVER = b"LIFTED_1", b"REFUSED1", b"NEVER__1"  # what an answer begins with


class EndlessError(NotLiftedError):
    """Executing on symbols takes too long, which it would in every attempt."""


class SymbolicProcess:
    """Executes calls on symbols. It is started when it is asked first, and works in the folder `work`."""

    def __init__(self, work: Path, limits: Limits) -> None:
        self._work, self._limits = work, limits
        self._child: Child | None = None

    def fitted(self, asked: SymbolicRequest) -> FittedProbes:
        """Returns what the calls compute, as expressions.

        Raises `NotLiftedError`, which is `EndlessError` where nobody answers, and `WireError`.
        """
        return read(self._ask(asked))

    def evaluated(self, asked: SymbolicRequest) -> EvaluatedProbe:
        """Returns what the only call of a request gives for inputs at random. Raises the same."""
        return read_evaluated(self._ask(replace(asked, is_evaluated=True)))

    def _ask(self, asked: SymbolicRequest) -> bytes:
        child, self._child = self._child or self._begun(), None  # it serves again once it has answered
        answer = child.ask(pickle.dumps(asked), parts=1)
        if isinstance(answer, Death):
            raise EndlessError(f"its execution on symbols came to no end: {answer.message}")
        self._child = child
        if answer[0].startswith(REFUSED):
            raise NotLiftedError(answer[0][len(REFUSED) :].decode("utf-8", "replace"))
        if answer[0].startswith(NEVER):
            raise NoTensorProgramError(answer[0][len(NEVER) :].decode("utf-8", "replace"))
        return answer[0][len(LIFTED) :]

    def _begun(self) -> Child:
        child = Child(PROGRAM, [], self._work, self._limits, forked=True, sealed=True)
        if death := child.begin():
            raise EndlessError(f"nothing is executed on symbols here: {death.message}")
        return child

    def close(self) -> None:
        """Ends the process, if there is one."""
        if self._child is not None:
            self._child.end()
            self._child = None


@contextmanager
def symbolic_process(work: Path, limits: Limits) -> Iterator[SymbolicProcess]:
    """A process that is gone afterwards."""
    process = SymbolicProcess(work, limits)
    try:
        yield process
    finally:
        process.close()

"""The process that carries plans out on symbols, as porter sees it."""

from __future__ import annotations

import pickle
from pathlib import Path

from porter.lift.nodes import NotLiftedError
from porter.simt.job import Limits
from porter.worker.child import Child, Death
from porter_triton.processes import DeadError
from porter_triton.symbolic.request import SymbolicRequest

PROGRAM = "porter_triton.symbolic.worker"
ENVIRONMENT = {"TRITON_INTERPRET": "1"}
LIFTED, REFUSED = b"LIFTED_1", b"REFUSED1"  # what an answer begins with
ANSWER = "porter.lift.answer.lifted"


class SymbolicProcess:
    """Executes calls on symbols; the texts of kernels lie in `folder`, `work` is another of its own.

    `answer` is the function, by its dotted name, that makes bytes of all that came of one question.
    """

    def __init__(self, folder: Path, work: Path, limits: Limits, answer: str = ANSWER) -> None:
        self._start = ([str(folder), answer], work, limits)
        self._child: Child | None = None

    def ask(self, asked: SymbolicRequest) -> bytes:
        """Returns what `answer` makes of it. Raises `NotLiftedError`, and `DeadError` where nobody answers."""
        child, self._child = self._child or self._begun(), None  # it serves again once it has answered
        answer = child.ask(pickle.dumps(asked), parts=1)
        if isinstance(answer, Death):
            raise DeadError(answer)
        self._child = child
        if answer[0].startswith(REFUSED):
            raise NotLiftedError(answer[0][len(REFUSED) :].decode("utf-8", "replace"))
        return answer[0][len(LIFTED) :]

    def _begun(self) -> Child:
        arguments, work, limits = self._start
        child = Child(PROGRAM, arguments, work, limits, ENVIRONMENT, born=True, sealed=True)
        if death := child.begin():
            raise DeadError(death)
        return child

    def close(self) -> None:
        """Ends the process, if there is one."""
        if self._child is not None:
            self._child.end()
            self._child = None

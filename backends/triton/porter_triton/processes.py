"""The two processes of a candidate as porter sees them: one plans its calls, the other carries the plans out."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from porter.execution.job import FaultKind, Job, Limits, Run
from porter.launch_plan.steps import Number
from porter.launch_plan.wire import WireError, decode
from porter.worker.child import Child, Death
from porter.worker.forking import begin
from porter.worker.run import run_of
from porter_triton.records import PlanRequest, Recorded
from porter_triton.requests import ReplayRequest

_NUMBERS = b"NUMBERS1"  # as `replay/worker.py` begins an answer to a `Read`


class DeadError(Exception):
    """A process gave no answer; `death` says why."""

    def __init__(self, death: Death) -> None:
        super().__init__(death.message)
        self.death = death


_PLANNING, _REPLAYING = "porter_triton.programs", "porter_triton.replay.worker"
_INTERPRETED = {"TRITON_INTERPRET": "1"}


@contextmanager
def fork_servers_starting() -> Iterator[None]:
    """Begins to import what both need, which takes seconds, while the caller does something else."""
    beginning = begin(_PLANNING, {}), begin(_REPLAYING, _INTERPRETED)
    yield
    for fork_server in beginning:
        fork_server.result()


class _Process:
    """A process of `program`, started for the first question and replaced when it dies."""

    def __init__(
        self,
        program: str,
        arguments: list[str],
        work: Path,
        limits: Limits,
        environment: Mapping[str, str],
        *,
        sealed: bool,
    ) -> None:
        self._start = (program, arguments, work, limits, environment, sealed)
        self._child: Child | None = None

    def exchange(self, question: bytes, parts: int, tasks: int = 1) -> tuple[bytes, ...]:
        """Returns the parts of its answer to a question of so many `tasks`. Raises `DeadError`."""
        child, self._child = self._child or self._begun(), None  # it serves again once it has answered
        answer = child.ask(question, parts, tasks)
        if isinstance(answer, Death):
            raise DeadError(answer)
        self._child = child
        return answer

    def _begun(self) -> Child:
        program, arguments, work, limits, environment, sealed = self._start
        child = Child(program, arguments, work, limits, environment, forked=True, sealed=sealed)
        if death := child.begin():
            raise DeadError(death)
        return child

    def cpu_s(self) -> float:
        """Returns the processor time that it has taken so far, in seconds; nothing if it has died."""
        return self._child.cpu_s() if self._child is not None else 0.0

    @property
    def is_there(self) -> bool:
        """Returns False where the next question starts a process that knows of no call before."""
        return self._child is not None

    def close(self) -> None:
        """Ends the process, if there is one."""
        if self._child is not None:
            self._child.end()
            self._child = None


class PlanningProcess:
    """Runs the host code of the module at `path`; `work` is a folder of its own."""

    def __init__(self, path: Path, work: Path, limits: Limits) -> None:
        self._process = _Process(_PLANNING, [str(path), "plan"], work, limits, {}, sealed=False)

    def plan(self, request: PlanRequest) -> Recorded:
        """Returns the first steps of a call. Raises `DeadError`."""
        (found,) = self.plans((request,))
        return found

    def plans(self, requests: Sequence[PlanRequest]) -> list[Recorded]:
        """Returns the first steps of calls, of which only the last may ask anything. Raises `DeadError`.

        They are planned one after the other, without a message for each.
        """
        return self._recorded(tuple(requests), len(requests))

    def answer(self, numbers: Sequence[Number]) -> Recorded:
        """Returns the steps that follow a read which gave `numbers`. Raises `DeadError`."""
        (found,) = self._recorded(tuple(numbers), 1)
        return found

    def _recorded(self, question: object, count: int) -> list[Recorded]:
        answers = self._process.exchange(pickle.dumps(question), count, count)
        try:
            return [decode(Recorded, answer) for answer in answers]
        except WireError as error:
            self.close()
            raise DeadError(Death(FaultKind.FORGED, f"what it sent is not a plan: {error}")) from None

    @property
    def is_there(self) -> bool:
        """Returns False where the next call is the first of a process."""
        return self._process.is_there

    def close(self) -> None:
        """Ends the process, if there is one."""
        self._process.close()


@dataclass(frozen=True, slots=True)
class Numbers:
    """The numbers that a read gave."""

    values: tuple[Number, ...]


@dataclass(frozen=True, slots=True)
class Finished:
    """The outcome of a call: a run, and the signatures of its launches."""

    run: Run
    signatures: tuple[str, ...]


class ReplayProcess:
    """Carries out steps in Triton's interpreter; kernels lie in `folder`, `work` is another of its own."""

    def __init__(self, folder: Path, work: Path, limits: Limits) -> None:
        self._process = _Process(_REPLAYING, [str(folder)], work, limits, _INTERPRETED, sealed=True)

    def carry_out(self, asked: ReplayRequest, job: Job) -> Numbers | Finished:
        """Returns what the last step gives. Raises `DeadError`."""
        before = self._process.cpu_s()
        answer, signatures = self._process.exchange(pickle.dumps(asked), parts=2)
        if answer.startswith(_NUMBERS):
            return Numbers(tuple(json.loads(answer[len(_NUMBERS) :])))
        run = run_of(answer, job, self._process.cpu_s() - before)
        return Finished(run, tuple(signatures.decode("utf-8", "replace").splitlines()))

    @property
    def is_there(self) -> bool:
        """Returns False where the next question starts a process that knows no kernels."""
        return self._process.is_there

    def close(self) -> None:
        """Ends the process, if there is one."""
        self._process.close()

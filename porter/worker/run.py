"""Jobs on a module: a worker is started for the first and serves the rest, until one of them kills it."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from porter.execution.job import Fault, Job, Limits, Run, TensorValue
from porter.simt.protocol import Decoded, coverage_of, decode_result
from porter.worker.child import Child, Death
from porter.worker.frames import Task


class Worker:
    """Runs the module at `path` by `python -m program`. `work` is a folder of its own, which must exist.

    `program` prepares in a fork server what all its workers need, and seals its answers.
    """

    def __init__(
        self, program: str, path: Path, work: Path, limits: Limits, environment: Mapping[str, str] | None = None
    ) -> None:
        self._program = program
        self._environment = environment
        self._path = path
        self._work = work
        self._limits = limits
        self._child: Child | None = None

    def run(self, task: Task) -> tuple[Run, tuple[str, ...]]:
        """Returns what came of `task`, and the signatures of its launches. Never raises for anything the module
        does.
        """
        child = self._child or self._new()
        if self._child is None and (death := child.begin()):
            return ended(death, 0.0), ()
        self._child = None  # it serves again once it has answered
        before = child.cpu_s()
        answer = child.ask(pickle.dumps(task), parts=2)
        if isinstance(answer, Death):
            return ended(answer, self._limits.cpu_s), ()
        self._child = child
        records, signatures = answer
        run = run_of(records, task.job, child.cpu_s() - before)
        return run, tuple(signatures.decode("utf-8", "replace").splitlines())

    def _new(self) -> Child:
        arguments = [str(self._path)]
        return Child(self._program, arguments, self._work, self._limits, self._environment, forked=True, sealed=True)

    def close(self) -> None:
        """Ends the process, if there is one."""
        if self._child is not None:
            self._child.end()
            self._child = None


def run_of(records: bytes, job: Job, seconds: float, held: Callable[[int], int] = int) -> Run:
    """Returns what a worker says came of `job`; not finished where the outputs do not fit its arguments.

    `held` says how many of a tensor's bytes come back.
    """
    decoded = decode_result(records, held)
    outputs = _outputs(job, decoded) if decoded.finished else None
    return Run(
        finished=outputs is not None,
        exit_code=1 if decoded.exit_code is None else decoded.exit_code,
        outputs=outputs or (),
        results=tuple(decoded.results) if outputs is not None else (),
        snapshots=(),
        touched=(),
        launches=tuple(decoded.launches),
        faults=tuple(
            Fault(f.kind, Path(f.file).name, f.line, f.kernel, f.message, f.count, f.fatal) for f in decoded.faults
        ),
        stdout="",
        stderr="",
        seconds=seconds,
        coverage=coverage_of(decoded.sides),
    )


def _outputs(job: Job, decoded: Decoded) -> tuple[TensorValue, ...] | None:
    """The tensor arguments with the bytes that came back; None when these do not fit them."""
    tensors = [argument for argument in job.arguments if isinstance(argument, TensorValue)]
    if [len(raw) for raw in decoded.outputs] != [decoded.held(t.count * t.dtype.bytes) for t in tensors]:
        return None
    return tuple(_filled(tensor, raw) for tensor, raw in zip(tensors, decoded.outputs, strict=True))


def _filled(tensor: TensorValue, raw: bytes) -> TensorValue:
    filled = replace(tensor, storage=np.frombuffer(raw, tensor.storage.dtype).copy())
    return replace(filled, storage=filled.storage.reshape(tensor.shape)) if filled.is_whole else filled


def ended(death: Death, seconds: float) -> Run:
    """A run that a process died of."""
    fault = Fault(death.kind, "", 0, "", death.message, fatal=True)
    return Run(False, 1, (), (), (), (), (), (fault,), "", "", seconds)

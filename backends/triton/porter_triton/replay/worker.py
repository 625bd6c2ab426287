"""Runs in the child process that carries out plans in Triton's interpreter.

It is forked from a fork server (`porter.worker.fork_server`) with TRITON_INTERPRET=1. Requests come on
standard input. An answer is sealed, and has two parts: what was read, or the records of a run; and the signatures of
the launches.
"""

from __future__ import annotations

import json
import os
import pickle
import tempfile
from pathlib import Path

import numpy as np
import torch
from triton.runtime.interpreter import InterpreterError

from porter.contract.model.dtype import DType
from porter.execution.job import Fault, FaultKind, Schedule, TensorValue
from porter.launch_plan.steps import Allocate, Input, Launch, Number, Return, Scalar, TensorView
from porter.sandbox.confine import confine
from porter.simt.protocol import decode_result
from porter.worker.frames import SEAL_BYTES, read_frame, write_frame
from porter.worker.records import encode_failure, encode_result
from porter_triton.kernel_functions import KernelFunctions
from porter_triton.kernel_rules import KernelRefusedError
from porter_triton.replay.executor import Executor
from porter_triton.replay.interpreter import Interpreter
from porter_triton.replay.observation import Observation
from porter_triton.requests import PUT_BACK, ReplayRequest
from porter_triton.warm_calls import KERNEL, TIMES

NUMBERS = b"NUMBERS1"  # begins an answer to a `Read`
_interpreter: list[Interpreter] = []  # made once, before any worker is forked


def prepare() -> None:
    """Makes what every worker needs, and warms it up."""
    torch.set_num_threads(1)
    np.seterr(all="ignore")  # a device does not warn either
    _interpreter.append(Interpreter())
    _make_warm_calls()


def _make_warm_calls() -> None:
    """Carries out calls as workers do: Triton imports and rewrites its own at the first one."""
    given = TensorValue(DType.FLOAT32, (3, 37), np.ones((3, 37), np.float32))
    views = [TensorView(buffer, DType.FLOAT32, given.shape, (37, 1), 0) for buffer in range(2)]
    passed = (("x", views[0]), ("y", views[1]), ("cols", Scalar(37)), ("block", Scalar(64)))
    steps = (Input(0, 0), Allocate(1, 444), Launch(KERNEL.key, (3, 1, 1), passed), Return((views[1],)))
    asked = pickle.dumps(
        tuple(
            ReplayRequest(steps, (KERNEL,), begins=True, arguments=((0, given),), schedule=schedule)
            for schedule in (Schedule.FORWARD, Schedule.SHUFFLED)
        )
    )
    with tempfile.TemporaryDirectory() as folder:
        for number in range(TIMES):
            server = _Server(Path(folder, str(number)))
            for request in pickle.loads(asked):
                answer, _ = server.answer(request)
                assert decode_result(answer, int).finished


def serve(arguments: list[str]) -> None:
    """Serves until standard input ends; `arguments` has the folder for the texts of kernels."""
    replies = os.fdopen(os.dup(1), "wb")
    questions = os.fdopen(os.dup(0), "rb")
    os.dup2(2, 1)  # what kernels print must not end up between frames
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    folder = Path(arguments[0])
    server = _Server(folder)
    confine(folder)
    write_frame(replies, b"")
    while (frame := read_frame(questions)) is not None:
        for part in server.answer(pickle.loads(frame[SEAL_BYTES:])):
            write_frame(replies, frame[:SEAL_BYTES] + part)


class _Server:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._interpreter = _interpreter[0]
        self._executor = Executor(self._interpreter, KernelFunctions(folder))

    def answer(self, asked: ReplayRequest) -> tuple[bytes, bytes]:
        """Returns the numbers read or the result of the call, and the signatures of its launches."""
        if asked.begins:
            self._interpreter.observation = Observation(str(self._folder), asked.schedule, asked.seed)
            self._interpreter.marks.forget()
        seen = self._interpreter.observation
        try:
            self._executor.carry_out(asked)
        except Exception as error:  # noqa: BLE001 - whatever a kernel raises is how its call ends
            return encode_failure(seen.launches, (*seen.faults(), _fault(error, seen))), _lines(seen)
        numbers: tuple[Number, ...] | None = self._executor.numbers
        if numbers is not None:
            return NUMBERS + json.dumps(numbers).encode(), b""
        for number in self._executor.put_back():
            seen.note(FaultKind.RACE, PUT_BACK.format(number))
        coverage = self._interpreter.marks.coverage()
        done = encode_result(seen.launches, seen.faults(), self._executor.left(), self._executor.results, coverage)
        return done, _lines(seen)


def _lines(seen: Observation) -> bytes:
    return "\n".join(seen.signatures).encode()


def _fault(error: Exception, seen: Observation) -> Fault:
    """Returns how the call ended: at what a text may not hold, at an assertion of a kernel, or elsewhere in one."""
    cause = error.__cause__ if isinstance(error, InterpreterError) and error.__cause__ else error
    if isinstance(cause, KernelRefusedError):
        file = Path(cause.kernel.file).name
        return Fault(FaultKind.REACHED, file, cause.line, cause.kernel.name, cause.message, fatal=True)
    file, line = seen.place_of(cause)
    message = f"{type(cause).__name__}: {cause}"
    kind = FaultKind.DEVICE_ASSERT if isinstance(cause, AssertionError) else FaultKind.CRASH
    if isinstance(cause, NotImplementedError):
        kind, message = FaultKind.UNKNOWN, str(cause)
    return Fault(kind, file, line, seen.kernel, message, fatal=True)

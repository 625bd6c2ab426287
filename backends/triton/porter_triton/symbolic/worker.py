"""The child process that carries out plans on symbols, and makes of what came of them an answer.

It is born of a nursery (`porter.worker.nurse`) with TRITON_INTERPRET=1, and confined. Its arguments are the folder for
the texts of kernels and the dotted name of the function that makes the answer, which is a sealed frame.
"""

from __future__ import annotations

import importlib
import os
import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np

from porter.lift.answer import Executed
from porter.lift.nodes import NotLiftedError
from porter.worker.confine import confine
from porter.worker.frames import SEAL_BYTES, read_frame, write_frame
from porter_triton.device.source import helpers
from porter_triton.kernel_rules import KernelRefusedError
from porter_triton.symbolic.executor import SymbolicExecutor
from porter_triton.symbolic.launching import Interpreter
from porter_triton.symbolic.process import LIFTED, REFUSED
from porter_triton.symbolic.request import SymbolicRequest

Answer = Callable[[list[Executed]], bytes]
_interpreter: list[Interpreter] = []  # made once, before any worker is born


def prepare() -> None:
    """Makes what every worker needs, before any is born."""
    np.seterr(all="ignore")  # a device does not warn either
    _interpreter.append(Interpreter())
    helpers()


def serve(arguments: list[str]) -> None:
    """Serves until standard input ends."""
    replies = os.fdopen(os.dup(1), "wb")
    questions = os.fdopen(os.dup(0), "rb")
    os.dup2(2, 1)  # what kernels print must not end up between frames
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    folder, answer = Path(arguments[0]), _function(arguments[1])
    executor = SymbolicExecutor(_interpreter[0], folder)
    confine(folder)
    write_frame(replies, b"")
    while (frame := read_frame(questions)) is not None:
        told = _answered(executor, answer, pickle.loads(frame[SEAL_BYTES:]))
        write_frame(replies, frame[:SEAL_BYTES] + told)


def _function(name: str) -> Answer:
    module, _, function = name.rpartition(".")
    found: Answer = getattr(importlib.import_module(module), function)
    return found


def _answered(executor: SymbolicExecutor, answer: Answer, asked: SymbolicRequest) -> bytes:
    try:
        executor.know(asked.kernels)
        return LIFTED + answer([executor.run(probe) for probe in asked.probes])
    except NotLiftedError as refused:
        return REFUSED + str(refused).encode()
    except KernelRefusedError as refused:
        return REFUSED + refused.message.encode()

"""The child process that carries plans out on symbols, and fits expressions to what came of them.

It is forked from a fork server (`porter.worker.fork_server`), and confined: it writes nothing and starts nothing.
"""

from __future__ import annotations

import os
import pickle

import numpy as np

from porter.lift.answer import evaluated, lifted
from porter.lift.nodes import NoTensorProgramError, NotLiftedError
from porter.sandbox.confine import confine
from porter.symbolic.executor import executed
from porter.symbolic.process import LIFTED, NEVER, REFUSED
from porter.symbolic.request import SymbolicRequest
from porter.worker.frames import SEAL_BYTES, read_frame, write_frame


def prepare() -> None:
    """Makes what every worker needs, before any is forked."""
    np.seterr(all="ignore")  # a device does not warn either


def serve(arguments: list[str]) -> None:  # noqa: ARG001 - it needs none
    """Serves until standard input ends."""
    replies = os.fdopen(os.dup(1), "wb")
    questions = os.fdopen(os.dup(0), "rb")
    os.dup2(2, 1)  # what is printed must not end up between frames
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    confine()
    write_frame(replies, b"")
    while (frame := read_frame(questions)) is not None:
        told = _answered(pickle.loads(frame[SEAL_BYTES:]))
        write_frame(replies, frame[:SEAL_BYTES] + told)


def _answered(asked: SymbolicRequest) -> bytes:
    try:
        made = [executed(asked.kernels, call.plan, call.arguments) for call in asked.calls]
        return LIFTED + (evaluated(made[0]) if asked.is_evaluated else lifted(made))
    except NoTensorProgramError as refused:
        return NEVER + str(refused).encode()
    except NotLiftedError as refused:
        return REFUSED + str(refused).encode()

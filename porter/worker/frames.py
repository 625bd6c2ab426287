"""Writes and reads the frames that pass between porter and a worker: a length and as many bytes.

A task goes in pickled. What comes back is not trusted with that: a run comes as records (`records.py`) and the
signatures of its launches, a frame each.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Protocol

from porter.contract.model.dtype import DType
from porter.execution.job import Job

# Begins an answer that says what the machine ran out of, and nothing about a kernel.
MACHINE = "machine: "
# Begins a question whose answer has to begin with the same bytes.
SEAL_BYTES = 16
_LENGTH = struct.Struct("<Q")


@dataclass(frozen=True, slots=True)
class Task:
    """One call of `function` with the arguments of `job`; with `launch` also with its grid, block and shared memory.

    `returns` is the type of a number it returns; None where it returns tensors or nothing. `permitted` are operators of
    a library that the original's own host code uses, with the names that Python has for them. A `rehearsal` executes
    host code alone and tells what it may not do.
    """

    function: str
    job: Job
    launch: bool = False
    returns: DType | None = None
    permitted: frozenset[str] = frozenset()
    rehearsal: bool = False


class Writable(Protocol):
    """A stream that frames are written to."""

    def write(self, payload: bytes, /) -> object:
        """Takes all of it."""

    def flush(self) -> None:
        """Sends what was taken."""


class Readable(Protocol):
    """A stream that frames are read from."""

    def read(self, count: int, /) -> bytes:
        """Returns `count` bytes; fewer at the end."""


def write_frame(stream: Writable, payload: bytes) -> None:
    """Sends a frame."""
    stream.write(_LENGTH.pack(len(payload)))
    stream.write(payload)
    stream.flush()


def read_frame(stream: Readable, limit: int | None = None) -> bytes | None:
    """The next frame; None where the other side has gone or sends more than `limit` bytes."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    if limit is not None and length > limit:
        return None
    payload = stream.read(length)
    return payload if len(payload) == length else None

"""Errors a user meets, each with its exit code and what to do next.

PorterError
├── UsageError        exit 2   wrong flags, unknown target or kernel
├── InputError        exit 2   a file that cannot be read, parsed or believed
│   └── ContractError exit 2   a contract that contradicts itself or the source
├── MachineError      exit 3   this machine lacks what was asked for, or failed while it was done
└── Interrupted       exit 130 the user pressed Ctrl-C, or the process was asked to end

A failure of a *candidate* is never one of these: it is an `Outcome`.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path

DONE = 0
FELL_SHORT = 1


class PorterError(Exception):
    """Something the user can act on: `message` says what and where, `hint` what next."""

    exit_code = FELL_SHORT

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\n  hint: {self.hint}" if self.hint else self.message


class UsageError(PorterError):
    """The command line asks for something that does not exist."""

    exit_code = 2


class InputError(PorterError):
    """A file of the user's cannot be used as it is."""

    exit_code = 2


class ContractError(InputError):
    """A contract contradicts itself or the source it belongs to."""


class MachineError(PorterError):
    """The machine lacks a compiler, a device or a permission that the work needs, or ran out of memory or disk."""

    exit_code = 3


class Interrupted(PorterError):  # noqa: N818 - nothing went wrong
    """The user pressed Ctrl-C, or the process was asked to end; `hint` says how to go on."""

    exit_code = 130


# What a machine runs out of; a permission that is missing may be the user's to give.
_EXHAUSTED = (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.ENOMEM, errno.EMFILE, errno.ENFILE, errno.EROFS)
EXHAUSTED = tuple(os.strerror(code) for code in _EXHAUSTED)


def exhaustion(error: BaseException) -> MachineError | None:
    """`error`, or what it came from, as something the machine ran out of; None when it is about anything else."""
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, MemoryError) or (isinstance(seen, OSError) and seen.errno in _EXHAUSTED):
            return MachineError(f"the machine gave up: {_reason(seen)}", "`porter doctor` names the cache")
        seen = seen.__cause__ or seen.__context__
    return None


def _reason(error: MemoryError | OSError) -> str:
    if isinstance(error, MemoryError):
        return str(error) or "out of memory"
    about = "" if error.filename is None else f"{error.filename}: "
    return f"{about}{error.strerror or error}"


def unwritable(place: Path, error: OSError, hint: str = "") -> PorterError:
    """`error`, which kept `place` from being written: the machine's where its disk is full, else the path's."""
    failed = MachineError if error.errno in _EXHAUSTED else InputError
    return failed(f"cannot write {place}: {error.strerror or error}", hint)

"""A run's folder belongs to one process at a time: two that write its list of results would drop each other's."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from porter.errors import UsageError, unwritable

_LOCK = ".lock"


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keeps other processes from writing to the run in `folder`; the lock goes with the process, however that ends.

    Raises `UsageError` where another process has it, and what `unwritable` says where there can be none.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise unwritable(folder, error, "choose another folder with --out") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError as error:
        raise UsageError(
            f"{folder}: another process works on this run", "wait for it, or name another --out"
        ) from error
    finally:
        os.close(descriptor)

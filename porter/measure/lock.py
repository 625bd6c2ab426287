"""One measurement at a time on a device, whoever measures: a lock file for each device, by its UUID."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from porter.errors import MachineError

_POLL_S = 0.02
_FOR_ALL_USERS = 0o666


@contextmanager
def device_lock(uuid: str, folder: Path, patience_s: float) -> Iterator[None]:
    """Holds the device `uuid`; `folder` is the same for all who measure on this machine.

    The lock goes with the process that holds it, however that ends. Raises `MachineError` after `patience_s`.
    """
    path = folder / f"porter-{uuid}.lock"
    descriptor = _opened(path)
    try:
        _acquire(descriptor, path, patience_s)
        yield
    finally:
        os.close(descriptor)


def _opened(path: Path) -> int:
    """The lock file, which any user may hold: the permissions of whoever made it must not shut the others out."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _FOR_ALL_USERS)
    except FileExistsError:
        return os.open(path, os.O_RDWR | os.O_CLOEXEC)
    os.fchmod(descriptor, _FOR_ALL_USERS)
    return descriptor


def _acquire(descriptor: int, path: Path, patience_s: float) -> None:
    deadline = time.monotonic() + patience_s
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                raise MachineError(
                    f"another process has been measuring on the device for {patience_s:g} s",
                    f"wait for it; it holds {path}",
                ) from None
            time.sleep(_POLL_S)
        else:
            return

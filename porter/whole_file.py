"""A file that is written whole or not at all: nobody reads half of one, and a full disk leaves none behind."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A neighbour of `path` to write to: it takes its place where the block ends well, and is gone where it does not.

    Several processes and threads may write the same file at once: the last one stays. The folder has to be there.
    Raises `OSError`.
    """
    fresh = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}")
    try:
        yield fresh
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)

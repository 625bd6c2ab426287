"""The process that carries out plans, with the processor time of its interpreter counted apart.

`overhead.py` names it in place of `porter_triton.replay.worker` and makes a file of eight bytes that is named after its
own process: an ancestor of this one, which has nothing else from it.
"""

from __future__ import annotations

import mmap
import os
import struct
import time
from functools import wraps
from pathlib import Path

from porter_triton.replay import worker
from porter_triton.replay.interpreter import Interpreter

serve = worker.serve
TOTAL = struct.Struct("<d")


def prepare() -> None:
    worker.prepare()
    with _file(os.getppid()).open("r+b") as file:
        shared = mmap.mmap(file.fileno(), TOTAL.size)
    interpret = Interpreter.launch

    @wraps(interpret)
    def launch(*arguments: object, **named: object) -> None:
        before = time.thread_time()
        try:
            interpret(*arguments, **named)  # type: ignore[arg-type]
        finally:
            TOTAL.pack_into(shared, 0, TOTAL.unpack_from(shared)[0] + time.thread_time() - before)

    Interpreter.launch = launch  # type: ignore[method-assign]


def _file(process: int) -> Path:
    """Returns the file of the nearest ancestor that has one; raises `FileNotFoundError` where none has."""
    file = Path("/tmp") / f"porter-interpretation-{process}"
    if file.exists() or process <= 1:
        return file
    after_name = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2]
    return _file(int(after_name.split()[1]))

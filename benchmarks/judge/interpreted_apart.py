"""The process that carries out plans, with the processor time of its interpreter counted apart.

`overhead.py` names it in place of `porter_triton.replay.worker`; PORTER_INTERPRETATION is a file of eight bytes.
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
FILE = Path("/tmp") / f"porter-interpretation-{os.getppid()}"  # of the process that measures: workers have no other
TOTAL = struct.Struct("<d")


def prepare() -> None:
    worker.prepare()
    with FILE.open("r+b") as file:
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

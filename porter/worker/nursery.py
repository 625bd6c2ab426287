"""Workers that are there at once: born of a process that has imported all they need (`nurse.py`)."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from porter.errors import MachineError
from porter.measure.deadline import unbroken
from porter.worker.environment import environment_of
from porter.worker.nurse import ENDING
from porter.worker.python_start import last_words, python_command

_LOOK_S = 0.002  # between two questions for a process that is ending
_END_S = 5.0  # what it may take to end once it has closed its end of the line
_LOG_BYTES = 1 << 14
_HINT = "`porter doctor` starts a worker of each kind and says which cannot be"


@dataclass
class Born:
    """A worker: what `subprocess.Popen` has, as far as a `Child` needs it."""

    pid: int
    stdin: IO[bytes]
    stdout: IO[bytes]
    nursery: Nursery
    returncode: int | None = field(default=None)

    def wait(self) -> int:
        """Returns how it ended: its exit code, or the negative number of a signal. It must have been killed, or be
        ending.
        """
        while self.returncode is None:
            answer = self.nursery.ask(str(self.pid).encode())
            if answer == ENDING:
                time.sleep(_LOOK_S)
            else:
                self.returncode = answer
        return self.returncode


class Nursery:
    """The process that workers of `module` are born of; it ends when this one does."""

    def __init__(self, module: str, environment: Mapping[str, str]) -> None:
        here, there = socket.socketpair()
        self._lock = threading.Lock()
        self._module = module
        folder = Path(tempfile.gettempdir())
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - it is read when the process has ended
        with there:
            self._process = subprocess.Popen(
                python_command("porter.worker.nurse", (module, str(there.fileno()))),
                env={**environment_of(folder), **environment},
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self._log,
                pass_fds=(there.fileno(),),
                start_new_session=True,
            )
        self._line = here
        self._answers = here.makefile("rb")
        if self._answers.readline() != b"ready\n":
            raise self._lost()

    def born(self, arguments: Sequence[str], work: Path, log: IO[bytes], environment: Mapping[str, str]) -> Born:
        """A worker in the folder `work`, whose errors go to `log`."""
        asked = {
            "work": str(work),
            "arguments": json.dumps(list(arguments)),
            "environment": json.dumps({**environment}),
        }
        questions, write = os.pipe()
        read, replies = os.pipe()
        try:
            pid = self.ask(json.dumps(asked).encode(), (questions, replies, log.fileno()))
        finally:
            os.close(questions)
            os.close(replies)
        return Born(pid, os.fdopen(write, "wb"), os.fdopen(read, "rb"), self)

    def ask(self, request: bytes, descriptors: Sequence[int] = ()) -> int:
        """The answer to a request; raises `MachineError` where nobody answers."""
        with unbroken(), self._lock:  # who asks next would be given an answer that nobody waited for
            try:
                socket.send_fds(self._line, [request], list(descriptors))
                answer = self._answers.readline()
            except OSError:
                answer = b""
        if not answer:
            raise self._lost()
        return int(answer)

    @property
    def is_there(self) -> bool:
        """Returns whether it can be asked."""
        return self._process.poll() is None

    def _lost(self) -> MachineError:
        """Returns what to say of a process that answers no longer: how it ended, and what it said last."""
        try:
            status = self._process.wait(_END_S)
            how = f"ended with status {status}" if status >= 0 else f"was killed by signal {-status}"
        except subprocess.TimeoutExpired:
            how = "does not answer"
        # Not by seeking: the process shares the position in its log.
        log = os.pread(self._log.fileno(), _LOG_BYTES, max(0, os.fstat(self._log.fileno()).st_size - _LOG_BYTES))
        said = last_words(log.decode("utf-8", "replace")) or "it left no message"
        return MachineError(f"the process that starts workers of {self._module} {how}: {said}", _HINT)


_Key = tuple[str, tuple[tuple[str, str], ...], int]
_BEGUN: dict[_Key, Future[Nursery]] = {}
_BEGINNING = threading.Lock()


def nursery(module: str, environment: Mapping[str, str]) -> Nursery:
    """The nursery of this process for `module`, with these variables besides the usual; made anew where it was lost."""
    return begin(module, environment).result()


def begin(module: str, environment: Mapping[str, str]) -> Future[Nursery]:
    """That nursery, which is there in seconds: whoever will need it can do something else meanwhile."""
    key = (module, tuple(sorted(environment.items())), os.getpid())
    with unbroken(), _BEGINNING:
        begun = _BEGUN.get(key)
        if begun is None or (begun.done() and (begun.exception() or not begun.result().is_there)):
            begun = _BEGUN[key] = Future()
            threading.Thread(target=_start, args=(begun, module, environment), daemon=True).start()
        return begun


def _start(begun: Future[Nursery], module: str, environment: Mapping[str, str]) -> None:
    try:
        begun.set_result(Nursery(module, environment))
    except BaseException as error:  # noqa: BLE001 - who waits for it is told
        begun.set_exception(error)

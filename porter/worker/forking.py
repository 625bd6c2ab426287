"""Workers that are there at once: forked from a process that has imported all they need (`fork_server.py`).

These processes are themselves forked from one (`common_imports.py`), so that PyTorch is imported once for all of them.
"""

from __future__ import annotations

import json
import math
import os
import socket
import subprocess
import tempfile
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Protocol

from porter.errors import MachineError
from porter.measure.deadline import unbroken
from porter.worker.environment import environment_of
from porter.worker.fork_server import ENDING
from porter.worker.python_start import last_words, package_folders, python_command

_LOOK_S = 0.002  # between two questions for a process that is ending
_END_S = 5.0  # what it may take to end once it has closed its end of the line
_LOG_BYTES = 1 << 14
_HINT = "`porter doctor` starts a worker of each kind and says which cannot be"


class _Process(Protocol):
    """The methods that both `subprocess.Popen` and `Forked` have."""

    def poll(self) -> int | None: ...

    def wait(self, timeout: float | None = None) -> int: ...


@dataclass(eq=False)
class Forked:
    """A process: what `subprocess.Popen` has, as far as it is needed. Only a worker has pipes."""

    pid: int
    parent: _Parent
    stdin: IO[bytes] | None = None
    stdout: IO[bytes] | None = None
    returncode: int | None = field(default=None)

    def poll(self) -> int | None:
        """Returns how it ended: its exit code, or the negative number of a signal; None where it goes on."""
        if self.returncode is None:
            answer = self.parent.ask(str(self.pid).encode())
            self.returncode = None if answer == ENDING else answer
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Returns how it ended; it must have been killed, or be ending. Raises `subprocess.TimeoutExpired`."""
        deadline = math.inf if timeout is None else time.monotonic() + timeout
        while (code := self.poll()) is None:
            if time.monotonic() > deadline:
                raise subprocess.TimeoutExpired(str(self.pid), timeout or 0.0)
            time.sleep(_LOOK_S)
        return code


class _Parent(ABC):
    """A process that others are forked from, once it has imported `module`; it ends when this one does."""

    def __init__(self, module: str) -> None:
        self._module = module
        self._lock = threading.Lock()
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - it is read when the process has ended
        self._line, there = socket.socketpair()
        with there:
            self._process = self._started(there)
        self._answers = self._line.makefile("rb")
        if self._answers.readline() != b"ready\n":
            raise self._lost()

    @abstractmethod
    def _started(self, there: socket.socket) -> _Process:
        """Returns the process, which is asked by the other end of `there`."""

    def child(
        self, arguments: Sequence[str], work: Path, environment: Mapping[str, str], descriptors: Sequence[int]
    ) -> int:
        """Returns the id of a process in the folder `work`, forked with these as its first three descriptors."""
        asked = {
            "work": str(work),
            "arguments": json.dumps(list(arguments)),
            "environment": json.dumps({**environment}),
        }
        return self.ask(json.dumps(asked).encode(), descriptors)

    def ask(self, request: bytes, descriptors: Sequence[int] = ()) -> int:
        """The answer to a request; raises `MachineError` where nobody answers."""
        with unbroken(), self._lock:  # who asks next would be given an answer that nobody waited for
            try:
                socket.send_fds(self._line, [request + b"\n"], list(descriptors))
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


class _CommonImports(_Parent):
    """The process that fork servers are forked from."""

    def __init__(self) -> None:
        super().__init__("porter.worker.common_imports")

    def _started(self, there: socket.socket) -> _Process:
        folder = Path(tempfile.gettempdir())
        return subprocess.Popen(
            python_command("porter.worker.fork_server", (self._module, str(there.fileno()))),
            env=environment_of(folder),
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=self._log,
            pass_fds=(there.fileno(),),
            start_new_session=True,
        )


class ForkServer(_Parent):
    """The process that workers of `module` are forked from, with variables of its own besides the usual."""

    def __init__(self, module: str, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._parent = _common_imports()
        super().__init__(module)

    def _started(self, there: socket.socket) -> _Process:
        folder = Path(tempfile.gettempdir())
        variables = {**environment_of(folder), **self._environment}
        with open(os.devnull, "wb") as nowhere:  # noqa: PTH123 - a device is no path of the user's
            descriptors = (there.fileno(), nowhere.fileno(), self._log.fileno())
            arguments = (json.dumps(package_folders()), self._module)
            return Forked(self._parent.child(arguments, folder, variables, descriptors), self._parent)

    @property
    def is_there(self) -> bool:
        """Returns whether it can be asked; it does not outlive the process that it was forked from."""
        return self._parent.is_there and super().is_there

    def fork(self, arguments: Sequence[str], work: Path, log: IO[bytes], environment: Mapping[str, str]) -> Forked:
        """A worker in the folder `work`, whose errors go to `log`."""
        questions, write = os.pipe()
        read, replies = os.pipe()
        try:
            pid = self.child(arguments, work, environment, (questions, replies, log.fileno()))
        finally:
            os.close(questions)
            os.close(replies)
        return Forked(pid, self, os.fdopen(write, "wb"), os.fdopen(read, "rb"))


_Key = tuple[str, tuple[tuple[str, str], ...], int]
_BEGUN: dict[_Key, Future[ForkServer]] = {}
_BEGINNING = threading.Lock()
_PARENTS: dict[int, _CommonImports] = {}  # by the process that started it: a fork has its own
_STARTING = threading.Lock()


def fork_server(module: str, environment: Mapping[str, str]) -> ForkServer:
    """Returns the fork server of this process for `module`, with these variables besides the usual.

    One that was lost is made anew.
    """
    return begin(module, environment).result()


def begin(module: str, environment: Mapping[str, str]) -> Future[ForkServer]:
    """Begins that fork server, which is there in seconds: whoever will need it can do something else meanwhile."""
    key = (module, tuple(sorted(environment.items())), os.getpid())
    with unbroken(), _BEGINNING:
        begun = _BEGUN.get(key)
        if begun is None or (begun.done() and (begun.exception() or not begun.result().is_there)):
            begun = _BEGUN[key] = Future()
            threading.Thread(target=_start, args=(begun, module, environment), daemon=True).start()
        return begun


def _start(begun: Future[ForkServer], module: str, environment: Mapping[str, str]) -> None:
    try:
        begun.set_result(ForkServer(module, environment))
    except BaseException as error:  # noqa: BLE001 - who waits for it is told
        begun.set_exception(error)


def _common_imports() -> _CommonImports:
    """Returns the process that the fork servers of this one are forked from; one that was lost is made anew."""
    with _STARTING:
        found = _PARENTS.get(os.getpid())
        if found is None or not found.is_there:
            found = _PARENTS[os.getpid()] = _CommonImports()
        return found

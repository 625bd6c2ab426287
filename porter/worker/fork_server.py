"""The process that workers are forked from: what takes seconds to import is imported once, before any of them is there.

`python -m porter.worker.fork_server MODULE SOCKET`: a request names a folder, arguments and variables of the
environment and brings three descriptors; the answer is the id of a process in a session of its own, in which
`MODULE.serve(arguments)` runs. A request that is a number asks how that process ended; while it is
ending, the answer is `ENDING`. Nothing of a candidate runs here.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import json
import os
import signal
import socket
import sys
import tempfile
import warnings
from typing import NoReturn, Protocol, cast

from porter.garbage_collection import collect_seldom
from porter.worker.huge_pages import share_by_huge_pages

ENDING = 1 << 16  # no exit code, and no negative number of a signal
_PARENT_DEATH_SIGNAL = 1  # of prctl
_BYTES_AT_ONCE = 1 << 16
_MANY = 16  # forks, after which large pages are worth making


class Program(Protocol):
    """A module whose workers can be forked here."""

    def prepare(self) -> None:
        """Prepares what all workers need, and nobody can spoil."""

    def serve(self, arguments: list[str]) -> None:
        """Answers frames of standard input on standard output until there are no more."""


def main() -> None:
    """Serves until the other end is closed."""
    # Libraries start threads when they are imported, as PyTorch for CUDA does; these wait, and hold no lock.
    warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)
    collect_seldom()
    serve_forks(sys.argv[1], socket.socket(fileno=int(sys.argv[2])))


def serve_forks(module: str, line: socket.socket) -> None:
    """Imports `module` and lets its workers be forked, as `line` asks, until the other end is closed."""
    program = cast("Program", importlib.import_module(module))
    with line:
        program.prepare()
        gc.collect()
        gc.freeze()  # else the first collection of each worker writes to all that it shares, which copies it
        line.sendall(b"ready\n")
        forks = 0
        while True:
            request, descriptors = _received(line)
            if not request:
                return
            asked = json.loads(request)
            if isinstance(asked, int):
                # Not waited for: a process takes a second to give back the memory of a device, and others want forks.
                ended, status = os.waitpid(asked, os.WNOHANG)
                answer = os.waitstatus_to_exitcode(status) if ended else ENDING
            else:
                forks += 1
                if forks == _MANY:
                    share_by_huge_pages()
                answer = _forked(program, asked, descriptors, line)
            line.sendall(f"{answer}\n".encode())


def _received(line: socket.socket) -> tuple[bytes, list[int]]:
    """Returns the next request, a line however long, and the descriptors that came with it; nothing at the end."""
    request, descriptors, _, _ = socket.recv_fds(line, _BYTES_AT_ONCE, 3)
    while request and not request.endswith(b"\n"):
        more = line.recv(_BYTES_AT_ONCE)
        request = request + more if more else b""
    return request, descriptors


def _forked(program: Program, asked: dict[str, str], descriptors: list[int], line: socket.socket) -> int:
    pid = os.fork()
    if pid == 0:
        line.close()
        _live(program, asked, descriptors)
    for descriptor in descriptors:
        os.close(descriptor)
    return pid


def _live(program: Program, asked: dict[str, str], descriptors: list[int]) -> NoReturn:
    ctypes.CDLL(None).prctl(_PARENT_DEATH_SIGNAL, signal.SIGKILL)  # nobody would end what is deaf and endless
    os.setsid()
    os.chdir(asked["work"])
    os.environ.update(json.loads(asked["environment"]))
    tempfile.tempdir = None  # the fork server may have asked for its own
    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, number)
        os.close(descriptor)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    code = 1
    try:
        program.serve(json.loads(asked["arguments"]))
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException as error:  # noqa: BLE001 - whatever ends a worker is told in its log, as Python does
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
    finally:
        sys.stderr.flush()
        os._exit(code & 0xFF)


if __name__ == "__main__":
    main()

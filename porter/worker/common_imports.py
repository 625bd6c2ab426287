"""The process that fork servers are forked from, each of which goes on to import what its workers need.

Nearly all of them need PyTorch, whose import takes 1.4 s of processor time: it is done here, once.
"""

from __future__ import annotations

import importlib
import json
import socket
import sys

from porter.worker.fork_server import serve_forks

_SHARED = ("torch", "numpy")


def prepare() -> None:
    """Imports what all fork servers share. The environment of one counts for what is imported later, such as Triton."""
    for name in _SHARED:
        importlib.import_module(name)


def serve(arguments: list[str]) -> None:
    """Lets workers of a module be born; standard input is the line they are asked for by.

    `arguments` has where packages are looked for, which may have changed since this process started, and the module.
    """
    folders, module = arguments
    sys.path[:] = json.loads(folders)
    serve_forks(module, socket.socket(fileno=0))

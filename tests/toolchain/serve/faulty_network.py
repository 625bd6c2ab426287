"""A network that fails in front of a server: connections are cut, questions and answers are delayed or come twice."""

from __future__ import annotations

import re
import socket
import threading
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random
from typing import BinaryIO


@dataclass(frozen=True)
class Faults:
    """How likely each is for a question or an answer of HTTP; delays last up to `longest_delay_s`.

    A cut falls anywhere in it.
    """

    cut: float = 0.0
    delayed: float = 0.0
    doubled: float = 0.0
    longest_delay_s: float = 0.5


@dataclass
class FaultyNetwork:
    """A TCP proxy on a port of its own in front of `port`; the `counts` say what it did."""

    port: int
    faults: Faults
    seed: int = 0
    counts: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self._draw = Random(self.seed)
        self._lock = threading.Lock()
        self._listening = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._listening.getsockname()[1]}"

    def close(self) -> None:
        self._listening.close()

    def _accept(self) -> None:
        with suppress(OSError):  # it was closed
            while True:
                client, _ = self._listening.accept()
                try:
                    server = socket.create_connection(("127.0.0.1", self.port), timeout=5)
                except OSError:  # the server is down: its clients see a connection that ends
                    client.close()
                    continue
                server.settimeout(None)
                for one, other in ((client, server), (server, client)):
                    threading.Thread(target=self._pass_on, args=(one, other), daemon=True).start()

    def _pass_on(self, one: socket.socket, other: socket.socket) -> None:
        with suppress(OSError), one.makefile("rb") as sent:
            while message := _message(sent):
                fault = self._fault()
                if fault == "cut":
                    other.sendall(message[: self._draw.randrange(len(message))])
                    break
                if fault == "delayed":
                    time.sleep(self._draw.uniform(0, self.faults.longest_delay_s))
                other.sendall(message * 2 if fault == "doubled" else message)
        for end in (one, other):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def _fault(self) -> str:
        with self._lock:
            drawn, faults = self._draw.random(), self.faults
            for name, share in (("cut", faults.cut), ("delayed", faults.delayed), ("doubled", faults.doubled)):
                if drawn < share:
                    self.counts[name] += 1
                    return name
                drawn -= share
            return ""


def _message(sent: BinaryIO) -> bytes:
    """Returns the next whole question or answer; nothing at the end. All have their length in front."""
    lines = list[bytes]()
    while not lines or lines[-1].strip():
        lines.append(sent.readline())
        if not lines[-1]:
            return b""
    head = b"".join(lines)
    length = re.search(rb"(?im)^content-length: *(\d+)", head)
    return head + (sent.read(int(length[1])) if length else b"")

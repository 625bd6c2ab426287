"""A server as a process: its queues, its socket, and how it ends."""

from __future__ import annotations

import os
import socket
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from porter.agent.secret import Secret
from porter.errors import MachineError, UsageError
from porter.evaluate.model.migration import MigrateOptions
from porter.evolve.scoring.devices import on_device
from porter.evolve.scoring.local import ThisMachine
from porter.native.place import missing_device
from porter.report.machine import Machine, examine
from porter.sandbox.confine import confine_reading, python_and_system
from porter.serve.access import TOKEN, Guard, is_loopback
from porter.serve.ledger import Ledger, ledger
from porter.serve.metrics import Metrics
from porter.serve.problems import OpenProblems
from porter.serve.protocol import DeviceReport, ServerReport
from porter.serve.queue import DeviceQueue
from porter.serve.service import Place, Service
from porter.simt.compiler import let_read
from porter.worker.environment import AMONG_OTHERS

if TYPE_CHECKING:
    import uvicorn

_MOST_CONNECTIONS = 1024
_GRACE_S = 1  # that open connections have at the end: who waits for an answer asks again


@dataclass(frozen=True)
class ServeOptions:
    """The options of a server: `cache` has builds, `state` its ledger. A device evaluates `jobs` candidates at once.

    `certificate` and `key` are files for TLS. One run of a candidate may use `time_limit_s` of processor time at most.
    """

    host: str
    port: int
    token: Secret
    state: Path
    cache: Path
    devices: tuple[str, ...]
    jobs: int
    most_queued: int
    time_limit_s: float
    environment: Mapping[str, str]
    tls: tuple[Path, Path] | None = None


def check(options: ServeOptions) -> None:
    """Raises `UsageError` where others would reach a server without a token, `MachineError` without the extra."""
    if not is_loopback(options.host) and not options.token.value:
        hint = f"name one by --token-file or {TOKEN}; `openssl rand -hex 32` makes one"
        raise UsageError(
            f"--host {options.host}: others can reach this address, and there is no token to keep them out", hint
        )
    if options.state.resolve().is_relative_to(options.cache.resolve()):
        raise UsageError(
            f"--state {options.state}: it lies in the cache, which candidates can read", "choose another one"
        )
    try:
        import fastapi  # noqa: F401, PLC0415 - the extra is only there where somebody serves
        import uvicorn  # noqa: F401, PLC0415
    except ImportError as error:
        raise MachineError(
            f"`porter serve` needs the extra porter[serve]: {error}", "pip install 'porter[serve]'"
        ) from None


def serve(options: ServeOptions, tell: Callable[[str], None]) -> None:
    """Serve until the process is asked to end; `tell` hears the address once it is reached.

    What is evaluated then comes to its end, and what waits stays in the ledger.
    """
    import uvicorn  # noqa: PLC0415

    from porter.serve.app import application  # noqa: PLC0415

    with ledger(options.state) as kept, _listening(options) as listening:
        place = _place(options, kept)
        service = Service(place)
        for queue in place.queues:
            queue.tell(service.ended)
        certificate, key = options.tls or (None, None)
        config = uvicorn.Config(
            Guard(application(service), options.token, place.metrics),
            log_level="warning",
            access_log=False,
            server_header=False,
            ssl_certfile=certificate,
            ssl_keyfile=key,
            limit_concurrency=_MOST_CONNECTIONS,
            timeout_graceful_shutdown=_GRACE_S,
        )
        _load(config, options)
        with _walls(options.cache):
            tell(f"serving on {_url(options, listening)}")
            try:
                uvicorn.Server(config).run(sockets=[listening])
            finally:
                for queue in place.queues:
                    queue.close()


def _load(config: uvicorn.Config, options: ServeOptions) -> None:
    """Let it read the certificate and the key. Raises `UsageError` where they are none."""
    try:
        config.load()
    except OSError as error:  # those of `ssl` are such
        files = " and ".join(map(str, options.tls or ()))
        raise UsageError(f"{files}: no certificate with its key: {error}") from error


def _url(options: ServeOptions, listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    return f"{'https' if options.tls else 'http'}://{shown}:{port}"


@contextmanager
def _walls(cache: Path) -> Iterator[None]:
    """From here on this process, and all that it starts, reads builds, its temporary files and the system's alone.

    A compiler that is asked to include the ledger, a key or a file of the user's finds nothing there, and does not see
    which folders other processes work in.
    """
    with tempfile.TemporaryDirectory(prefix="porter-serve-", ignore_cleanup_errors=True) as name:
        tempfile.tempdir = os.environ["TMPDIR"] = name
        cache.mkdir(parents=True, exist_ok=True)
        readable = (cache.resolve(), Path(name), *python_and_system())
        confine_reading(*readable)
        os.environ[AMONG_OTHERS] = "1"
        let_read(*(place for place in readable if place != Path("/proc")))
        yield


def _place(options: ServeOptions, kept: Ledger) -> Place:
    metrics = Metrics()
    queues = [
        DeviceQueue(
            device,
            kept,
            OpenProblems(kept.content, ThisMachine(), _options(options, device), options.jobs),
            metrics,
            jobs=options.jobs,
            most_queued=options.most_queued,
        )
        for device in options.devices
    ]
    machine = cache(partial(examine, options.cache))  # a large cache takes seconds to count
    return Place(kept, metrics, queues, lambda: _report(machine(), options, queues))


def _options(options: ServeOptions, device: str) -> MigrateOptions:
    environment = on_device(options.environment, device)
    return MigrateOptions("", options.cache, time_limit_s=options.time_limit_s, environment=environment)


def _report(machine: Machine, options: ServeOptions, queues: Sequence[DeviceQueue]) -> ServerReport:
    devices = tuple(DeviceReport(one.device, one.queued, one.most_queued, one.running) for one in queues)
    return ServerReport(machine, devices, not missing_device(), options.time_limit_s)


def _listening(options: ServeOptions) -> socket.socket:
    try:
        family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
        listening = socket.create_server((options.host, options.port), family=family, backlog=128)
    except (OSError, OverflowError) as error:
        raise UsageError(f"cannot listen on {options.host}:{options.port}: {error}", "choose another --port") from error
    # Connections inherit it. Without it each body waited 40 ms for the acknowledgement of its headers.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening

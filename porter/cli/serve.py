"""`porter serve`: candidates of searches elsewhere, evaluated on this machine."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from porter.cache_folder import cache_folder
from porter.cli.console import Console
from porter.cli.options import LONGEST_S, DebugFlag, checked_file, cores, named_path
from porter.errors import DONE, UsageError

if TYPE_CHECKING:
    from porter.evolve.scoring.evaluation import Evaluators
    from porter.serve.client import Server

RAY = "ray://"  # what addresses of Ray clusters begin with
HostOption = Annotated[str, typer.Option("--host", metavar="NAME", help="The address to listen on.")]
PortOption = Annotated[int, typer.Option("--port", metavar="N", min=0, max=65535, help="The port; 0 takes a free one.")]
TokenFileOption = Annotated[
    Path | None,
    typer.Option(
        "--token-file",
        metavar="FILE",
        parser=named_path,
        help="The token that clients have to show; else it is read from PORTER_EVALUATOR_TOKEN.",
    ),
]
CertificateOption = Annotated[
    Path | None, typer.Option("--tls-cert", metavar="FILE", parser=named_path, help="A certificate for HTTPS, as PEM.")
]
KeyOption = Annotated[
    Path | None, typer.Option("--tls-key", metavar="FILE", parser=named_path, help="The key of the certificate.")
]
StateOption = Annotated[
    Path | None,
    typer.Option(
        "--state", metavar="DIR", parser=named_path, help="The folder for the queue and its results, kept between runs."
    ),
]
DeviceOption = Annotated[
    list[str] | None,
    typer.Option(
        "--device", metavar="ID", help="A device to serve, as in CUDA_VISIBLE_DEVICES; repeatable. Each has a queue."
    ),
]
ServeJobsOption = Annotated[
    int,
    typer.Option(
        "--jobs", metavar="N", min=0, help="Candidates evaluated at once for each device; 0 means one for each core."
    ),
]
QueueOption = Annotated[
    int, typer.Option("--queue", metavar="N", min=1, help="Requests that may wait for each device; more are put off.")
]
RunLimitOption = Annotated[
    float,
    typer.Option(
        "--time-limit", metavar="S", min=0.1, max=LONGEST_S, help="The most processor time that one run may ask for."
    ),
]


def serve(
    context: typer.Context,
    host: HostOption = "127.0.0.1",
    port: PortOption = 8900,
    token_file: TokenFileOption = None,
    tls_cert: CertificateOption = None,
    tls_key: KeyOption = None,
    state: StateOption = None,
    device: DeviceOption = None,
    jobs: ServeJobsOption = 0,
    queue: QueueOption = 256,
    time_limit: RunLimitOption = 60.0,
    debug: DebugFlag = False,
) -> int:
    """Evaluate candidates for searches on other machines."""
    from rich.text import Text

    from porter.evolve.scoring.devices import devices_here
    from porter.serve.access import find_token, forget_token
    from porter.serve.server import ServeOptions, check
    from porter.serve.server import serve as run

    if (tls_cert is None) is not (tls_key is None):
        raise UsageError("--tls-cert and --tls-key belong together")
    tls = (tls_cert, tls_key) if tls_cert is not None and tls_key is not None else None
    for file in tls or ():
        checked_file(file)
    token = find_token(token_file, os.environ)
    forget_token()
    options = ServeOptions(
        host=host,
        port=port,
        token=token,
        state=state or state_folder(),
        cache=cache_folder(),
        devices=tuple(device or devices_here(os.environ)),
        jobs=jobs or cores(),
        most_queued=queue,
        time_limit_s=time_limit,
        environment=dict(os.environ),
        tls=tls,
    )
    check(options)
    console: Console = context.obj
    console.how_to_go_on = f"the same command goes on with the queue in {options.state}"
    run(options, lambda line: console.show(Text(line)))
    return DONE


def state_folder() -> Path:
    """Returns where a server keeps its queue: in porter's folder of the user's state."""
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "porter" / "serve"


def evaluators_at(urls: Sequence[str]) -> Evaluators:
    """Returns where candidates are evaluated: the servers at `urls`, a Ray cluster, this machine where none is named.

    Raises `UsageError` for what is no address or no token, and `MachineError` where none of them answers now.
    """
    from porter.evolve.scoring.devices import evaluators_here

    if not urls:
        return evaluators_here(os.environ)
    if any(url.startswith(RAY) for url in urls):
        return _cluster_at(urls)
    from porter.serve.client import AnotherMachine
    from porter.serve.pool import ServerPool

    servers = tuple(server_at(url) for url in dict.fromkeys(urls))
    _check_reach(servers)  # better now than once a port is proven
    return AnotherMachine(servers[0]) if len(servers) == 1 else ServerPool(servers)


def _cluster_at(urls: Sequence[str]) -> Evaluators:
    """Returns the Ray cluster of that address. Raises `UsageError` where others are named, `MachineError` for none."""
    from porter.serve.ray_cluster import RayCluster

    if len(set(urls)) > 1:
        raise UsageError("--evaluator names a Ray cluster beside others", "name the cluster alone")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # what it starts here would report to its makers
    cluster = RayCluster(urls[0], cache_folder)
    cluster.connect()  # better now than once a port is proven
    return cluster


def _check_reach(servers: Sequence[Server]) -> None:
    """Raises `MachineError` where none of the servers answers, or one refuses the token."""
    from porter.serve.client import Unreachable

    lost: list[Unreachable] = []
    for server in servers:
        try:
            replace(server, patience_s=0.0).check()
        except Unreachable as error:
            lost.append(error)
    if len(lost) == len(servers):
        raise lost[0]


def server_at(url: str) -> Server:
    """Returns the server at `url`. Raises `UsageError` for what is no address or no token."""
    from porter.serve.access import find_token
    from porter.serve.client import Server

    return Server(url, find_token(None, os.environ))

"""Searches on two servers that are killed and restarted, through a network that cuts, delays and doubles.

    python -m benchmarks.serve.faults [--evaluations N] [--kills N] [--out FILE]        in the root of the repository

Clients are processes with a real search each, over one pool of both servers. Before that the same searches run in one
process without any server; their journals, seconds left out, have to be the same line by line. What the servers'
ledgers hold besides says how much was evaluated more than once because it had moved.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from random import Random

from porter import __version__
from porter.agent.secret import Secret
from porter.cache_folder import cache_folder
from porter.evaluate.model.migration import MigrateOptions
from porter.evaluate.problem.environment import environment
from porter.evolve.budget import Budget
from porter.evolve.candidate import Candidate, File, Origin
from porter.evolve.journal import NAME
from porter.evolve.proposer import Request
from porter.evolve.replay import replayed, searching
from porter.evolve.scoring.evaluation import Evaluator, content_of
from porter.evolve.scoring.local import ThisMachine
from porter.evolve.settings import Settings
from porter.evolve.stream import stream
from porter.evolve.traits import MECHANISM, traits
from porter.registry import find_backend
from porter.search.loop import CandidateJudge, evaluate_all
from porter.serve.client import Server
from porter.serve.pool import PoolEvaluator
from porter.serve.problems import subject_of
from tests.toolchain.serve.faulty_network import Faults, FaultyNetwork
from tests.toolchain.serve.server_process import PORT, PROBLEM, SECRET, ServerProcess

FAULTS = Faults(cut=0.02, delayed=0.02, doubled=0.02)
JUDGE_SEED = 7
JOBS = 2  # that a client has in flight


@dataclass
class Variants:
    """Proposes the port with another block or factor: some are right, some wrong, some do not build.

    All but the share `executed` call an operator of torch besides, and are refused before anything of them runs: with
    a small one there are many requests for the time of few.
    """

    client: int
    executed: float
    name: str = "variants"

    def propose(self, request: Request) -> list[Candidate]:
        draw = stream(request.seed)
        return [self._one(draw) for _ in range(request.count)]

    def _one(self, draw: Random) -> Candidate:
        block, factor = draw.choice((32, 64, 128, 256, 512)), draw.choice(("2.0", "2.0", "2.0", "2.5", "2.0 +"))
        text = PORT.replace("128", str(block)).replace("2.0 * x", f"{factor} * x")
        if draw.random() >= self.executed:
            text = f"{text}    torch.relu(y)\n"
        return Candidate(
            (File("scale_triton.py", f"{text}# {self.client} {draw.getrandbits(48)}\n"),),
            Origin(self.name, (), f"block {block}, factor {factor}"),
        )


@dataclass(frozen=True)
class Work:
    """The work of each client: so many evaluations, of which a share is executed."""

    evaluations: int
    executed: float


def search(folder: Path, evaluator: Evaluator, client: int, work: Work) -> None:
    """One client's search, from its seed to the end of its budget."""
    backend = find_backend(PROBLEM.target)
    seed = Candidate(PROBLEM.seed.files, Origin("seed"))
    apart = traits(MECHANISM, backend, seed.files)
    settings = Settings(client, apart.axes, ("variants",), islands=2, batch=2)
    judge = CandidateJudge(evaluator, JUDGE_SEED, apart)
    budget = Budget(work.evaluations, work.evaluations)
    with searching(folder, settings, budget, (Variants(client, work.executed),), (seed,)) as one:
        evaluate_all(one, judge.asked, JOBS, lambda _: None)


def search_here(folder: Path, clients: int, work: Work) -> float:
    """All searches without a server; their seconds."""
    began = time.monotonic()
    options = MigrateOptions("", cache_folder(), seed=JUDGE_SEED, environment=dict(os.environ))
    with tempfile.TemporaryDirectory() as place:
        subject = subject_of(PROBLEM, Path(place), options)
        with ThisMachine().open(subject, JOBS, lambda _: None, own=False) as evaluator:
            for client in range(clients):
                search(folder / str(client), evaluator, client, work)
    return time.monotonic() - began


def client_main(folder: str, urls: str, client: str, evaluations: str, executed: str) -> None:
    servers = [Server(url, Secret(SECRET)) for url in urls.split(",")]
    evaluator = PoolEvaluator(servers, content_of(PROBLEM), JUDGE_SEED)
    search(Path(folder), evaluator, int(client), Work(int(evaluations), float(executed)))


@dataclass
class Lab:
    """Two servers, each behind a network of its own that fails."""

    folder: Path
    ports: list[int]
    servers: list[ServerProcess]
    networks: list[FaultyNetwork]

    @classmethod
    def begin(cls, folder: Path, faults: Faults) -> Lab:
        ports = [_free_port() for _ in range(2)]
        networks = [FaultyNetwork(port, faults, seed) for seed, port in enumerate(ports)]
        lab = cls(folder, ports, [], networks)
        lab.servers = [lab.started(number) for number in range(2)]
        return lab

    def started(self, number: int) -> ServerProcess:
        words = ("--port", str(self.ports[number]), "--jobs", "1")
        return ServerProcess.begin(self.folder / f"server{number}", *words)

    def kill(self, number: int, away_s: float) -> None:
        """Kill a server, and start it again some seconds later."""
        self.servers[number].kill()
        time.sleep(away_s)
        self.servers[number] = self.started(number)

    def close(self) -> None:
        for server in self.servers:
            server.kill()
        for network in self.networks:
            network.close()

    def evaluated(self) -> int:
        """Returns the number of requests that the ledgers have a result for."""
        count = 0
        for number in range(2):
            with closing(sqlite3.connect(self.folder / f"server{number}" / "ledger.sqlite3")) as ledger:
                count += ledger.execute("select count(*) from jobs where state = 'done'").fetchone()[0]
        return count


def search_through_faults(folder: Path, clients: int, work: Work, kills: int) -> dict[str, object]:
    """All searches at once over the two servers; what was done to them meanwhile."""
    lab = Lab.begin(folder, FAULTS)
    began, done, draw = time.monotonic(), 0, Random(1)
    urls = ",".join(network.url for network in lab.networks)
    words = [sys.executable, "-m", "benchmarks.serve.faults", "client"]
    try:
        running = [
            subprocess.Popen([*words, *map(str, (folder / str(client), urls, client, work.evaluations, work.executed))])
            for client in range(clients)
        ]
        while any(process.poll() is None for process in running):
            if done < kills and told(folder, clients) >= (done + 1) * clients * work.evaluations // (kills + 1):
                lab.kill(done % 2, draw.uniform(0, 8))
                done += 1
            time.sleep(0.1)
        codes = [process.wait() for process in running]
        if any(codes):
            raise SystemExit(f"clients ended with {codes}")
        network = sum((network.counts for network in lab.networks), Counter())
        seconds = round(time.monotonic() - began, 1)
        return {"kills": done, "network": dict(network), "evaluated_by_servers": lab.evaluated(), "seconds": seconds}
    finally:
        lab.close()


def told(folder: Path, clients: int) -> int:
    """Returns the number of outcomes in the journals so far."""
    journals = (folder / str(client) / NAME for client in range(clients))
    return sum(journal.read_bytes().count(b'"event":"told"') for journal in journals if journal.exists())


def without_clock(folder: Path) -> list[dict[str, object]]:
    """The journal's lines, without when they were written."""
    lines = [json.loads(line) for line in (folder / NAME).read_text().splitlines()]
    return [{key: value for key, value in line.items() if key != "seconds"} for line in lines]


def compared(here: Path, there: Path, clients: int) -> dict[str, object]:
    """Compares the journals of the searches through faults with those without."""
    same, outcomes, twice, lost = 0, Counter[str](), 0, 0
    for client in range(clients):
        replayed(there / str(client))  # raises where a line does not follow
        lines = without_clock(there / str(client))
        ended = [line["scored"] for line in lines if line["event"] == "told" and not line["again"]]
        proposed = [one["digest"] for line in lines if line["event"] == "proposed" for one in line["candidates"]]
        digests = Counter(one["digest"] for one in ended)
        outcomes.update(one["outcome"] for one in ended)
        twice += sum(count - 1 for count in digests.values())
        lost += len(set(proposed) - digests.keys())
        same += lines == without_clock(here / str(client))
    return {"evaluations": outcomes.total(), "outcomes": dict(outcomes), "evaluated_twice": twice, "lost": lost,
            "journals_as_without_faults": same}  # fmt: skip


def measured(clients: int, work: Work, kills: int) -> dict[str, object]:
    with tempfile.TemporaryDirectory() as name:
        here, there = Path(name) / "here", Path(name) / "there"
        there.mkdir()
        seconds = search_here(here, clients, work)
        faults = search_through_faults(there, clients, work, kills)
        found = compared(here, there, clients)
    return {
        "clients": clients,
        "servers": 2,
        **found,
        **faults,
        "seconds_without_servers": round(seconds, 1),
        "fault_shares": {"cut": FAULTS.cut, "delayed": FAULTS.delayed, "doubled": FAULTS.doubled},
        "load_average": os.getloadavg()[0],
        "device": f"cpu, {os.cpu_count()} cores",
        "python": platform.python_version(),
        "porter": __version__,
        **environment(),
    }


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as one:
        return int(one.getsockname()[1])


def main() -> None:
    if sys.argv[1:2] == ["client"]:
        client_main(*sys.argv[2:])
        return
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--clients", type=int, default=4)
    arguments.add_argument("--evaluations", type=int, default=500, help="of each client")
    arguments.add_argument(
        "--executed", type=float, default=1.0, help="the share of candidates that is not refused before"
    )
    arguments.add_argument("--kills", type=int, default=20)
    arguments.add_argument("--out", type=Path)
    given = arguments.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    text = json.dumps(measured(given.clients, Work(given.evaluations, given.executed), given.kills), indent=2) + "\n"
    print(text, end="")
    if given.out:
        given.out.write_text(text)


if __name__ == "__main__":
    main()

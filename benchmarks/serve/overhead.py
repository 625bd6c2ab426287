"""Measures what HTTP adds to an evaluation on this machine: the client's wait beyond what the evaluator itself took.

    python benchmarks/serve/overhead.py RUN [--rounds N] [--out FILE]

RUN is the folder of a search. A server is started on loopback, and each of its candidates is evaluated N times, one
after the other and each time afresh. What is added has all of it: both contents and the request sent, kept on the disk,
queued, the answer made and read. Contents that were sent are sent again each time.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import secrets
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from porter import __version__
from porter.agent.secret import Secret
from porter.cache_folder import cache_folder
from porter.evaluate.model.migration import MigrateOptions
from porter.evolve.replay import replayed
from porter.evolve.scoring.evaluation import EvaluationRequest, Program, content_of, digest_of
from porter.evolve.scoring.evaluator import port_of
from porter.evolve.scoring.subject import ORIGINAL, kept
from porter.search.run import seed_of
from porter.serve.access import TOKEN
from porter.serve.client import AnotherMachine, RemoteEvaluator, Server

DEADLINE_S = 600.0


@contextmanager
def server() -> Iterator[Server]:
    """A server of this machine, with a state of its own."""
    token = secrets.token_hex(16)
    with tempfile.TemporaryDirectory() as state:
        process = subprocess.Popen(
            [sys.executable, "-m", "porter", "serve", "--port", "0", "--state", state, "--jobs", "1"],
            env={**os.environ, TOKEN: token},
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            yield Server(process.stdout.readline().split()[-1], Secret(token))
        finally:
            process.terminate()
            process.wait()


def added_ms(evaluator: RemoteEvaluator, program: Program, repetition: int) -> tuple[float, float]:
    """Milliseconds beyond those of the evaluation, and its seconds."""
    request = EvaluationRequest(
        evaluator.problem, digest_of(content_of(program)), 0, evaluator.fidelity, DEADLINE_S, repetition=repetition
    )
    begin = time.perf_counter()
    evaluation = evaluator.evaluate(program, request)
    return 1e3 * (time.perf_counter() - begin - evaluation.seconds), evaluation.seconds


def measured(run: Path, rounds: int) -> dict[str, object]:
    state = replayed(run).state
    options = MigrateOptions("", cache_folder(), seed=0, environment=dict(os.environ))
    subject = kept(run, state.settings.about, port_of(seed_of(state), run / ORIGINAL), options)
    programs = [Program(member.candidate.files) for member in state.members.values()]
    with server() as one, AnotherMachine(one).open(subject, 1, lambda _: None, own=False) as evaluator:
        found = [added_ms(evaluator, each, number) for number in range(rounds) for each in programs]
    added, seconds = sorted(ms for ms, _ in found), [s for _, s in found]
    return {
        "run": run.name,
        "evaluations": len(found),
        "added_ms": {
            "median": round(statistics.median(added), 2),
            "p90": round(added[int(0.9 * len(added))], 2),
            "max": round(added[-1], 2),
        },
        "evaluation_s_median": round(statistics.median(seconds), 3),
        "load_average": os.getloadavg()[0],
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "porter": __version__,
    }


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("run", type=Path)
    arguments.add_argument("--rounds", type=int, default=6)
    arguments.add_argument("--out", type=Path)
    given = arguments.parse_args()
    text = json.dumps(measured(given.run, given.rounds), indent=2) + "\n"
    print(text, end="")
    if given.out:
        given.out.write_text(text)


if __name__ == "__main__":
    main()

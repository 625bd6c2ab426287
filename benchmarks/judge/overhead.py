"""Measures what an evaluation of a Triton candidate costs on the CPU apart from interpreting its kernels.

    python -m benchmarks.judge.overhead --output benchmarks/results/judge_overhead.json

Every honest candidate of the judge's tests is judged against one original, as `porter verify` does but for compiling
its kernels: its text is checked, its calls are planned, admitted, carried out and compared. Processor time is that of
this process, of the fork servers and of all their children from birth to death; how much of it was in the interpreter,
a wrapped worker tells (`interpreted_apart.py`).
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from unittest.mock import patch

from benchmarks.judge import descendants
from benchmarks.judge.interpreted_apart import TOTAL
from porter_triton import processes
from porter_triton.planned_calls import PlannedCalls
from tests.toolchain.triton.held_candidates import Judge, Piece, pieces

REPLAY = "porter_triton.replay.worker"


@dataclass(frozen=True)
class Spent:
    """Milliseconds of processor time, and calls that were planned, of one evaluation or of several."""

    here_ms: float
    workers_ms: float
    interpreter_ms: float
    plans: float

    @property
    def overhead_ms(self) -> float:
        return self.here_ms + self.workers_ms - self.interpreter_ms


class Meter:
    """The processor time of this process, of its fork servers and their children, and of the interpreter."""

    def __init__(self) -> None:
        self._file = Path("/tmp") / f"porter-interpretation-{os.getpid()}"
        self._file.write_bytes(bytes(TOTAL.size))
        self.plans = 0

    def close(self) -> None:
        self._file.unlink()

    def now(self) -> Spent:
        (interpreter_s,) = TOTAL.unpack(self._file.read_bytes())
        return Spent(time.process_time() * 1e3, self._workers_s() * 1e3, interpreter_s * 1e3, self.plans)

    @staticmethod
    def _workers_s() -> float:
        """The fork servers are forked from this process's child; what a process reaped counts with it."""
        return descendants.used_s(os.getpid())


@contextmanager
def counted(meter: Meter) -> Iterator[None]:
    """Counts plans, and has the interpreter's time told."""
    plan, started = PlannedCalls._begin, processes._Process.__init__

    def begin(self: PlannedCalls, *arguments: object) -> None:
        meter.plans += 1
        plan(self, *arguments)  # type: ignore[arg-type]

    def start(self: object, program: str, *arguments: object, **named: object) -> None:
        program = "benchmarks.judge.interpreted_apart" if program == REPLAY else program
        started(self, program, *arguments, **named)  # type: ignore[arg-type]

    with patch.object(PlannedCalls, "_begin", begin), patch.object(processes._Process, "__init__", start):
        yield


def measured(candidates: list[Piece], rounds: int) -> list[Spent]:
    """An evaluation of each candidate, `rounds` times; the mean of each, since processes are counted in ticks."""
    meter = Meter()
    try:
        with counted(meter), tempfile.TemporaryDirectory() as cache:
            judge = Judge(Path(cache))
            judge.verdict(candidates[0], compiling=False)  # fork servers
            return [_spent(meter, judge, piece, rounds) for piece in candidates]
    finally:
        meter.close()


def _spent(meter: Meter, judge: Judge, piece: Piece, rounds: int) -> Spent:
    before = meter.now()
    for _ in range(rounds):
        verdict = judge.verdict(piece, compiling=False)
        assert verdict.verified, (piece.name, verdict.said)
    after = meter.now()
    then, now = asdict(before), asdict(after)
    return Spent(**{name: (now[name] - then[name]) / rounds for name in now})


def _commit() -> str:
    return subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout.strip()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--only", nargs="*", help="candidates by name")
    parser.add_argument("--output", type=Path)
    parser.add_argument("--each", action="store_true", help="tell of each candidate, too")
    options = parser.parse_args()
    candidates = [piece for piece in pieces("honest") if not options.only or piece.name in options.only]
    spent = measured(candidates, options.rounds)
    if options.each:
        for piece, one in sorted(zip(candidates, spent, strict=True), key=lambda pair: pair[1].overhead_ms):
            print(
                f"{one.overhead_ms:7.1f} {one.here_ms:7.1f} {one.workers_ms:7.1f} "
                f"{one.interpreter_ms:7.1f} {one.plans:5.0f} {piece.name}"
            )
    told = {
        "commit": _commit(),
        "device": "cpu",
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
        "versions": {name: version(name) for name in ("torch", "triton", "numpy")},
        "candidates": len(candidates),
        "mean": {
            name: round(statistics.mean(getattr(one, name) for one in spent), 1)
            for name in ("overhead_ms", "here_ms", "workers_ms", "interpreter_ms", "plans")
        },
        "median_overhead_ms": round(statistics.median(one.overhead_ms for one in spent), 1),
        "p90_overhead_ms": round(statistics.quantiles((one.overhead_ms for one in spent), n=10)[8], 1)
        if len(spent) > 1
        else None,
    }
    print(json.dumps(told, indent=2))
    if options.output:
        options.output.write_text(json.dumps(told, indent=2) + "\n")


if __name__ == "__main__":
    main()

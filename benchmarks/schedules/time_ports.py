"""Time the ports that `ports.py` wrote on a device, beside PyTorch and `torch.compile`, at three sizes in three types.

    python benchmarks/schedules/time_ports.py --ports FOLDER --results FILE.jsonl [--jobs N] [--seconds S] [--only WORD]
        [--memory GIB] [--ports-alone] [--dtypes T ...]

It needs PyTorch and Triton alone. FILE gets a line for each operator, part of its bench sizes and type as it is done,
with all samples in microseconds; what is there is not done again. Processes compile at once, and take turns on the
device. A sample is a chain of calls on inputs that are larger than the cache together, replayed as a CUDA graph for at
least 0.3 ms; samples of all contenders are taken in turn. `torch.compile` is the default, `max_autotune` its mode
`max-autotune-no-cudagraphs`, `maca` the port in MACA C++ through nvcc, where FOLDER has it. `outside` is the share of a
result, of a large one a million elements, that differs from PyTorch's in 32 bits by more than 1e-3 of its largest
element, or by 2e-2 where the type has 16. With `--ports-alone` neither PyTorch nor `torch.compile` is timed, only
compared with. No verdict, and not porter's own clock.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Condition
from typing import Any

from timed_job import Job, serve

_DTYPES, _PARTS = ("float32", "bfloat16", "float16"), (1, 10, 100)
_BYTES = {"float32": 4, "float16": 2, "bfloat16": 2, "int64": 8, "bool": 1}
_MEMORY = 44  # GiB for inputs and one result of all jobs at once: what one of them needs beside has the rest of 80
_HELD, _CONTEXT = 2.2, 1 << 20  # a job's bytes, in parts of its inputs, and a little
_JOB_S = 200.0  # a job that takes longer is ended


def main() -> None:
    """Does all jobs, the largest sizes first."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ports", type=Path, required=True)
    parser.add_argument("--results", type=Path, required=True)
    parser.add_argument("--jobs", type=int, default=14)
    parser.add_argument("--seconds", type=float, default=520.0)
    parser.add_argument("--only", default="")
    parser.add_argument("--memory", type=int, default=_MEMORY)
    parser.add_argument("--ports-alone", action="store_true")
    parser.add_argument("--dtypes", nargs="+", default=_DTYPES, choices=_DTYPES)
    arguments = parser.parse_args()
    lines = arguments.results.read_text().splitlines() if arguments.results.exists() else []
    known = {(row["operator"], row["part"], row["dtype"]) for row in map(json.loads, lines)}
    waiting = [
        replace(job, ports_alone=arguments.ports_alone)
        for job in _jobs(arguments.ports, arguments.only, arguments.dtypes)
        if (job.operator, job.part, job.dtype) not in known
    ]
    print(f"{len(waiting)} to do", flush=True)
    work = _Work(waiting, arguments.results, time.monotonic() + arguments.seconds, arguments.memory << 30)
    with ThreadPoolExecutor(arguments.jobs) as pool:
        list(pool.map(work.do, range(arguments.jobs)))
    print(f"{work.done} done, {len(work.waiting)} left", flush=True)


def _jobs(ports: Path, only: str, dtypes: Sequence[str]) -> list[Job]:
    found = []
    for part in _PARTS:
        for dtype in dtypes:
            for folder in sorted(path.parent for path in ports.glob("*/about.json")):
                if only in folder.name:
                    call = next(
                        c for c in json.loads((folder / "about.json").read_text())["calls"] if c["part"] == part
                    )
                    found.append(Job(folder, part, dtype, call["sizes"], call["arguments"]))
    return found


@dataclass
class _Work:
    """The jobs that wait and those being done; `room` is told whenever a job ends."""

    waiting: list[Job]
    results: Path
    end: float
    device_bytes: int
    done: int = 0
    _bytes: int = 0
    room: Condition = field(default_factory=Condition)

    def do(self, number: int) -> None:
        """Does jobs in a process of its own until none is left, or no time."""
        process, pipe = None, None
        while (job := self._next()) is not None:
            if process is None or pipe is None or not process.is_alive():
                process, pipe = _started(number)
            row, is_alive = _asked(pipe, job, min(_JOB_S, max(1.0, self.end - time.monotonic())))
            if not is_alive:
                process.kill()
                process = None
            self._ended(job, row)
        if process is not None:
            process.kill()

    def _next(self) -> Job | None:
        """Returns the first job that there is memory for."""
        with self.room:
            while self.waiting and time.monotonic() < self.end:
                for job in self.waiting:
                    if not self._bytes or self._bytes + _held(job) <= self.device_bytes:
                        self.waiting.remove(job)
                        self._bytes += _held(job)
                        return job
                self.room.wait(1.0)
        return None

    def _ended(self, job: Job, row: Mapping[str, Any]) -> None:
        with self.room:
            self._bytes -= _held(job)
            self.done += 1
            with self.results.open("a") as file:
                print(json.dumps(row), file=file, flush=True)
            self.room.notify_all()


def _held(job: Job) -> int:
    """Returns the bytes that a job holds on the device."""
    total = 0
    for one in job.arguments:
        if "dtype" in one:
            size = _BYTES[job.dtype if one["dtype"] == "float32" else one["dtype"]]
            for extent in one["shape"]:
                size *= extent
            total += size
    return int(_HELD * total) + _CONTEXT


def _started(number: int) -> tuple[Any, Any]:
    """Returns a process that does jobs, and the pipe to it."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=serve, args=(theirs, number), daemon=True)
    process.start()
    theirs.close()
    return process, ours


def _asked(pipe: Any, job: Job, seconds: float) -> tuple[Mapping[str, Any], bool]:
    """Returns the row of a job, and whether its process can be asked again."""
    told = {"operator": job.operator, "part": job.part, "dtype": job.dtype, "sizes": job.sizes}
    try:
        pipe.send(job)
        if pipe.poll(seconds):
            return {**told, **pipe.recv()}, True
        return {**told, "trouble": f"not done in {seconds:.0f} s"}, False
    except (EOFError, OSError) as error:
        return {**told, "trouble": f"its process ended: {type(error).__name__}"}, False


if __name__ == "__main__":
    main()

"""Judge many candidates on this machine's device, a third of them faulty: each in its outcome, the next one unharmed.

    python benchmarks/device_faults.py RESULTS.json [--evaluations N]

An evaluation is as the judge makes it, with processes of its own: a candidate's call is planned, carried out on the
device, compared, captured, timed and replayed on fresh inputs. The first five are right and start their processes
themselves: their wall time is what the judge costs beyond the kernel. For all others the processes of the next four
on the device are started ahead.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, closing
from pathlib import Path
from random import Random

import numpy as np

from porter.cache_folder import cache_folder
from porter.contract.model.dtype import DType
from porter.execution.job import FaultKind, Job, Limits, Run, ScalarValue, TensorValue
from porter.measure.interleave import StopRule, interleaved
from porter.native.place import Place, place
from porter.native.session import CandidateError, Session
from porter.native.timed import Timed
from porter.native.versions import commit
from porter_triton.calls import Calls
from porter_triton.native import entry_of
from porter_triton.planned_calls import Function
from porter_triton.proof import calls_of

TIME_LIMIT_S = 2.5
ALONE, AHEAD = 5, 4
MOST_S = 1.0  # what an evaluation may cost beyond the kernel's own work
COUNT = 100_003
CANDIDATE = """
import ctypes
import os
import signal
import subprocess
import sys

import torch
import triton
import triton.language as tl


@triton.jit
def scale_kernel(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + i, tl.load(x + i, mask=i < n) * 2.0, mask=i < n)


@triton.jit
def far_kernel(x, distance):
    tl.store(x + distance, 1.0)


@triton.jit
def endless_kernel(x):
    v = tl.load(x, volatile=True)
    while v < 1e30:
        v = tl.load(x, volatile=True) * 0.0
    tl.store(x, v)


def right(x, y, n):
    scale_kernel[(triton.cdiv(n, 1024),)](x, y, n, B=1024)


def illegal_address(x, y, n):
    far_kernel[(1,)](x, 1 << 42)


def beside_the_tensor(x, y, n):
    right(x, y, n + 5)


def endless(x, y, n):
    endless_kernel[(1,)](x)


def endless_host(x, y, n):
    while True:
        pass


def segmentation_fault(x, y, n):
    ctypes.string_at(0)


def leaves(x, y, n):
    os._exit(0)


def device_memory(x, y, n):
    kept = [torch.empty(1 << 34, device="cuda") for _ in range(64)]


def host_memory(x, y, n):
    kept = [b"x" * (1 << 28) for _ in range(4096)]


def raises(x, y, n):
    raise KeyError("no")


def kills_its_parent(x, y, n):
    os.kill(os.getppid(), signal.SIGKILL)


def fills_the_disk(x, y, n):
    with open("filler", "wb") as file:
        while True:
            file.write(bytes(1 << 26))


def prints(x, y, n):
    while True:
        sys.stdout.write("x" * (1 << 20))


def leaves_a_process(x, y, n):
    subprocess.Popen(["sleep", "1000"], start_new_session=True)
    raise RuntimeError("left one behind")


def wrong(x, y, n):
    scale_kernel[(triton.cdiv(n, 1024) - 1,)](x, y, n, B=1024)
"""
# What a call may end with; for those that run to their end, None.
FAULTS: dict[str, frozenset[FaultKind] | None] = {
    "illegal_address": frozenset((FaultKind.OUT_OF_BOUNDS,)),
    "beside_the_tensor": frozenset((FaultKind.OUT_OF_BOUNDS,)),
    "endless": frozenset((FaultKind.TIMEOUT,)),
    "endless_host": frozenset((FaultKind.TIMEOUT,)),
    "segmentation_fault": frozenset((FaultKind.CRASH,)),
    "leaves": frozenset((FaultKind.CRASH,)),
    "device_memory": frozenset((FaultKind.RESOURCE,)),
    "host_memory": frozenset((FaultKind.HOST_CHECK, FaultKind.RESOURCE, FaultKind.TIMEOUT)),
    "raises": frozenset((FaultKind.HOST_CHECK,)),
    "kills_its_parent": frozenset((FaultKind.HOST_CHECK,)),
    "fills_the_disk": frozenset((FaultKind.HOST_CHECK, FaultKind.RESOURCE, FaultKind.CRASH)),
    "prints": frozenset((FaultKind.HOST_CHECK, FaultKind.RESOURCE, FaultKind.CRASH)),
    "leaves_a_process": frozenset((FaultKind.HOST_CHECK,)),
    "wrong": None,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", type=Path)
    parser.add_argument("--evaluations", type=int, default=200)
    arguments = parser.parse_args()
    began = time.monotonic()
    with (
        place(cache_folder(), TIME_LIMIT_S, dict(os.environ)) as device,
        tempfile.TemporaryDirectory() as folder,
        device.lock.alone(),
    ):
        module = Path(folder) / "candidate.py"
        module.write_text(CANDIDATE)
        row(device.session(CANDIDATE), module, "right")  # compiles
        alone = [row(device.session(CANDIDATE), module, "right") for _ in range(ALONE)]
        rows = list(started_ahead(device, module, names(arguments.evaluations)))
        summary = {"seconds_alone": [r["seconds"] for r in alone], **summed(device, rows)}
    summary["seconds"] = round(time.monotonic() - began, 1)
    arguments.results.write_text(json.dumps(summary, indent=1) + "\n")
    print(table(summary), file=sys.stderr)


def table(summary: dict) -> str:
    alone, ahead = summary["seconds_alone"], summary["seconds_of_right_ones_started_ahead"]
    lines = [f"{name:22} {outcomes}" for name, outcomes in summary["outcomes"].items()]
    lines.append(f"{summary['evaluations']} evaluations, {summary['faulty']} faulty, in {summary['seconds']:.0f} s")
    lines += [f"{name.replace('_', ' ')}: {summary[name] or 'none'}" for name in ("not_as_expected", "processes_left")]
    lines.append(
        f"an evaluation alone: {statistics.median(alone):.2f} s, at most {max(alone):.2f} s (wanted {MOST_S:g} s)"
    )
    lines.append(f"with processes started ahead: {ahead['median']:.2f} s, at most {ahead['most']:.2f} s")
    return "\n".join(lines)


def started_ahead(device: Place, module: Path, candidates: list[str]) -> Iterator[dict]:
    waiting: deque[Session] = deque()
    with ExitStack() as opened:
        for name in candidates:
            while len(waiting) < AHEAD:
                waiting.append(opened.enter_context(device.session(CANDIDATE)))
                waiting[-1].start()
            yield row(closing(waiting.popleft()), module, name)


def names(evaluations: int) -> list[str]:
    """Three in ten faulty, each fault as often as the others, in a random order."""
    faulty = [name for _ in range(evaluations) for name in FAULTS][: evaluations * 3 // 10]
    every = [*faulty, *["right"] * (evaluations - len(faulty))]
    Random(1).shuffle(every)
    return every


def row(opened: AbstractContextManager[Session], module: Path, name: str) -> dict:
    began = time.monotonic()
    with (
        opened as session,
        tempfile.TemporaryDirectory() as work,
        calls_of(module, Path(work), Limits(cpu_s=TIME_LIMIT_S)) as calls,
    ):
        session.start()
        outcome = evaluate(session, calls, name)
    seconds = round(time.monotonic() - began, 3)
    expected = expected_of(name)
    print(name, outcome, seconds, "" if outcome in expected else f"NOT {expected}", flush=True)
    return {"candidate": name, "outcome": outcome, "as_expected": outcome in expected, "seconds": seconds}


def expected_of(name: str) -> list[str]:
    kinds = FAULTS.get(name)
    return {"right": ["timed"], "wrong": ["wrong"]}.get(name) or sorted(kinds or ())


def evaluate(session: Session, calls: Calls, name: str) -> str:
    """Returns what came of it: `timed`, `wrong`, what runs beside, or the kind of the fault."""
    timed = Timed(session, lambda job: entry_of(calls, Function(name), job, session))
    run = timed.run(job(0))
    if not run.finished:
        return run.faults[0].kind.value
    if not right(run, 0):
        return "wrong"
    try:
        if beside := timed.prepare(job(0)).beside:
            return beside
        interleaved(1, lambda order: session.sample(tuple(order), captured=True), StopRule(), time.monotonic)
    except CandidateError as error:
        return error.run.faults[0].kind.value
    return "timed" if right(timed.replay(0, job(1), 0).run, 1) else "wrong afterwards"


def right(run: Run, seed: int) -> bool:
    return run.finished and np.array_equal(run.outputs[1].storage, inputs(seed) * 2)


def job(seed: int) -> Job:
    values = inputs(seed)
    tensors = (TensorValue(DType.FLOAT32, (COUNT,), v) for v in (values, np.full_like(values, np.nan)))
    return Job(arguments=(*tensors, ScalarValue(COUNT)))


def inputs(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(COUNT).astype(np.float32)


def summed(device: Place, rows: list[dict]) -> dict:
    overhead = sorted(r["seconds"] for r in rows if r["candidate"] == "right")
    with device.session() as session:
        facts = session.facts
    return {
        "device": device.device.name,
        "driver": device.device.driver(),
        "torch": facts.torch,
        "triton": facts.triton,
        "commit": commit() or os.environ.get("PORTER_COMMIT", ""),
        "time_limit_s": TIME_LIMIT_S,
        "evaluations": len(rows),
        "faulty": sum(r["candidate"] != "right" for r in rows),
        "not_as_expected": [r for r in rows if not r["as_expected"]],
        "outcomes": {name: outcomes_of(rows, name) for name in sorted({r["candidate"] for r in rows})},
        "seconds_of_right_ones_started_ahead": {"median": statistics.median(overhead), "most": overhead[-1]},
        "processes_left": processes_left(),
        "rows": rows,
    }


def outcomes_of(rows: list[dict], name: str) -> dict[str, int]:
    return dict(Counter(row["outcome"] for row in rows if row["candidate"] == name))


def processes_left() -> list[str]:
    """Command lines of workers, whose parent has the same, and of what candidates start, where these still run."""
    found = []
    for place_of in Path("/proc").glob("[0-9]*"):
        try:
            line = command_line(place_of)
            parent = (place_of / "stat").read_text("utf-8").rsplit(")", 1)[1].split()[1]
            is_worker = line == command_line(Path("/proc", parent)) and "porter.native.worker" in line
        except OSError:
            continue
        if is_worker or line.startswith("sleep 1000"):
            found.append(line)
    return found


def command_line(place_of: Path) -> str:
    return (place_of / "cmdline").read_bytes().replace(b"\0", b" ").decode().strip()


if __name__ == "__main__":
    main()

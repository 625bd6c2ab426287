"""Evaluations one after the other, of which a share is faulty: each ends as it should, and the next is unharmed.

    python benchmarks/judge/faults.py --evaluations 1000 --output benchmarks/results/judge_faults.json

An evaluation is a candidate as the judge has it: a process born for its module, called twice, its answers compared.
What is printed and kept: how each kind of fault ended and in what time, how long honest evaluations take from the
module's text to the second answer, and which processes are left.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import statistics
import tempfile
import time
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.judge import descendants
from porter.contract.model.dtype import DType
from porter.execution.job import FaultKind, Job, Limits, Run, TensorValue
from porter_triton.planned_calls import Function
from porter_triton.proof import calls_of

LIMITS = Limits(cpu_s=1.0, wall_s=5.0, memory_bytes=1 << 30, file_bytes=16 << 20)
HEAD = """\
import time

import torch
import triton
import triton.language as tl

os, sys = torch.os, torch.sys  # around the guard: the walls behind it are what is tried
ctypes, signal, threading = (sys.modules[name] for name in ("ctypes", "signal", "threading"))


@triton.jit
def twice(x, y, n, block: tl.constexpr):
    i = tl.program_id(0) * block + tl.arange(0, block)
    tl.store(y + i, 2 * tl.load(x + i, mask=i < n), mask=i < n)


@triton.jit
def endless(x, y, n, block: tl.constexpr):
    i = tl.arange(0, block)
    while tl.load(x) == tl.load(x):
        tl.store(y + i, tl.load(x + i, mask=i < n), mask=i < n)


def right(x):
    y = torch.empty_like(x)
    twice[(triton.cdiv(x.numel(), 64),)](x, y, x.numel(), block=64)
    return y


def forward(x):
"""
HONEST = "    return right(x)\n"


@dataclass(frozen=True)
class Fault:
    """The body of a faulty candidate, and the kinds of fault of which one has to be reported."""

    body: str
    kinds: tuple[FaultKind, ...]


FAULTS = {
    "segment fault": Fault("ctypes.string_at(0)", (FaultKind.CRASH,)),
    "abort": Fault("os.abort()", (FaultKind.CRASH,)),
    "end with success": Fault("right(x); os._exit(0)", (FaultKind.CRASH,)),
    "exception": Fault("raise ValueError('no')", (FaultKind.HOST_CHECK,)),
    "recursion": Fault("return forward(x)", (FaultKind.HOST_CHECK, FaultKind.CRASH)),
    "endless loop": Fault("\n    while True:\n        pass", (FaultKind.TIMEOUT,)),
    "endless kernel": Fault("y = right(x); endless[(1,)](x, y, x.numel(), block=64); return y", (FaultKind.TIMEOUT,)),
    "endless sleep": Fault("time.sleep(1e6)", (FaultKind.TIMEOUT,)),
    "deaf to signals": Fault(
        "\n    for s in range(1, 32):\n        try:\n            signal.signal(s, signal.SIG_IGN)\n"
        "        except (OSError, ValueError):\n            pass\n    while True:\n        pass",
        (FaultKind.TIMEOUT, FaultKind.RESOURCE),
    ),
    "memory of torch": Fault("return torch.ones(1 << 36)", (FaultKind.HOST_CHECK,)),
    "memory of Python": Fault(
        "kept = [bytearray(1 << 26) for _ in range(1 << 20)]", (FaultKind.HOST_CHECK, FaultKind.TIMEOUT)
    ),
    "kills its parent": Fault("os.kill(os.getppid(), 9)", (FaultKind.HOST_CHECK,)),
    "kills all": Fault("os.kill(-1, 9)", (FaultKind.HOST_CHECK,)),
    "fork bomb": Fault("\n    while True:\n        os.fork()", (FaultKind.HOST_CHECK,)),
    "threads": Fault(
        "\n    while True:\n        threading.Thread(target=time.sleep, args=(1e6,)).start()",
        (FaultKind.HOST_CHECK, FaultKind.TIMEOUT, FaultKind.RESOURCE, FaultKind.CRASH),
    ),
    "fills the disk": Fault("os.open('file', os.O_CREAT | os.O_WRONLY)", (FaultKind.HOST_CHECK,)),
    "prints a gigabyte": Fault(
        "\n    for _ in range(1 << 14):\n        sys.stderr.write('x' * (1 << 16))\n    return right(x)",
        (FaultKind.HOST_CHECK, FaultKind.TIMEOUT, FaultKind.CRASH),
    ),
    "closes its pipes": Fault("os.closerange(0, 1024); time.sleep(1e6)", (FaultKind.FORGED, FaultKind.CRASH)),
    "forges an answer": Fault(
        "\n    for n in range(3, 64):\n        try:\n            os.write(n, b'\\x08' + bytes(7) + b'PORTRES1')\n"
        "        except OSError:\n            pass\n    time.sleep(1e6)",
        (FaultKind.FORGED, FaultKind.CRASH),
    ),
    "huge answer": Fault("return right(x).repeat(1 << 26)", (FaultKind.HOST_CHECK, FaultKind.CRASH)),
}  # fmt: skip


def evaluated(folder: Path, text: str, seed: int) -> tuple[Run, bool]:
    """The last run of a candidate, and whether all its answers were right."""
    for name in ("run", "module"):
        (folder / name).mkdir(parents=True)
    (folder / "module" / "op.py").write_text(text)
    numbers = np.random.default_rng(seed)
    with calls_of(folder / "module" / "op.py", folder / "run", LIMITS) as calls:
        for size in (5, 100):
            x = numbers.standard_normal(size).astype(np.float32)
            run = calls.run(Function("forward"), Job(arguments=(TensorValue(DType.FLOAT32, x.shape, x),)))
            right = run.finished and not run.faults and np.array_equal(run.results[0].storage, 2 * x)
            if not right:
                return run, False
    return run, True


def honest_processor_s(folder: Path, count: int = 20) -> float:
    """Returns what an honest evaluation takes of processors, here, in the fork server and in the process born of it."""
    begin = used_s()
    for number in range(count):
        evaluated(folder / f"measured{number}", HEAD + HONEST, number)
    return (used_s() - begin) / count


def used_s() -> float:
    """The processor time of this process and of those that come of it, with those that they have waited for."""
    return time.process_time() + descendants.used_s(os.getpid())


def left_over() -> list[str]:
    """The processes that come of this one, but for fork servers and what they are forked from, by what they are."""
    servers = [pid for stem in descendants.children(os.getpid()) for pid in descendants.children(stem)]
    return [
        Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")[:80]
        for server in servers
        for pid in descendants.below(server)
    ]


def main() -> None:
    """Runs the evaluations and writes what came of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--evaluations", type=int, default=1000)
    parser.add_argument("--faulty", type=float, default=0.3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=Path)
    asked = parser.parse_args()
    chance = random.Random(asked.seed)
    honest_s, wrong, kinds = [], [], defaultdict[str, Counter[str]](Counter)
    slowest: defaultdict[str, float] = defaultdict(float)
    names = sorted(FAULTS)
    with tempfile.TemporaryDirectory() as place:
        evaluated(Path(place) / "first", HEAD + HONEST, 0)  # the fork server is started
        processor_s = honest_processor_s(Path(place))
        share = round(asked.evaluations * asked.faulty)
        order = [True] * share + [False] * (asked.evaluations - share)
        chance.shuffle(order)
        for number, faulty in enumerate(order):
            name = chance.choice(names) if faulty else ""
            text = HEAD + (f"    {FAULTS[name].body}\n" if faulty else HONEST)
            begin = time.monotonic()
            run, right = evaluated(Path(place) / str(number), text, number)
            seconds = time.monotonic() - begin
            told = {fault.kind for fault in run.faults}
            if not faulty:
                honest_s.append(seconds)
                if not right:
                    wrong.append(f"{number}: honest, {sorted(told)}")
                continue
            slowest[name] = max(slowest[name], seconds)
            kinds[name].update([", ".join(sorted(told)) or "nothing"])
            if right or not told & set(FAULTS[name].kinds):
                wrong.append(f"{number}: {name}, {sorted(told)} {[f.message for f in run.faults]}")
    left = left_over()
    ordered = sorted(honest_s)
    result = {
        "machine": f"{platform.machine()}, Python {platform.python_version()}",
        "evaluations": asked.evaluations,
        "faulty": sum(sum(counter.values()) for counter in kinds.values()),
        "ended otherwise than they should": wrong,
        "processes left": left,
        "processor time of an honest evaluation in s": round(processor_s, 3),
        "load of the machine": [round(load, 1) for load in os.getloadavg()],
        "honest evaluation in s": {
            "median": round(statistics.median(ordered), 3),
            "99th percentile": round(ordered[int(0.99 * (len(ordered) - 1))], 3),
            "worst": round(ordered[-1], 3),
        },
        "faults": {n: {"told": dict(kinds[n]), "slowest in s": round(slowest[n], 2)} for n in sorted(kinds)},
    }
    text = json.dumps(result, indent=2)
    print(text)
    if asked.output:
        asked.output.write_text(text + "\n")


if __name__ == "__main__":
    main()

"""Measure the same kernels again and again on this machine's device: how far apart are the medians?

    python benchmarks/timing_noise/measure.py RESULTS.json [--repeats N] [--only scale:1024]...

A repeat is a whole measurement as `porter bench` makes it: buffers, capture, warm-up, samples in turn with a second arm
that is the same kernel, until the intervals are narrow. Every 40 repeats the process is another. For each kernel the
table has the percentiles of |median / median of all medians - 1|, and of |ratio to itself - 1|. Rows of RESULTS.json
about other kernels stay.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path

import numpy as np

from porter.cache_folder import cache_folder
from porter.contract.model.dtype import DType
from porter.execution.job import Job, Limits, ScalarValue, TensorValue
from porter.measure.interleave import StopRule, interleaved
from porter.native.place import Place, place
from porter.native.requests import PlanEntry
from porter.native.session import Session
from porter.native.timed import Timed
from porter.native.versions import commit
from porter_triton.native import entry_of
from porter_triton.planned_calls import Function
from porter_triton.proof import calls_of

PER_PROCESS = 40
WARM_BLOCKS = 5
KERNELS = """
import torch
import triton
import triton.language as tl


@triton.jit
def scale_kernel(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + i, tl.load(x + i, mask=i < n) * 2.0, mask=i < n)


def scale(x, y, n):
    scale_kernel[(triton.cdiv(n, 1024),)](x, y, n, B=1024)


@triton.jit
def softmax_kernel(x, y, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i)
    e = tl.exp(v - tl.max(v, 0))
    tl.store(y + i, e / tl.sum(e, 0))


def softmax(x, y, n):
    softmax_kernel[(n // 1024,)](x, y, B=1024)


def three(x, y, n):
    scale(x, y, n)
    softmax(y, x, n)
    scale(x, y, n)
"""
# Function and elements: launch-bound, three launches, one that fits in the cache, two that do not.
CASES = (("scale", 1 << 10), ("three", 1 << 14), ("softmax", 1 << 18), ("scale", 1 << 20), ("softmax", 1 << 22))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", type=Path)
    parser.add_argument("--repeats", type=int, default=200)
    parser.add_argument("--only", metavar="KERNEL:ELEMENTS", action="append", default=[])
    arguments = parser.parse_args()
    cases = [case for case in CASES if not arguments.only or f"{case[0]}:{case[1]}" in arguments.only]
    with (
        place(cache_folder(), 60.0, dict(os.environ)) as device,
        tempfile.TemporaryDirectory() as folder,
        device.lock.alone(),
    ):
        module = Path(folder) / "kernels.py"
        module.write_text(KERNELS)
        rows = earlier(arguments.results)
        for name, count in cases:
            row = rows[name, count] = measured_case(device, module, name, count, arguments.repeats)
            ordered = [rows[case] for case in CASES if case in rows]
            arguments.results.write_text(json.dumps(surroundings(device, ordered), indent=1) + "\n")
            print({key: value for key, value in row.items() if key != "medians_us"}, file=sys.stderr)


def earlier(results: Path) -> dict[tuple[str, int], dict]:
    """The rows of the file by function and elements."""
    rows = json.loads(results.read_text())["rows"] if results.exists() else []
    return {(row["kernel"], row["elements"]): row for row in rows}


def surroundings(device: Place, rows: list[dict]) -> dict:
    with device.session() as session:
        facts = session.facts
    return {
        "device": device.device.name,
        "driver": device.device.driver(),
        "cuda": facts.cuda,
        "torch": facts.torch,
        "triton": facts.triton,
        "state": asdict(device.device.state()),
        "worst_p99_of_medians": max(row["medians_p99"] for row in rows),
        "rows": rows,
    }


def measured_case(device: Place, module: Path, function: str, count: int, repeats: int) -> dict:
    began, medians, ratios = time.monotonic(), [], []
    while len(medians) < repeats:
        with (
            device.session(KERNELS) as session,
            tempfile.TemporaryDirectory() as work,
            calls_of(module, Path(work), Limits()) as calls,
        ):
            planned = entry_of(calls, Function(function), job(count), session)
            for _ in range(min(PER_PROCESS, repeats - len(medians))):
                median, ratio = measured(session, planned, job(count))
                medians.append(median)
                ratios.append(ratio)
    middle = statistics.median(medians)
    return {
        "kernel": function,
        "elements": count,
        "commit": commit() or os.environ.get("PORTER_COMMIT", ""),
        "repeats": repeats,
        "median_us": round(middle, 4),
        **percentiles("medians", [abs(m / middle - 1) for m in medians]),
        **percentiles("ratios", [abs(r - 1) for r in ratios]),
        "seconds_a_repeat": round((time.monotonic() - began) / repeats, 3),
        "medians_us": [round(m, 4) for m in medians],
    }


def measured(session: Session, entry: PlanEntry, given: Job) -> tuple[float, float]:
    timed = Timed(session, entry)
    session.forget()
    arms = [timed.prepare(given) for _ in range(2)]
    assert not any(arm.uncaptured for arm in arms), arms

    def sample(order):
        return session.sample(tuple(order), captured=True)

    for _ in range(WARM_BLOCKS):
        sample(range(2))
    found = interleaved(2, sample, StopRule(), time.monotonic)
    return found.timings[0].median_us, found.ratio(1, to=0).median


def job(count: int) -> Job:
    values = np.random.default_rng(0).standard_normal(count).astype(np.float32)
    tensors = (TensorValue(DType.FLOAT32, (count,), v) for v in (values, np.zeros_like(values)))
    return Job(arguments=(*tensors, ScalarValue(count)))


def percentiles(name: str, shares: list[float]) -> dict:
    ordered = sorted(shares)
    return {f"{name}_p{p}": round(ordered[min(len(ordered) - 1, len(ordered) * p // 100)], 5) for p in (50, 90, 99)}


if __name__ == "__main__":
    main()

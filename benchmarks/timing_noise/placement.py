"""Measures how much of a launch-bound time the places of its buffers decide, and how many pages make that no matter.

    python benchmarks/timing_noise/placement.py RESULTS.json [--seconds 170]

All runs in this process, without a worker. First come the parts of the noise: the same buffers captured anew, the same
captures chained anew, other buffers. Then come whole measurements as `measure.py` makes them, with all sets of buffers
in one page of 2 MiB, with eight, four, and one set a page, in turn until the seconds are gone. They show how far the
medians of one variant are from their own median, and two arms of the same kernel from each other.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import torch
import triton
from measure import KERNELS, WARM_BLOCKS, job, percentiles

from porter.cache_folder import cache_folder
from porter.measure.interleave import StopRule, interleaved
from porter.native.capture import Arm, sampled
from porter.native.device import Device
from porter.native.entries import Call
from porter.native.library import device_library
from porter.native.memory import Arguments, slab_bytes
from porter.native.place import place
from porter.native.slab import Slabs

SETS = 32
SHARING = (32, 8, 4, 1)  # sets a page
# Function, elements, and the share of the seconds.
CASES = (("scale", 1 << 10, 0.75), ("softmax", 1 << 18, 0.25))
PLACES, CAPTURES, CHAINS, SAMPLES, ROUNDS = 12, 3, 3, 15, 6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", type=Path)
    parser.add_argument("--seconds", type=float, default=170.0)
    asked = parser.parse_args()
    with (
        place(cache_folder(), 60.0, dict(os.environ)) as held,
        tempfile.TemporaryDirectory() as folder,
        held.lock.alone(),
    ):
        device = opened()
        functions = loaded(Path(folder) / "kernels.py")
        found = {"device": device.described.name, "parts": parts(device, functions.scale), "rows": []}
        for name, count, share in CASES:
            found["rows"] += variants(device, getattr(functions, name), name, count, share * asked.seconds)
            asked.results.write_text(json.dumps(found, indent=1) + "\n")
    print(table(found))


def opened() -> Device:
    """The device, as a worker takes it."""
    device = Device(device_library(cache_folder()))
    torch.cuda.init()
    torch.cuda.set_stream(torch.cuda.ExternalStream(2))  # the stream of each thread
    torch.zeros(1, device="cuda").cpu()
    _ = triton.runtime.driver.active.utils
    return device


def loaded(path: Path):
    path.write_text(KERNELS)
    spec = importlib.util.spec_from_file_location("kernels", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["kernels"] = module
    spec.loader.exec_module(module)
    return module


def variants(device: Device, function: Callable, name: str, count: int, seconds: float) -> list[dict]:
    medians: dict[int, list[float]] = {sharing: [] for sharing in SHARING}
    ratios: dict[int, list[float]] = {sharing: [] for sharing in SHARING}
    began = time.monotonic()
    while time.monotonic() - began < seconds:
        for sharing in SHARING:
            median, ratio = measured(device, lambda arguments: function(*arguments), count, sharing)
            medians[sharing].append(median)
            ratios[sharing].append(ratio)
    return [row(name, count, sharing, medians[sharing], ratios[sharing]) for sharing in SHARING]


def measured(device: Device, call: Call, count: int, sharing: int) -> tuple[float, float]:
    given = job(count)
    arms = [Arm(device, call, given, frozenset(), sharing) for _ in range(2)]
    try:

        def sample(order: Sequence[int]) -> list[float]:
            return sampled(device, arms, order, captured=True)

        for _ in range(WARM_BLOCKS):
            sample(range(2))
        found = interleaved(2, sample, StopRule(), time.monotonic)
        return found.timings[0].median_us, found.ratio(1, to=0).median
    finally:
        for arm in arms:
            arm.free()


def row(name: str, count: int, sharing: int, medians: list[float], ratios: list[float]) -> dict:
    middle = statistics.median(medians)
    return {
        "kernel": name,
        "elements": count,
        "sets_a_page": sharing,
        "repeats": len(medians),
        "median_us": round(middle, 4),
        **percentiles("medians", [abs(m / middle - 1) for m in medians]),
        **percentiles("ratios", [abs(r - 1) for r in ratios]),
        "middle_ratio": round(statistics.median(ratios), 5),
        "medians_us": [round(m, 4) for m in medians],
        "all_ratios": [round(r, 5) for r in ratios],
    }


def parts(device: Device, function: Callable) -> list[dict]:
    """Medians by place, capture and chain, for all sets in one page and for each in its own."""
    given = job(1 << 10)
    found = []
    for sharing in (SETS, 1):
        times = []
        for _ in range(PLACES):
            slabs = Slabs(device, slab_bytes(given.arguments), sharing)
            sets = [Arguments(device, given.arguments, frozenset(), slab=slabs.next()) for _ in range(SETS)]
            times.append([captured(device, function, sets) for _ in range(CAPTURES)])
            slabs.free()
        found.append({"sets_a_page": sharing, "us": times})
    return found


def captured(device: Device, function: Callable, sets: Sequence[Arguments]) -> list[float]:
    """The median of each of several chains of one capture."""
    graphs = [torch._C._CUDAGraph(True) for _ in sets]
    for graph, one in zip(graphs, sets, strict=True):
        function(*one.passed)
        device.synchronize()
        graph.capture_begin(pool=None, capture_error_mode="thread_local")
        function(*one.passed)
        graph.capture_end()
    medians = []
    for _ in range(CHAINS):
        chain = device.chain([graph.raw_cuda_graph() for graph in graphs], ROUNDS)
        device.replay(chain)
        medians.append(statistics.median(device.sample([chain] * SAMPLES)) / (ROUNDS * len(sets)))
        device.drop(chain)
    for graph in graphs:
        graph.reset()
    return [round(median, 4) for median in medians]


def table(found: dict) -> str:
    shares = "p50    p90    p99"
    head = f"kernel   elements  sets a page  repeats  median us  medians {shares}  ratios {shares}  middle"
    lines = [found["device"], "scale 1024, spread by what is made anew, and the medians of all places"]
    lines += [line_of_part(part) for part in found["parts"]]
    return "\n".join([*lines, head, *map(line_of_row, found["rows"])])


def line_of_part(part: dict) -> str:
    times = part["us"]
    chain = statistics.median(spread(chains) for captures in times for chains in captures)
    capture = statistics.median(spread([statistics.fmean(chains) for chains in captures]) for captures in times)
    places = sorted(statistics.fmean(t for chains in captures for t in chains) for captures in times)
    each = " ".join(f"{us:.4f}" for us in places)
    spreads = f"chains {chain:.2%}  captures {capture:.2%}  buffers {spread(places):.2%}"
    return f"{part['sets_a_page']:2} sets a page  {spreads}  {each}"


def line_of_row(r: dict) -> str:
    medians, ratios = ("  ".join(f"{r[f'{name}_p{p}']:5.2%}" for p in (50, 90, 99)) for name in ("medians", "ratios"))
    return (
        f"{r['kernel']:8} {r['elements']:8}  {r['sets_a_page']:11}  {r['repeats']:7}  {r['median_us']:9.4f}  "
        f"      {medians}       {ratios}  {r['middle_ratio']:.4f}"
    )


def spread(times: Sequence[float]) -> float:
    return max(times) / min(times) - 1


if __name__ == "__main__":
    main()

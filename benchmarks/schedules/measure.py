"""Time the modules that `prepare.py` wrote on a device, beside PyTorch and `torch.compile`.

    python benchmarks/schedules/measure.py FOLDER RESULTS.jsonl [--seconds S] [--part K/N]

It needs PyTorch and Triton alone. RESULTS gets a line for each operator and each of its schedules, as they come; what
is there already is not measured again, nor what was begun there and never ended: so it goes on after a crash. A time
is the median of up to twelve calls in microseconds, by events around each; of what is much slower than the best it is
that of two. What a call reads is mostly larger than the cache. This is no verdict: a result is compared with the
reference to 1e-3 (relative) and 1e-3 (absolute), of large outputs at four million elements, and memory is not made
anew between calls, as porter's own clock does. `--part` takes every N-th operator, from K on, for several devices.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
import triton
from calls import about, copied, folders, loaded, made

_CALLS, _FEW_CALLS, _SAMPLE = 12, 2, 1 << 22
_MUCH_SLOWER = 1.5  # than the best so far
_COPIED = 1 << 30  # bytes of the copy that says what memory allows


def main() -> None:
    """Measures operator by operator."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("results", type=Path)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--part", default="0/1")
    arguments = parser.parse_args()
    first, step = map(int, arguments.part.split("/"))
    end = time.monotonic() + arguments.seconds
    lines = arguments.results.read_text().splitlines() if arguments.results.exists() else []
    known = {(row["operator"], row.get("number")) for row in map(json.loads, lines)}
    with arguments.results.open("a") as file:
        for folder in folders(arguments.folder)[first::step]:
            for row in measured(folder, known, end):
                print(json.dumps(row), file=file, flush=True)


def measured(folder: Path, known: set[tuple[str, int | None]], end: float) -> Iterator[dict[str, Any]]:
    """Yields the times of PyTorch, then of each schedule, each announced by a line before it is run."""
    told, name = about(folder), folder.name
    left = [number for number in range(len(told["schedules"])) if (name, number) not in known]
    if not left:
        return
    reference = loaded(folder / "reference.py").reference
    torch.manual_seed(0)
    calls = {which: [made(one) for one in told[which]] for which in ("first", "bench")}
    wanted = {which: reference(*copied(call)) for which, call in calls.items()}
    if (name, None) not in known:
        compiled = torch.compile(reference)
        yield {
            "operator": name,
            "device": torch.cuda.get_device_name(),
            "torch": torch.__version__,
            "triton": triton.__version__,
            "torch_us": microseconds(lambda: reference(*calls["bench"])),
            "compile_us": microseconds(lambda: compiled(*calls["bench"])),
            "copy_bytes_per_us": copy_bytes_per_us(),
        }
    best = float("inf")
    for number in left:
        if time.monotonic() > end:
            return
        row: dict[str, Any] = {"operator": name, "number": number, "schedule": told["schedules"][number]}
        yield {**row, "begun": True}
        try:
            forward = loaded(folder / f"{number}.py").forward
            row["equal"] = all(close(wanted[which], forward(*copied(call))) for which, call in calls.items())
            row["us"] = microseconds(lambda own=forward: own(*calls["bench"]), best)
            best = min(best, row["us"])
        except Exception as error:  # noqa: BLE001 - a schedule that does not run is a result
            row["error"] = f"{type(error).__name__}: {error}"[:200]
        yield row
    torch.cuda.empty_cache()


def close(wanted: Any, own: Any) -> bool:
    """Returns whether two results are equal as far as this looks."""
    if isinstance(wanted, tuple):
        return all(close(a, b) for a, b in zip(wanted, own, strict=True))
    wanted, own = wanted.reshape(-1), own.reshape(-1)
    if wanted.numel() > _SAMPLE:
        chosen = torch.randint(0, wanted.numel(), (_SAMPLE,), device=wanted.device)
        wanted, own = wanted[chosen], own[chosen]
    return torch.allclose(wanted.double(), own.double(), rtol=1e-3, atol=1e-3)


def microseconds(call: Callable[[], object], best: float = float("inf")) -> float:
    """Returns the median time of a call; of one that is much slower than `best` of few calls."""
    call()
    times = [once(call) for _ in range(_FEW_CALLS)]
    if min(times) < _MUCH_SLOWER * best:
        times = [once(call) for _ in range(_CALLS)]
    return statistics.median(times)


def once(call: Callable[[], object]) -> float:
    """Returns the time of one call."""
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    call()
    end.record()
    torch.cuda.synchronize()
    return float(begin.elapsed_time(end)) * 1e3


def copy_bytes_per_us() -> float:
    """Returns the bytes that a copy within the device's memory reads and writes in a microsecond."""
    source = torch.empty(_COPIED, dtype=torch.uint8, device="cuda")
    to = torch.empty_like(source)
    return 2 * _COPIED / microseconds(lambda: to.copy_(source))


if __name__ == "__main__":
    main()

"""Time the modules that `prepare.py` wrote on a device, beside PyTorch and `torch.compile`.

    python benchmarks/schedules/measure.py FOLDER RESULTS.jsonl [--seconds S] [--part K/N]

It needs PyTorch and Triton alone. RESULTS gets a line for each operator and each of its schedules, as they come. A time
is the median of twelve calls in microseconds, by events around each; what a call reads is mostly larger than the cache.
This is no verdict: a result is compared with the reference to 1e-3 (relative) and 1e-3 (absolute), of large outputs at
four million elements, and memory is not made anew between calls, as porter's own clock does. `--part` takes every N-th
operator, from K on, for several devices.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
import triton

_CALLS, _SAMPLE = 12, 1 << 22


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
    for folder in sorted(path for path in arguments.folder.iterdir() if path.is_dir())[first::step]:
        for row in measured(folder, end):
            with arguments.results.open("a") as file:
                file.write(json.dumps(row) + "\n")


def measured(folder: Path, end: float) -> Iterator[dict[str, Any]]:
    """Yields the times of PyTorch, then of each schedule."""
    about = json.loads((folder / "about.json").read_text())
    reference = loaded(folder / "reference.py").reference
    torch.manual_seed(0)
    calls = {name: [made(one) for one in about[name]] for name in ("first", "bench")}
    wanted = {name: reference(*copied(call)) for name, call in calls.items()}
    compiled = torch.compile(reference)
    yield {
        "operator": folder.name.replace("+", "/"),
        "device": torch.cuda.get_device_name(),
        "torch": torch.__version__,
        "triton": triton.__version__,
        "torch_us": microseconds(lambda: reference(*calls["bench"])),
        "compile_us": microseconds(lambda: compiled(*calls["bench"])),
    }
    for number, words in enumerate(about["schedules"]):
        if time.monotonic() > end:
            return
        row: dict[str, Any] = {"operator": folder.name.replace("+", "/"), "schedule": words}
        try:
            forward = loaded(folder / f"{number}.py").forward
            row["equal"] = all(close(wanted[name], forward(*copied(call))) for name, call in calls.items())
            row["us"] = microseconds(lambda own=forward: own(*calls["bench"]))
        except Exception as error:  # noqa: BLE001 - a schedule that does not run is a result
            row["error"] = f"{type(error).__name__}: {error}"[:200]
        yield row
    torch.cuda.empty_cache()


def loaded(path: Path) -> ModuleType:
    """Returns the module in a file."""
    spec = importlib.util.spec_from_file_location(f"{path.parent.name}_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def made(about: dict[str, Any]) -> Any:
    """Returns an argument."""
    if "dtype" not in about:
        return about["value"]
    dtype, shape = getattr(torch, about["dtype"]), about["shape"]
    if dtype == torch.bool:
        return torch.rand(shape, device="cuda") < 0.5
    if not dtype.is_floating_point:
        return torch.randint(0, 3, shape, device="cuda", dtype=dtype)
    draw = torch.randn if about["values"] == "normal" else torch.rand
    return draw(shape, device="cuda", dtype=dtype)


def copied(call: Sequence[Any]) -> list[Any]:
    """Returns arguments that may be written: small tensors, which the batch norm has, are copied."""
    return [one.clone() if isinstance(one, torch.Tensor) and one.numel() < 1 << 20 else one for one in call]


def close(wanted: Any, own: Any) -> bool:
    """Returns whether two results are equal as far as this looks."""
    if isinstance(wanted, tuple):
        return all(close(a, b) for a, b in zip(wanted, own, strict=True))
    wanted, own = wanted.reshape(-1), own.reshape(-1)
    if wanted.numel() > _SAMPLE:
        chosen = torch.randint(0, wanted.numel(), (_SAMPLE,), device=wanted.device)
        wanted, own = wanted[chosen], own[chosen]
    return torch.allclose(wanted.double(), own.double(), rtol=1e-3, atol=1e-3)


def microseconds(call: Callable[[], object]) -> float:
    """Returns the median time of a call."""
    for _ in range(3):
        call()
    torch.cuda.synchronize()
    times = []
    for _ in range(_CALLS):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        call()
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end) * 1e3)
    return statistics.median(times)


if __name__ == "__main__":
    main()

"""Compile the kernels of the modules that `prepare.py` wrote, at the sizes at which they are timed; launch nothing.

    python benchmarks/schedules/compile.py FOLDER [--jobs N] [--seconds S]

Triton's cache then has all that `measure.py` launches, so that the device waits for no compiler. Needs a device for its
driver to be found, no memory on it.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import torch
import triton
from calls import about, folders, loaded, made, modules
from triton.runtime.jit import JITFunction


class Ghost:
    """A tensor of which only type, shape and alignment are there."""

    device = "cuda"

    def __init__(self, shape: Sequence[int], dtype: torch.dtype) -> None:
        self.shape = tuple(shape)
        self.dtype = dtype

    def data_ptr(self) -> int:
        """Returns an address like that of any allocation."""
        return 256

    def is_contiguous(self) -> bool:
        """Returns True."""
        return True

    def contiguous(self) -> Ghost:
        """Returns the tensor itself."""
        return self

    def numel(self) -> int:
        """Returns how many elements there would be."""
        return math.prod(self.shape)

    def size(self, axis: int) -> int:
        """Returns an extent."""
        return self.shape[axis]


def ghost(shape: Sequence[int], *, dtype: torch.dtype, device: str = "cuda") -> Ghost:  # noqa: ARG001 - as in torch
    """Returns a tensor that holds nothing."""
    return Ghost(shape, dtype)


def compiled(path: Path) -> tuple[str, str]:
    """Compiles what a module launches at the bench sizes; returns its name, and the reason where that failed."""
    run = JITFunction.run

    def only_compile(function: Any, *given: Any, grid: Any, warmup: bool, **named: Any) -> Any:  # noqa: ARG001
        return run(function, *given, grid=grid, warmup=True, **named)

    name = f"{path.parent.name}/{path.stem}"
    call = [made(one, ghost) for one in about(path.parent)["bench"]]
    torch.empty, torch.zeros, JITFunction.run = ghost, ghost, only_compile  # type: ignore[assignment]
    try:
        loaded(path).forward(*call)
    except Exception as error:  # noqa: BLE001 - a schedule that does not compile is a result
        return name, f"{type(error).__name__}: {error}"[:200]
    finally:
        JITFunction.run = run
    return name, ""


def main() -> None:
    """Compiles all modules, those of each operator in turn."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--jobs", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    arguments = parser.parse_args()
    end = time.monotonic() + arguments.seconds
    every = [list(modules(folder)) for folder in folders(arguments.folder)]
    longest = max(map(len, every))
    in_turn = [own[number] for number in range(longest) for own in every if number < len(own)]
    done = 0
    with ProcessPoolExecutor(arguments.jobs) as pool:
        asked = [pool.submit(compiled, path) for path in in_turn]
        for future in as_completed(asked):
            name, because = future.result()
            done += not because
            if because:
                print(f"{name}: {because}", flush=True)
            if time.monotonic() > end:
                pool.shutdown(wait=False, cancel_futures=True)
                break
    print(f"{done} of {len(in_turn)} compiled with Triton {triton.__version__}", flush=True)


if __name__ == "__main__":
    main()

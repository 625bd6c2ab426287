"""One process at a time on a device, and calls timed there as graphs. It needs PyTorch and Triton alone."""

from __future__ import annotations

import fcntl
import math
import os
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

_CACHE = 120 << 20  # bytes: more than twice the second-level cache of an H100
_MOST_SETS = 16
_SAMPLE_US = 300.0
_LEAST_ROUNDS, _MOST_ROUNDS, _BUDGET_US = 5, 15, 150_000.0

Call = Callable[..., Any]


class Turns:
    """A lock across processes: who holds it has the device alone, but for the first launch of what others compiled."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_CREAT | os.O_RDWR)
        self._is_held = False

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Waits for the device, and for what runs there at the end."""
        if self._is_held:
            yield
            return
        fcntl.flock(self._file, fcntl.LOCK_EX)
        self._is_held = True
        try:
            yield
        finally:
            torch.cuda.synchronize()
            self._is_held = False
            fcntl.flock(self._file, fcntl.LOCK_UN)

    def take_for_tuning(self) -> None:
        """Has PyTorch's compiler wait for the device before it times its own choices."""
        from torch._inductor.runtime.triton_heuristics import CachingAutotuner  # noqa: PLC0415 - a second of import

        tune = CachingAutotuner.benchmark_all_configs

        def tuned(*given: Any, **named: Any) -> Any:
            with self.alone():
                return tune(*given, **named)

        CachingAutotuner.benchmark_all_configs = tuned


class Chain:
    """Calls on several sets of inputs, larger than the cache together, as one graph, or as they are."""

    def __init__(self, call: Call, sets: Sequence[Sequence[Any]], pool: Any) -> None:
        self.sets = len(sets)
        self.because = ""
        self._calls = [(call, one) for one in sets]
        self._graph: torch.cuda.CUDAGraph | None = torch.cuda.CUDAGraph()
        try:
            with torch.cuda.graph(self._graph, pool=pool):
                for one in sets:
                    call(*one)
        except Exception as error:  # noqa: BLE001 - what is not captured is a result
            torch.cuda.synchronize()
            self.because = f"{type(error).__name__}: {error}"[:160]
            self._graph = None

    def run(self) -> None:
        """Begins all calls."""
        if self._graph is not None:
            self._graph.replay()
            return
        for call, one in self._calls:
            call(*one)

    def sample_us(self, times: int) -> float:
        """Returns the time of one call, in microseconds, over this many rounds of the chain."""
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        for _ in range(times):
            self.run()
        end.record()
        torch.cuda.synchronize()
        return float(begin.elapsed_time(end)) * 1e3 / (times * self.sets)


def sets_of(bytes_of_call: int) -> int:
    """Returns how many sets of inputs are larger than the cache together."""
    return max(1, min(_MOST_SETS, math.ceil(_CACHE / max(bytes_of_call, 1))))


def samples(chains: Mapping[str, Chain], seed: str) -> Mapping[str, list[float]]:
    """Returns times of one call of each, in turn, each round in another order."""
    for chain in chains.values():
        chain.run()
    first = {name: chain.sample_us(1) for name, chain in chains.items()}
    times = {name: max(1, round(_SAMPLE_US / (first[name] * chain.sets))) for name, chain in chains.items()}
    round_us = sum(first[name] * times[name] * chain.sets for name, chain in chains.items())
    rounds = max(_LEAST_ROUNDS, min(_MOST_ROUNDS, int(_BUDGET_US / round_us)))
    found: dict[str, list[float]] = {name: [] for name in chains}
    order, draw = list(chains), random.Random(seed)
    for _ in range(rounds):
        draw.shuffle(order)
        for name in order:
            found[name].append(round(chains[name].sample_us(times[name]), 3))
    return found

"""Remembers recent arrays by what they were made from: inputs of a workload are asked for again and again."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.generic]


@dataclass
class Remembered:
    """The arrays asked for last, up to `most_bytes`; one larger than a quarter of that is not kept."""

    most_bytes: int
    _kept: OrderedDict[Hashable, Array] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def get(self, key: Hashable, make: Callable[[], Array]) -> Array:
        """Returns a copy of what was kept by `key`, or what `make` makes: the caller may change it."""
        with self._lock:
            kept = self._kept.get(key)
            if kept is not None:
                self._kept.move_to_end(key)
        if kept is not None:
            return kept.copy()
        made = make()
        if made.nbytes <= self.most_bytes // 4:
            self._keep(key, made.copy())
        return made

    def _keep(self, key: Hashable, made: Array) -> None:
        with self._lock:
            self._kept[key] = made
            while sum(array.nbytes for array in self._kept.values()) > self.most_bytes:
                self._kept.popitem(last=False)

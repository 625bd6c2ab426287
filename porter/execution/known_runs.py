"""Remembers runs of originals.

Settling a contract, trying smaller sizes and examining answers ask for many of them again, and the executor gives the
same answer each time.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from hashlib import sha256

import numpy as np

from porter.execution.job import Executable, FaultKind, Job, Limits, Run, TensorValue, Value

_MOST_BYTES, _LARGEST = 96 << 20, 12 << 20
_COMPUTING = 0.9  # of what it may take: a run that was broken off did not wait for anything


@dataclass(frozen=True, slots=True)
class _Known:
    """A run. One that was broken off was `allowed_s` of processor time, which was too little; any other has none."""

    run: Run
    allowed_s: float | None

    def stands_for(self, limits: Limits) -> bool:
        """Returns whether the same job within `limits` would come to the same end."""
        return self.run.seconds <= limits.cpu_s if self.allowed_s is None else limits.cpu_s <= self.allowed_s


@dataclass
class KnownRuns:
    """Keeps the last runs, up to some memory, each by its executable, its entry and all that its job holds."""

    _kept: OrderedDict[tuple[str, int, bytes], _Known] = field(default_factory=OrderedDict)
    _bytes: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def get(self, executable: Executable, job: Job, limits: Limits, make: Callable[[], Run]) -> Run:
        """Returns the known run of `job`, if it would be the same within `limits`, else what `make` makes."""
        if sum(value.storage.nbytes for value in job.arguments if isinstance(value, TensorValue)) > _LARGEST:
            return make()  # to read through all of it takes as long as many a run
        key = executable.path, executable.index, _digest(job)
        with self._lock:
            known = self._kept.get(key)
        if known is not None and known.stands_for(limits):
            return known.run
        made = make()
        kinds = {fault.kind for fault in made.faults}
        waited = FaultKind.TIMEOUT in kinds and made.seconds < _COMPUTING * limits.cpu_s
        if not waited and FaultKind.RESOURCE not in kinds:  # which hang on the machine, and what else runs there
            self._keep(key, _Known(made, limits.cpu_s if FaultKind.TIMEOUT in kinds else None))
        return made

    def _keep(self, key: tuple[str, int, bytes], known: _Known) -> None:
        size = _bytes(known)
        if size > _LARGEST:
            return
        with self._lock:
            self._bytes += size - _bytes(self._kept.pop(key, None))
            self._kept[key] = known
            while self._bytes > _MOST_BYTES:
                self._bytes -= _bytes(self._kept.popitem(last=False)[1])


def _digest(job: Job) -> bytes:
    """Returns the digest of all that a run depends on, except for its limits."""
    found = sha256()  # three times as fast as blake2b, by instructions of its own
    launch = job.grid, job.block, job.shared_bytes
    found.update(repr((job.schedule, job.seed, job.poison, job.mask_policy, job.hardware, *launch)).encode())
    for values in (job.arguments, job.before):
        found.update(repr(len(values)).encode())
        _add(found.update, values)
    return found.digest()


def _add(update: Callable[[bytes | memoryview], None], values: Iterable[Value]) -> None:
    for value in values:
        if isinstance(value, TensorValue):
            update(repr((value.dtype, value.shape, value.null, value.layout, value.storage.dtype)).encode())
            update(np.ascontiguousarray(value.storage).reshape(-1).view(np.uint8).data)
        else:
            update(repr((type(value.value), value.value)).encode())


def _bytes(known: _Known | None) -> int:
    return sum(v.storage.nbytes for v in (*known.run.outputs, *known.run.results)) if known is not None else 0

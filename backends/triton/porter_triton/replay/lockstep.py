"""Runs programs of a launch together: each operation is done once, for a batch of them.

Triton's interpreter runs one program after the other, and most of its time goes into the operations as such, whatever
the number of elements: a row of 300 elements takes as long as one of 4,000. In lockstep every array has one more axis,
the first, along which the programs lie; what is the same for all has the extent 1 there.

Where the programs of a batch decide differently (`if`, the bounds of a loop) it is split, and each part starts anew.
What it has loaded by then it takes from a log, and what it has stored it does not store again.

Only programs that do not depend on each other may run so. Whatever is seen or done that says otherwise ends the attempt
with `NotInLockstepError`, and the launch is run again, one program after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from porter_triton.replay.watch import Watch

_FIRST = 16  # programs of the first batch, from which it is seen how many elements a program has
_ELEMENTS = 1 << 15  # of an array of a batch: beyond, the elements take the time
_MOST = 1 << 10  # programs of a batch
_LOG_BYTES = 1 << 26
# How often batches may be split: more often, and most of the time goes into starting anew. A kernel of which one thread
# looks through what the others found took twice as long as one program after the other.
_SPLITS, _PROGRAMS_A_SPLIT = 4, 4
_WARP_SIZE = 32

Array = NDArray[Any]


class NotInLockstepError(Exception):
    """The programs of a launch cannot run together, or must not."""


class _SplitError(Exception):
    """The programs of a batch go on apart: `keys` has a number for each, the same for those that stay together."""

    def __init__(self, keys: Array) -> None:
        super().__init__("programs decide differently")
        self.keys = keys


def needs_barrier(shape: Sequence[int]) -> bool:
    """Returns whether a tile of this shape is exchanged through shared memory, between barriers."""
    return len(shape) == 1 and shape[0] > _WARP_SIZE


@dataclass
class Batch:
    """Programs that run together, by their places in the grid and in the watch.

    `log` has what each access gave them before they were split from others, None for one that gives nothing.
    """

    places: NDArray[np.int64]
    running: NDArray[np.int64]
    epochs: NDArray[np.int64]
    log: list[Array | None] = field(default_factory=list)
    log_bytes: int = 0
    done: int = 0

    @property
    def count(self) -> int:
        """Returns how many programs it has."""
        return len(self.places)

    def parts(self, keys: Array) -> Iterator[Batch]:
        """Yields a batch for each different number among `keys`, in the order of their first programs."""
        _, first, part = np.unique(keys, return_index=True, return_inverse=True)
        for number in np.argsort(first):
            rows = (part == number).nonzero()[0]
            log = [None if entry is None else entry[rows] for entry in self.log]
            bytes_ = self.log_bytes * len(rows) // self.count
            yield Batch(self.places[rows], self.running[rows], self.epochs[rows], log, bytes_)


class Lockstep:
    """Runs the programs of one launch after the other in batches; `batch` is the one that runs, if any."""

    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        self.batch: Batch | None = None
        self._widest = 1
        self._grid = (1, 1, 1)
        self._splits = self._ended = 0

    def run(self, grid: tuple[int, int, int], order: NDArray[np.int64], program: Callable[[], object]) -> None:
        """Runs `program` for all places of the grid, in this order. Raises `NotInLockstepError` where that is wrong."""
        self._grid, self._widest, self._splits, self._ended = grid, 1, 0, 0
        waiting, size = order, _FIRST
        try:
            while waiting.size:
                self._run(self._begun(waiting[:size]), program)
                waiting = waiting[size:]
                size = min(max(_ELEMENTS // self._widest, 1), _MOST)
        finally:
            self.batch = None

    def _begun(self, places: NDArray[np.int64]) -> Batch:
        running, epochs = self._watch.begin_programs(len(places))
        return Batch(places, running, epochs)

    def _run(self, batch: Batch, program: Callable[[], object]) -> None:
        """Runs a batch to its end, and all that it is split into."""
        pending = [batch]
        while pending:
            self.batch = batch = pending.pop()
            self._watch.go_on(batch.running, batch.epochs)
            try:
                program()
                self._ended += batch.count
            except _SplitError as split:
                batch.epochs = self._watch.epochs
                pending.extend(reversed(list(batch.parts(split.keys))))
                self._splits += 1
                if self._splits > _SPLITS + self._ended // _PROGRAMS_A_SPLIT:
                    raise NotInLockstepError("its programs decide differently too often") from None

    def place(self, axis: int) -> Array:
        """Returns where the programs lie along an axis of the grid."""
        return np.unravel_index(self._batch.places, self._grid)[axis].astype(np.int32)[:, None]

    def extent(self, axis: int) -> int:
        """Returns how many programs lie along an axis of the grid."""
        return self._grid[axis]

    def one(self, values: Array) -> Any:  # noqa: ANN401 - a number or a truth value
        """Returns the one value that all programs have; splits the batch where they have several."""
        flat = values.reshape(-1)
        if (flat != flat[0]).any():
            raise _SplitError(flat)
        return flat[0].item()

    def loaded(self, load: Callable[[], Array]) -> Array:
        """Returns what `load` gives, a row for each program; what it gave where the batch has been there before."""
        batch = self._batch
        if batch.done < len(batch.log):
            found = batch.log[batch.done]
            assert found is not None
        else:
            self._keep_log_short()
            found = load()
            batch.log.append(found)
            batch.log_bytes += found.nbytes
            self._widest = max(self._widest, found.size // batch.count)
        batch.done += 1
        return found

    def exchanged(self, shape: Sequence[int]) -> None:
        """Notes that the lanes of each program exchange a tile of this shape."""
        if needs_barrier(shape):
            self.did(self._watch.barrier)

    def did(self, change: Callable[[], object]) -> None:
        """Makes a change, unless the batch has made it before."""
        batch = self._batch
        if batch.done == len(batch.log):
            change()
            batch.log.append(None)
        batch.done += 1

    def _keep_log_short(self) -> None:
        """Splits the batch in two where its log takes much memory; one program alone is never split, and needs none."""
        batch = self._batch
        if batch.count == 1:
            batch.log, batch.done = [], 0
        elif batch.log_bytes > _LOG_BYTES:
            raise _SplitError(np.arange(batch.count) * 2 // batch.count)

    def rows(self, data: Array) -> Array:
        """Returns an array with a row for each program, which lies in memory without gaps."""
        if len(data) == self._batch.count and data.flags.c_contiguous and data.flags.writeable:
            return data
        return np.array(np.broadcast_to(data, (self._batch.count, *data.shape[1:])), order="C")

    @property
    def _batch(self) -> Batch:
        assert self.batch is not None
        return self.batch

"""What one pass over a kernel finds out for the next."""

from __future__ import annotations

from collections.abc import Sized
from dataclasses import dataclass, field

from porter.syntax.nodes import Call
from porter_triton.lower.pending import Pending
from porter_triton.lower.places import Key
from porter_triton.lower.types import Arithmetic


@dataclass(frozen=True, slots=True)
class FewTurns:
    """A loop that could be written out, its counter in the output, and whether threads may leave it early."""

    counter: str
    key: Key
    early: bool = False


@dataclass(slots=True)
class Decisions:
    """Grows until a pass finds nothing new."""

    varying: set[Key] = field(default_factory=set)  # variables that differ between threads
    indexing: dict[Key, dict[Key, int]] = field(default_factory=dict)  # loops that index registers: arrays, their sizes
    tensors: set[Key] = field(default_factory=set)  # local arrays indexed by what is not known here
    stored: set[str] = field(default_factory=set)  # buffers written
    loaded: set[str] = field(default_factory=set)  # buffers read
    split: dict[Key, Arithmetic] = field(default_factory=dict)  # variables whose parts are used as this smaller type
    pointed: set[Key] = field(default_factory=set)  # pointers set later that point to what has no address
    scratch: set[Key] = field(default_factory=set)  # shared arrays that must lie in memory
    unknown: dict[Key, object] = field(
        default_factory=dict
    )  # small shared arrays with an index that a pass did not know
    indexed: set[Key] = field(default_factory=set)  # those of which no later pass knew it, either
    absent: set[str] = field(default_factory=set)  # pointers that may be null behind conditions of a run
    fences: set[int] = field(default_factory=set)  # lines of fences between blocks
    made: dict[object, Call] = field(default_factory=dict)  # calls that the source does not spell out
    told: dict[tuple[int, object], tuple[object, object]] = field(default_factory=dict)  # nodes, what is known of them
    rewritten: dict[object, object] = field(default_factory=dict)  # nodes made of the source's, the same in every pass
    replaced: set[Key] = field(default_factory=set)  # variables that a loop gives another value than a sum
    rounds: dict[Key, Pending] = field(default_factory=dict)  # accesses in a loop

    @property
    def size(self) -> int:
        """Returns how much is known."""
        sets: tuple[Sized, ...] = (
            self.varying,
            self.tensors,
            self.stored,
            self.loaded,
            self.scratch,
            self.unknown,
            self.indexed,
            self.fences,
            self.absent,
            self.replaced,
            self.split,
            self.pointed,
            *self.indexing.values(),
            *self.rounds.values(),
        )
        return sum(len(s) for s in sets)

    def written_out(self, loop: Key) -> bool:
        """Returns whether a loop must be written out: it indexes registers that are no tensor, nor better one."""
        arrays = self.indexing.get(loop, {})
        return any(key not in self.tensors and not self.beside_tensor(loop, size) for key, size in arrays.items())

    def beside_tensor(self, loop: Key, size: int) -> bool:
        """Returns whether a loop runs through a tensor no larger than `size`: to write it out makes nothing else
        simpler.
        """
        return any(key in self.tensors and other <= size for key, other in self.indexing.get(loop, {}).items())

"""What has been done to memory since the last barrier, which tells where the next one must stand."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pending:
    """`stored` are buffers written; `widths` how many elements a lane took at once, of each buffer read or written.

    A width of 0 is one number, which a thread of Triton's choice stores. Triton lays tiles of different widths
    differently over its threads: what one thread of the source does first and then, two threads may do here.
    """

    stored: frozenset[str] = frozenset()
    widths: frozenset[tuple[str, int]] = frozenset()

    def __or__(self, other: Pending) -> Pending:
        return Pending(self.stored | other.stored, self.widths | other.widths)

    def __len__(self) -> int:
        return len(self.stored) + len(self.widths)

    @property
    def touched(self) -> frozenset[str]:
        """The buffers read or written."""
        return self.stored | {base for base, _ in self.widths}

    def read(self, bases: frozenset[str], width: int) -> Pending:
        """After a load of `width` elements a lane."""
        return Pending(self.stored, self.widths | {(base, width) for base in bases})

    def written(self, bases: frozenset[str], width: int) -> Pending:
        """After a store of `width` elements a lane."""
        return Pending(self.stored | bases, self.widths | {(base, width) for base in bases})

    def bars_load(self, bases: frozenset[str]) -> bool:
        """Returns whether a load must wait for the stores of other threads."""
        return bool(bases & self.stored)

    def bars_store(self, bases: frozenset[str], width: int) -> bool:
        """Returns whether a store must wait for accesses that other threads may do."""
        return any(base in bases and other != width for base, other in self.widths)

    def bars(self, later: Pending) -> bool:
        """Returns whether the accesses `later` must wait for these, for they are of another width."""
        bases = self.stored | later.stored
        return any(later.bars_store(frozenset({base}), width) for base, width in self.widths if base in bases)

"""A limit shared among entries: each has its turn, and what one does not use passes to those behind it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from porter.contract.contract import Contract, EntryKind
from porter.measure.deadline import Deadline, Span

# On a quiet machine an elementwise kernel takes 0.7 s, a softmax 4 to 10: with less nothing would be proven. Of a file
# with 117 entries none was proven with 6 s either.
LEAST_S = 2.0


@dataclass
class Turns:
    """The turns of `count` entries within `deadline`; `kept` shares are left for what is proven behind all of them."""

    deadline: Deadline
    count: int
    kept: int = 0
    taken: int = 0

    @classmethod
    def of(cls, contracts: Sequence[Contract], deadline: Deadline) -> Turns:
        """The turns of these entries: what a program or several functions do not show the kernels behind them may."""
        kinds = [contract.entry.kind for contract in contracts]
        in_parts = EntryKind.PROGRAM in kinds or sum(kind is not EntryKind.KERNEL for kind in kinds) > 1
        return cls(deadline, len(contracts), int(in_parts))

    @contextmanager
    def next(self) -> Iterator[Span]:
        """The next turn: what is left of the limit, divided by the shares that are left, but `LEAST_S` at the least."""
        waiting = self.count - self.taken + self.kept
        self.taken += 1
        with self.deadline.span(max(self.deadline.left_s / waiting, LEAST_S)) as span:
            yield span

    def late(self, doing: str) -> str:
        """Returns what is said of an entry whose turn was over while it was `doing` something."""
        limit_s, shares = self.deadline.limit_s or 0.0, self.count + self.kept
        return f"its share of the limit of {limit_s:g} s, which {shares} have, was over while {doing} (--limit)"

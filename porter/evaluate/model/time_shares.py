"""Shares a limit among entries: each has its turn, and passes the time it does not use to those behind it.

What is left in the end passes to those whose turns were over: they came before anyone knew how little others need.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from porter.contract.model.contract import Contract, EntryKind
from porter.measure.deadline import Deadline, Span

# On a quiet machine an elementwise kernel takes 0.7 s, a softmax 4 to 10: with less, little would be proven of any. Of
# 18 softmax kernels in 60 s on a busy machine one was proven with equal parts, two with these in front.
LEAST_S = 6.0


@dataclass
class TimeShares:
    """The turns of `count` entries within `deadline`; `kept` shares are left for entries proven behind all of them."""

    deadline: Deadline
    count: int
    kept: int = 0
    taken: int = 0

    @classmethod
    def of(cls, contracts: Sequence[Contract], deadline: Deadline) -> TimeShares:
        """Returns the turns of these entries; kernels behind a program, or behind several functions, share one more."""
        kinds = [contract.entry.kind for contract in contracts]
        in_parts = EntryKind.PROGRAM in kinds or sum(kind is not EntryKind.KERNEL for kind in kinds) > 1
        return cls(deadline, len(contracts), int(in_parts))

    @property
    def share_s(self) -> float:
        """The length of the next turn: the rest of the limit by the rest of the shares, at least `LEAST_S`."""
        return max(self.deadline.left_s / (self.count - self.taken + self.kept), LEAST_S)

    @contextmanager
    def next(self) -> Iterator[Span]:
        """Yields the next turn."""
        share_s = self.share_s
        self.taken += 1
        with self.deadline.span(share_s) as span:
            yield span

    def again(self, count: int) -> TimeShares:
        """Returns the turns of `count` of the entries, once all have had theirs."""
        return TimeShares(self.deadline, count, self.kept)

    def late(self, doing: str) -> str:
        """Returns what is said of an entry whose turn was over while it was `doing` something."""
        limit_s, shares = self.deadline.limit_s or 0.0, self.count + self.kept
        return f"its share of the limit of {limit_s:g} s, which {shares} have, was over while {doing} (--limit)"

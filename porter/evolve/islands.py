"""Several archives in a ring: good candidates reach the neighbour now and then, never all at once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from porter.evolve.archive import Added, Archive, Decision, rank
from porter.evolve.axis import Axis
from porter.evolve.proposer import Member


@dataclass(frozen=True, slots=True)
class Move:
    """An elite that was shown to the next island, and that island's decision."""

    source: int
    target: int
    digest: str
    added: Added


class Islands:
    """Archives with the same axes, in a ring."""

    def __init__(self, axes: Sequence[Axis], count: int) -> None:
        self.archives = tuple(Archive(axes) for _ in range(count))
        self._arrival: dict[str, int] = {}

    @property
    def best(self) -> Member | None:
        """The best elite of all islands; of equals, the one that came first."""
        tops = [best for archive in self.archives if (best := archive.best)]
        return max(tops, key=lambda top: (rank(top), -self._arrival[top.scored.digest]), default=None)

    def add(self, member: Member, island: int | None) -> Decision:
        """Shows a candidate to an island, or to all: then the first one decides, and all others are copies of it.

        Raises:
            ValueError: its score is of another measure than those of other islands, or its cell lies outside.
        """
        for archive in self.archives:
            archive.judge(member)  # raises: an island that has no elites yet takes any measure: the others must, too
        self._arrival.setdefault(member.scored.digest, len(self._arrival))
        if island is not None:
            return self.archives[island].add(member)
        decisions = [archive.add(member) for archive in self.archives]
        return decisions[0]

    def measured_again(self, member: Member) -> Decision:
        """Replaces an elite's outcome wherever it is one; the decision is that of the first such island."""
        digest = member.scored.digest
        holding = [
            archive
            for archive in self.archives
            if any(elite.scored.digest == digest for elite in archive.elites.values())
        ]
        decisions = [archive.measured_again(member) for archive in holding]
        return decisions[0] if decisions else Decision(Added.NO, "no elite")

    def migrate(self, share: float) -> tuple[Move, ...]:
        """Shows the top `share` of each island, at least one, to the next; nothing is evaluated again."""
        count = len(self.archives)
        if count == 1:
            return ()
        leaving = [archive.ranked() for archive in self.archives]
        return tuple(
            Move(source, target, member.scored.digest, self.archives[target].add(member).added)
            for source, elites in enumerate(leaving)
            for target in [(source + 1) % count]
            for member in elites[: math.ceil(share * len(elites))]
        )

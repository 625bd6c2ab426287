"""A single change of a port's text, and which of all possible ones are tried."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """The ways in which a mutation changes a port."""

    OPERATOR = "operator"
    COMPARISON = "comparison"
    EXTREMUM = "minimum or maximum"
    CONSTANT = "constant"
    BOUND = "bound"
    SIGN = "sign"
    INDEX = "index"
    MASK = "mask"
    DTYPE = "dtype"
    GRID = "grid"
    REMOVED = "removed statement"
    SWAPPED = "swapped"


@dataclass(frozen=True, slots=True, order=True)
class Mutation:
    """`text[start:end]` becomes `replacement`; nothing else changes."""

    start: int
    end: int
    replacement: str
    kind: Kind

    def applied(self, text: str) -> str:
        """The text after the change."""
        return text[: self.start] + self.replacement + text[self.end :]

    def line(self, text: str) -> int:
        """The line of `text`, from 1 on, on which the change begins."""
        return text.count("\n", 0, self.start) + 1

    def shown(self, text: str) -> str:
        """The lines that change, before and after, as a diff has them."""
        first = text.rfind("\n", 0, self.start) + 1
        last = text.find("\n", self.end)
        last = len(text) if last < 0 else last
        before = text[first:last].splitlines()
        after = (text[first : self.start] + self.replacement + text[self.end : last]).splitlines()
        return "\n".join([f"@@ line {self.line(text)}", *(f"-{s}" for s in before), *(f"+{s}" for s in after)])


def chosen(mutations: Iterable[Mutation], seed: str, count: int) -> tuple[Mutation, ...]:
    """`count` of `mutations`, or all where there are fewer, the same for the same seed.

    Kinds take turns, so that the many constants of a port do not crowd out its few bounds.
    """
    drawn = random.Random(seed)
    by_kind: dict[Kind, list[Mutation]] = defaultdict(list)
    for mutation in sorted(set(mutations)):
        by_kind[mutation.kind].append(mutation)
    queues = [by_kind[kind] for kind in sorted(by_kind)]
    for queue in queues:
        drawn.shuffle(queue)
    drawn.shuffle(queues)
    longest = max(map(len, queues), default=0)
    return tuple(queue[n] for n in range(longest) for queue in queues if n < len(queue))[:count]

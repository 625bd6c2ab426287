"""What becomes of a sum behind its loop: whether each thread's own part counts, or only the sum of all.

A tile of several turns gives a thread's part to a lane that has those of its neighbours, too. Where only all parts
together are asked for, none is put together. Where lanes exchange parts, they are put where Triton has them by default
before: in the tile's layout each warp exchanges those of the whole block, and what is made of them goes from layout to
layout.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass, field

from porter_triton.device.source import helpers, helpers_in
from porter_triton.lower.emit import Comment, Line, Node, Suite, lines_of

_EXCHANGES = re.compile(r"tl\.(gather|associative_scan|cumsum|cumprod|sort)\(")


@dataclass(frozen=True, slots=True)
class After:
    """The statements that follow in the same suite, and the names that are read behind that."""

    nodes: list[Node]
    live: frozenset[str]


@dataclass(frozen=True, slots=True)
class Use:
    """`wholes` reduce a name over all threads if nothing else reads it; `exchanged`: lanes exchange what it holds."""

    wholes: list[Line]
    exchanged: bool


@dataclass(slots=True)
class Behind:
    """Who reads and who assigns each name of a function."""

    readers: dict[str, list[Line]] = field(default_factory=lambda: defaultdict(list))
    assignments: dict[str, list[Line]] = field(default_factory=lambda: defaultdict(list))

    @classmethod
    def of(cls, suite: Suite) -> Behind:
        """Those of a function's body."""
        found = cls()
        for line in lines_of(suite):
            found.assignments[line.target].append(line)
            for name in line.reads:
                found.readers[name].append(line)
        return found

    def use(self, name: str, operation: str, body: Collection[int], after: After) -> Use:
        """Returns what the statements after the loop do with `name`, which the loop reduces by `operation`."""
        outside = [line for line in self.assignments[name] if id(line) not in body]
        alone = len(outside) == 1 and (operation != "sum" or outside[0].text.startswith("tl.zeros("))
        exchanged = any(_exchanges(line) for line in self._read(name, body))
        return Use(_reductions(name, operation, after) if alone else [], exchanged)

    def _read(self, name: str, body: Collection[int]) -> list[Line]:
        """The statements that read `name` or a copy of it; a copy that is assigned twice is one of them."""
        found: list[Line] = []
        waiting, seen = [name], {name}
        while waiting:
            for line in self.readers[waiting.pop()]:
                if id(line) in body:
                    continue
                found.append(line)
                if line.text.isidentifier() and line.target not in seen:
                    seen.add(line.target)
                    waiting.append(line.target)
        return found


def _reductions(name: str, operation: str, after: After) -> list[Line]:
    """The reductions among the statements that follow one another; none if these do anything else with `name`."""
    found: list[Line] = []
    holders = {name}
    for node in after.nodes:
        if not isinstance(node, Line):
            if not isinstance(node, Comment) and holders & touched(node):
                return []
            continue
        held = node.reads & holders
        holders.discard(node.target)
        if held and node.text.isidentifier():
            holders.add(node.target)
        elif held and re.fullmatch(rf"tl\.{operation}\(\w+, axis=0\)", node.text):
            found.append(node)
        elif held:
            return []
    return [] if holders & after.live else found


def touched(node: Node) -> frozenset[str]:
    """The names that a statement with a body reads or assigns."""
    lines = list(lines_of(Suite([node])))
    return frozenset().union(*(line.reads | {line.target} for line in lines))


def _exchanges(line: Line) -> bool:
    """Returns whether a line brings lanes together."""
    between = any(not helpers()[name].elementwise for name in helpers_in(line.text))
    return between or bool(_EXCHANGES.search(line.text))

"""Nodes that have the same bits whatever their operands are: the same but for the order of two that commute."""

from __future__ import annotations

from collections.abc import Sequence

from porter.lift.nodes import Graph, Key, Node

_COMMUTE = frozenset({"add", "multiply", "maximum", "minimum", "equal", "and", "or"})


class Commuted:
    """The nodes of a graph by classes of such, which are found when somebody asks."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._classes: list[int] = []
        self._known: dict[Key, int] = {}

    def classes(self, nodes: Sequence[Node]) -> list[int]:
        """Returns the number of each node's class."""
        for node in range(len(self._classes), len(self._graph)):
            key, operands = self._graph[node], [self._classes[o] for o in self._graph.operands(node)]
            if operands and key[0] != "gather":
                key = (*key[:2], *(sorted(operands) if key[0] in _COMMUTE else operands))
            self._classes.append(self._known.setdefault(key, node))
        return [self._classes[node] for node in nodes]

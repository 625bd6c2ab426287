"""Reads conditions by which a sum of sizes stays below another: `offset + count <= width`.

Each size is at least 1, so that a sum of which parts are not known yet is at least so much.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

from porter.contract.model.expressions import free_names, parsed, value
from porter.contract.model.syntax import Binary, Name, Node, Number

_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


@dataclass(frozen=True)
class Bounded:
    """The condition that `sum` is `limit` at most, or less where it is `strict`."""

    sum: Node
    limit: Node
    strict: bool

    @cached_property
    def names(self) -> frozenset[str]:
        """The sizes in the sum."""
        return free_names(self.sum)

    @cached_property
    def limiting(self) -> frozenset[str]:
        """The sizes in the limit."""
        return free_names(self.limit)

    def may_hold(self, sizes: Mapping[str, int]) -> bool:
        """Returns whether some values of the sizes in the sum that are not among `sizes` make it true."""
        if not self.limiting <= sizes.keys():
            return True
        least = value(self.sum, {**dict.fromkeys(self.names, 1), **sizes})
        limit = value(self.limit, sizes)
        return least < limit if self.strict else least <= limit

    def filling(self, symbol: str, sizes: Mapping[str, int]) -> int:
        """Returns the value of `symbol` at which the sum reaches its limit, if all others are known; else 0.

        `symbol` is an addend of the sum, or the limit itself.
        """
        if self.limit == Name(symbol) and self.names <= sizes.keys():
            return int(value(self.sum, sizes)) + self.strict
        if Name(symbol) not in addends(self.sum) or not (self.names | self.limiting) - {symbol} <= sizes.keys():
            return 0
        rest = value(self.sum, {**sizes, symbol: 0})
        return int(value(self.limit, sizes) - rest) - self.strict


@lru_cache(maxsize=4096)
def bounded(condition: str) -> Bounded | None:
    """Returns what a condition says of a sum of two sizes or more; None for any other condition."""
    node = parsed(condition)
    if not isinstance(node, Binary) or node.operator not in _TURNED:
        return None
    if node.operator in (">", ">="):
        node = Binary(_TURNED[node.operator], node.right, node.left)
    is_sum = len(list(addends(node.left))) > 1 and len(free_names(node.left)) > 1 and _rises(node.left)
    return Bounded(node.left, node.right, node.operator == "<") if is_sum and free_names(node.right) else None


def addends(node: Node) -> Iterator[Node]:
    """Yields the parts that are added up."""
    match node:
        case Binary("+", left, right):
            yield from (*addends(left), *addends(right))
        case _:
            yield node


def _rises(node: Node) -> bool:
    """Returns whether a sum never falls where a size in it grows."""
    match node:
        case Binary("+" | "*", left, right):
            return _rises(left) and _rises(right)
        case Number(number):
            return number >= 0
        case _:
            return isinstance(node, Name)

"""Finds arrays of sizes that host code reads: `solution(const float* in, float* out, size_t* shape, size_t ndim)`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from porter.contract.analysis.body import Body, comparisons, parsed
from porter.contract.analysis.pointers import is_integer
from porter.contract.analysis.usage import Usage
from porter.contract.model.expressions import free_names
from porter.contract.model.syntax import Name, Node, Number
from porter.source.lexer import match_bracket
from porter.source.program import Function

_RANK = 3
_POSITION = 1


@dataclass(frozen=True, slots=True)
class SizeList:
    """The array `name` of `rank` sizes; parameters in `counts` say how many, those in `positions` pick one."""

    name: str
    rank: int
    counts: frozenset[str]
    positions: frozenset[str]

    @property
    def symbols(self) -> tuple[str, ...]:
        """A symbol for each size in it."""
        return tuple(f"{self.name}_{axis}" for axis in range(self.rank))

    def scalar(self, param: str) -> str:
        """Returns the value of `param` where it is about this list; else empty."""
        if param in self.positions:
            return str(min(_POSITION, self.rank - 1))
        return str(self.rank) if param in self.counts else ""


def size_lists(usage: Usage, function: Function) -> tuple[SizeList, ...]:
    """Returns the integer pointers among a host function's parameters whose elements it reads itself."""
    if function.space == "global":
        return ()
    types = {p.name: usage.types.of(p, function) for p in function.params}
    pointers = [name for name, type_ in types.items() if type_.pointers == 1 and is_integer(type_.base)]
    lists = (_size_list(usage, function, name) for name in pointers)
    return tuple(found for found in lists if found is not None)


def _size_list(usage: Usage, function: Function, name: str) -> SizeList | None:
    body = usage.body(function)
    own = {alias for alias, owner in usage.aliases(function).items() if owner == name}
    indices = list(subscripts(body, own))
    if not indices:
        return None
    params = {p.name for p in function.params if not p.type.pointers}
    positions = frozenset(i.name for i in indices if isinstance(i, Name) and i.name in params)
    counts = _ends(body, {i.name for i in indices if isinstance(i, Name)} - positions) & params - positions
    numbers = [i.value for i in indices if isinstance(i, Number) and isinstance(i.value, int)]
    if not counts and not numbers:
        return None
    return SizeList(name, _RANK if counts else max(numbers) + 1, counts, positions)


def _ends(body: Body, walked: set[str]) -> frozenset[str]:
    """Returns the names in what the loops over `walked` stop at."""
    return frozenset(
        name for node in body.conditions for c in comparisons(node)
        if c.operator == "<" and isinstance(c.left, Name) and c.left.name in walked
        for name in free_names(c.right)
    )  # fmt: skip


def subscripts(body: Body, own: set[str]) -> Iterator[Node]:
    """Yields what stands in the subscripts of the arrays called `own`."""
    for i, word in enumerate(body.words[:-1]):
        if word.text in own and body.words[i + 1].text == "[" and (close := match_bracket(body.words, i + 1)):
            index = parsed(body.words[i + 2 : close])
            if index is not None:
                yield index

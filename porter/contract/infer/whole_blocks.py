"""Finds sizes that fill whole blocks: a grid of `n / 16` blocks implies that `n` is a multiple of 16.

A smaller size leaves no block to launch, and of a size between two multiples nobody computes the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from porter.contract.analysis.scope import Scope
from porter.contract.analysis.usage import Usage
from porter.contract.infer.scalars import dimensions, launches_in
from porter.contract.model.expressions import free_names, render
from porter.contract.model.syntax import Binary, Call, Member, Name, Node, Number
from porter.source.program import Function

_AXES = "xyz"


def grid_extents(usage: Usage, function: Function) -> Iterator[Node]:
    """Yields the extents of the grids that host code launches, in terms of `function`."""
    scope = Scope(usage, function)
    for launch in launches_in(usage, function):
        yield from dimensions(scope, launch.grid.text)


def whole_blocks(extents: Iterable[Node], symbols: frozenset[str]) -> Iterator[str]:
    """Yields the conditions by which sizes among `symbols` fill the blocks that grids of these extents have.

    A product of sizes fills them where its last factor does.
    """
    for extent in dict.fromkeys(extents):
        match extent:
            case Binary("/", (Name() | Binary("*", _, Name())) as count, divisor):
                size = count if isinstance(count, Name) else count.right
                threads = _edge(divisor)
                if isinstance(threads, Number) and threads.value > 1 and free_names(count) <= symbols:
                    yield render(Binary("==", Binary("%", size, threads), Number(0)))


def _edge(divisor: Node) -> Node:
    """Returns the number of threads that an edge of a block is: of `dim3(16, 8).y` 8."""
    match divisor:
        case Member(Call(Name("dim3"), edges), axis) if axis in _AXES and _AXES.index(axis) < len(edges):
            return edges[_AXES.index(axis)]
    return divisor

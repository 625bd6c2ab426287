"""Finds grids that cover what a kernel writes: a number of blocks that nothing else names is not an operator's size.

A kernel whose guard compares rows with `B * T` writes no more of them than its grid has warps for. With a grid of its
own size the rest of its output is memory that nobody wrote, and nothing is known of it.
"""

from __future__ import annotations

from collections.abc import Iterator

from porter.contract.model.contract import Contract, Role, ScalarArg
from porter.contract.model.expressions import names_in, render
from porter.contract.model.parser import parse
from porter.contract.model.resized import with_size
from porter.contract.model.syntax import Binary, Node

_AXES = 2  # of a grid over a matrix


def covering(contract: Contract) -> Iterator[Contract]:
    """Yields `contract` with a grid for all elements of an output, in place of sizes that only the grid has.

    For a grid of one axis, a block for each row comes first, then as many threads as there are elements, then a block
    for each element; for two axes a thread for each element of a matrix, either way round.
    """
    idle = _idle(contract)
    output = next((tensor for tensor in contract.tensors if tensor.role is not Role.IN), None)
    if output is None or not idle:
        return
    whole = parse(" * ".join(f"({extent})" if " " in extent else extent for extent in output.shape))
    factors = (whole.left, whole.right) if isinstance(whole, Binary) and whole.operator == "*" else None
    if len(idle) == 1:
        for text in _grids(whole, " * ".join(_block(contract))):
            yield with_size(contract, size=idle[0], text=text)
    elif len(idle) == _AXES and factors is not None:
        for across, down in (factors[::-1], factors):
            first = with_size(contract, size=idle[0], text=_ceiling(across, _block(contract)[0]))
            yield with_size(first, size=idle[1], text=_ceiling(down, _block(contract)[1]))


def _idle(contract: Contract) -> list[str]:
    """Returns the symbols that the grid has, and neither an extent nor a scalar."""
    launch = contract.entry.launch
    if launch is None:
        return []
    used = [extent for tensor in contract.parts for extent in (*tensor.shape, tensor.bound) if extent]
    used += [a.value for a in contract.arguments if isinstance(a, ScalarArg)]
    named = frozenset[str]().union(*map(names_in, used))
    return [extent for extent in launch.grid if extent in contract.symbols and extent not in named]


def _grids(whole: Node, threads: str) -> Iterator[str]:
    if isinstance(whole, Binary) and whole.operator == "*":
        yield render(whole.left)
    yield _ceiling(whole, threads)
    yield render(whole)


def _ceiling(extent: Node, threads: str) -> str:
    return f"cdiv({render(extent)}, {threads})"


def _block(contract: Contract) -> tuple[str, str, str]:
    launch = contract.entry.launch
    assert launch is not None
    return launch.block

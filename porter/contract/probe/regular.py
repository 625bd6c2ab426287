"""Relates sizes: where extents have no simple form at all sizes, they may have one at those the author meant."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import combinations

from porter.contract.model.contract import Contract, ScalarArg
from porter.contract.model.resized import multiplied
from porter.contract.probe.placing import divisibilities

Change = Callable[[Contract], Contract]

_MOST_SYMBOLS = 4


def regularities(contract: Contract) -> Iterator[Change]:
    """Yields what the author may have meant, each as a change of `contract`, which must be a draft.

    A size that fits into a block; a count of all elements that is one of planes; whole vectors, warps or blocks.
    Changes that leave sizes free come before those that make them round: powers of two explain much by chance.
    """
    sizes = _given(contract)
    threads = contract.entry.launch.block[0] if contract.entry.launch is not None else ""
    for size in sizes if threads not in ("", "1") else ():
        yield partial(limited, conditions=(f"{size} <= {threads}",))
    yield from multiples(contract)
    for conditions in divisibilities(contract):
        yield partial(limited, conditions=conditions)


def multiples(contract: Contract) -> Iterator[Change]:
    """Yields that a size is a multiple of two others, or of one."""
    sizes = _given(contract)
    for size in sizes if len(sizes) <= _MOST_SYMBOLS else ():
        others = [other for other in sizes if other != size]
        for factors in (*combinations(others, 2), *combinations(others, 1)):
            yield partial(multiplied, size=size, factors=factors)


def _given(contract: Contract) -> list[str]:
    """Returns the sizes that are passed as they are."""
    return [a.value for a in contract.arguments if isinstance(a, ScalarArg) and a.value in contract.symbols]


def limited(contract: Contract, conditions: tuple[str, ...]) -> Contract:
    """Returns `contract` at sizes that satisfy `conditions` as well."""
    return replace(contract, conditions=(*contract.conditions, *conditions))

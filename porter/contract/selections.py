"""A contract with another value for an argument that only selects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from porter.contract.contract import Contract, ScalarArg

_MOST = 12


@dataclass(frozen=True, slots=True)
class Selection:
    """An argument and a value of its choices that is not its own."""

    name: str
    value: int


def selections(contract: Contract) -> tuple[Selection, ...]:
    """One argument at a time at each of its other choices: every branch is taken, not every combination of branches."""
    return tuple(_selections(contract))[:_MOST]


def _selections(contract: Contract) -> Iterator[Selection]:
    for argument in contract.arguments:
        if isinstance(argument, ScalarArg):
            yield from (Selection(argument.name, int(c)) for c in argument.choices if c != argument.value)


def selected(contract: Contract, selection: Selection) -> Contract:
    """`contract` with the value of `selection`."""
    return replace(
        contract,
        arguments=tuple(
            replace(a, value=str(selection.value)) if isinstance(a, ScalarArg) and a.name == selection.name else a
            for a in contract.arguments
        ),
    )


def without(contract: Contract, refused: Iterable[Selection]) -> Contract:
    """`contract` without choices that the original does not take."""
    gone = {(s.name, str(s.value)) for s in refused}
    return replace(
        contract,
        arguments=tuple(
            replace(a, choices=tuple(c for c in a.choices if (a.name, c) not in gone))
            if isinstance(a, ScalarArg)
            else a
            for a in contract.arguments
        ),
    )

"""Changes a contract: another value for an argument that only selects, or no tensor where one is optional."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, replace

from porter.contract.model.contract import Argument, Contract, ScalarArg, TensorArg, Values

_MOST = 12
Choices = Mapping[str, float]  # values of selecting arguments by name; 0 for a tensor that is null


@dataclass(frozen=True, slots=True)
class Selection:
    """An argument with another value of its choices: for a tensor 0, a null pointer."""

    name: str
    value: float


def selections(contract: Contract) -> tuple[Selection, ...]:
    """Returns one argument at a time at each of its other choices: every branch, but not every combination."""
    return tuple(_selections(contract))[:_MOST]


def _selections(contract: Contract) -> Iterator[Selection]:
    for argument in contract.arguments:
        if isinstance(argument, ScalarArg):
            yield from (Selection(argument.name, int(c)) for c in argument.choices if c != argument.value)
        elif argument.optional:
            yield Selection(argument.name, 0)


def selected(contract: Contract, selection: Selection) -> Contract:
    """Returns `contract` with the value of `selection`, and no other for that argument."""
    arguments = (_given(a, selection.value) if a.name == selection.name else a for a in contract.arguments)
    return replace(contract, arguments=tuple(arguments))


def _given(argument: Argument, value: float) -> Argument:
    if isinstance(argument, TensorArg):
        return replace(argument, values=Values.NULL, optional=False)
    return replace(argument, value=str(value), choices=())


def choices_of(contract: Contract) -> tuple[Choices, ...]:
    """Returns the choices that workloads of `contract` make, each once; most of them make none."""
    selecting = {a.name for a in contract.arguments if isinstance(a, TensorArg) or a.choices}
    made = ({n: v for n, v in workload.scalars.items() if n in selecting} for workload in contract.workloads)
    return tuple({tuple(sorted(choices.items())): choices for choices in made}.values())


def chosen(contract: Contract, choices: Choices) -> Contract:
    """Returns `contract` with these `choices` as its own; its scalars can still be chosen."""
    arguments = (_chosen(a, choices[a.name]) if a.name in choices else a for a in contract.arguments)
    return replace(contract, arguments=tuple(arguments))


def _chosen(argument: Argument, value: float) -> Argument:
    if isinstance(argument, TensorArg):
        return replace(argument, values=Values.NULL)
    return replace(argument, value=str(value))


def without(contract: Contract, refused: Iterable[Selection]) -> Contract:
    """Returns `contract` without choices that the original does not take."""
    gone = {(s.name, str(s.value)) for s in refused}
    return replace(contract, arguments=tuple(_kept(a, gone) for a in contract.arguments))


def _kept(argument: Argument, gone: Set[tuple[str, str]]) -> Argument:
    if isinstance(argument, TensorArg):
        return replace(argument, optional=argument.optional and (argument.name, "0") not in gone)
    return replace(argument, choices=tuple(c for c in argument.choices if (argument.name, c) not in gone))

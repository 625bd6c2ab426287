"""Turns sizes into choices where a scalar's condition leaves few values: `mode == 0 || mode == 1`."""

from __future__ import annotations

from dataclasses import replace

from porter.contract.model.contract import Argument, Contract, ScalarArg, Workload
from porter.contract.model.expressions import holds, names_in

_LOOKED_AT = 300  # values from -1 on
_FEW = 8


def with_choices(contract: Contract) -> Contract:
    """Returns `contract` with enumerations as choices of their arguments, no longer as symbols.

    An enumeration is a symbol that is the value of a scalar, that no extent depends on, and that a condition limits to
    few values.
    """
    found = [symbol for symbol in contract.symbols if _is_enumeration(contract, symbol)]
    values = {symbol: tuple(dict.fromkeys(w.sizes[symbol] for w in contract.workloads)) for symbol in found}
    if not values:
        return contract
    names = {a.name: a.value for a in contract.arguments if isinstance(a, ScalarArg) and a.value in values}
    return replace(
        contract,
        arguments=tuple(_chosen(argument, values) for argument in contract.arguments),
        symbols=tuple(symbol for symbol in contract.symbols if symbol not in values),
        conditions=tuple(condition for condition in contract.conditions if not names_in(condition) & values.keys()),
        workloads=tuple(_workload(workload, names) for workload in contract.workloads),
    )


def _is_enumeration(contract: Contract, symbol: str) -> bool:
    launch = contract.entry.launch
    extents = [extent for tensor in contract.tensors for extent in (*tensor.shape, tensor.bound, *tensor.elements)]
    extents += [*launch.grid, *launch.block, launch.shared_bytes] if launch else []
    scalars = [a.value for a in contract.arguments if isinstance(a, ScalarArg) and symbol in names_in(a.value)]
    return (
        scalars != []
        and all(value == symbol for value in scalars)
        and not any(symbol in names_in(extent) for extent in extents if extent)
        and any(names_in(condition) == {symbol} and _leaves_few(condition, symbol) for condition in contract.conditions)
    )


def _leaves_few(condition: str, symbol: str) -> bool:
    """Returns whether few whole numbers meet a condition about one symbol, as in `mode == 0 || mode == 1`."""
    return sum(holds(condition, {symbol: value}) for value in range(-1, _LOOKED_AT)) <= _FEW


def _chosen(argument: Argument, values: dict[str, tuple[int, ...]]) -> Argument:
    if not isinstance(argument, ScalarArg) or argument.value not in values:
        return argument
    choices = tuple(map(str, values[argument.value]))
    return replace(argument, value=choices[0], choices=choices)


def _workload(workload: Workload, names: dict[str, str]) -> Workload:
    sizes = {symbol: size for symbol, size in workload.sizes.items() if symbol not in names.values()}
    own = {name: workload.sizes[symbol] for name, symbol in names.items()}
    return replace(workload, sizes=sizes, scalars={**own, **workload.scalars})

"""Tells which of several functions of one name a contract is for."""

from __future__ import annotations

from collections.abc import Sequence

from porter.contract.analysis.records import owner
from porter.contract.model.contract import Argument, Contract, ScalarArg, TensorArg
from porter.source.arithmetic_types import arithmetic
from porter.source.program import Function, Param


def meant(contract: Contract, named: Sequence[Function]) -> Function | None:
    """Returns the one of `named` with the contract's argument names; of several the one with its types.

    A template and its explicit specialisation may name their parameters alike. None where `named` is empty.
    """
    wanted = list(dict.fromkeys(owner(argument.name) for argument in contract.arguments))
    alike = [f for f in named if [p.name for p in f.params] == wanted]
    matching = alike or [f for f in named if len(f.params) == len(wanted)] or list(named[:1])
    matching = [f for f in matching if len(f.template) == len(contract.entry.template)] or matching
    return max(matching, key=lambda function: _agreement(contract, function), default=None)


def _agreement(contract: Contract, function: Function) -> int:
    """Returns how many arguments have the type of their parameter; the first of equals is taken."""
    given = {argument.name: argument for argument in contract.arguments}
    return sum(p.name in given and _has_type(given[p.name], p) for p in function.params)


def _has_type(argument: Argument, parameter: Param) -> bool:
    if isinstance(argument, ScalarArg):
        return argument.type == parameter.type.text
    number = arithmetic(parameter.type.base)
    if not isinstance(argument, TensorArg) or number is None:
        return False
    return (number.is_float, number.bytes) == (argument.dtype.is_float, argument.dtype.bytes)

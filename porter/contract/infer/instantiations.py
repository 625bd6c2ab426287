"""Finds the instances of a template that a source asks for, by instantiations and launches with all arguments."""

from __future__ import annotations

import re

from porter.contract.analysis.elements import element_type
from porter.contract.analysis.usage import Usage
from porter.contract.infer.launch import evaluated_arguments
from porter.source.instantiate import explicit_arguments
from porter.source.program import Function

_NUMBER = re.compile(r"-?\d+|true|false")


def known_instances(usage: Usage, function: Function) -> tuple[tuple[str, ...], ...]:
    """Returns the arguments of each instance of `function` that the source names, in its order.

    A launch inside a template or a dispatch, `kernel<T><<<...>>>`, names none.
    """
    launched = (evaluated_arguments(usage, function, x) for x in usage.program.launches_of(function))
    every = (*explicit_arguments(usage.program, function), *launched)
    whole = (arguments for arguments in every if len(arguments) == len(function.template) and arguments)
    return tuple(dict.fromkeys(a for a in whole if all(_is_known(usage, text) for text in a)))


def _is_known(usage: Usage, argument: str) -> bool:
    """Returns whether an argument is a number or an element's type, and no parameter of what stands around it."""
    return bool(_NUMBER.fullmatch(argument)) or element_type(usage.named_type(argument)) is not None

"""Finds objects that host code takes: instances of classes that nobody outside of their library can make."""

from __future__ import annotations

from itertools import pairwise

from porter.contract.analysis.elements import element_type
from porter.contract.analysis.usage import Usage
from porter.contract.infer.optional import is_optional
from porter.contract.infer.scalars import Unsupported, scalar
from porter.source.program import CType, Function, Param

_OF_LIBRARIES = ("std::", "at::", "c10::", "torch::", "cuda", "dim3", "void", "FILE")


def takes_objects(usage: Usage, function: Function) -> bool:
    """Returns whether a call of a host function takes an object of a class of the program, or of a missing header.

    It may do so by value, by reference, or by a pointer that its code follows to a member.
    """
    open_ = {t.name for t in function.template}
    return any(p.type.base not in open_ and _is_object(usage, function, p) for p in function.params)


def _is_object(usage: Usage, function: Function, param: Param) -> bool:
    type_ = usage.types.of(param, function)
    if type_.base.startswith(_OF_LIBRARIES) or usage.records.fields(function, param):
        return False
    if type_.pointers:
        return _is_followed(usage, function, param, type_)
    return not usage.is_tensor(type_, function) and isinstance(scalar(usage, function, param), Unsupported)


def _is_followed(usage: Usage, function: Function, param: Param, type_: CType) -> bool:
    """Returns whether host code goes through a pointer to a member, and does not ask first whether it is null."""
    if type_.pointers > 1 or element_type(type_.base) is not None or is_optional(usage, function, param):
        return False
    pairs = pairwise(usage.body(function).words)
    return any(word.text == param.name and following.text == "->" for word, following in pairs)

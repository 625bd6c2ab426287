"""Writes and reads signatures: the part of a launch that a kernel's compilation depends on.

A signature is JSON: the kernel's key, a type or `constexpr` for every parameter, the constants, and the options. A
constant stands beside its place: the number of its parameter, and in a tuple those of the elements that it lies in.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import triton.language as tl
from triton.runtime.jit import KernelParam, mangle_type

_OPTIONS = frozenset({"num_warps", "num_stages", "num_ctas", "maxnreg"})
_CONSTANT = "constexpr"


def signature_of(
    function: Any,  # noqa: ANN401 - Triton has no types
    key: str,
    arguments: Mapping[str, object],
    options: Mapping[str, object],
    key_of: Callable[[object], str],
) -> str:
    """Returns the signature of a launch of `function`, with arguments by name; 1 is a constant, as in Triton."""
    parameters = inspect.signature(function.fn).parameters.values()
    types = {p.name: _type_of(KernelParam(i, p, False, False), arguments[p.name]) for i, p in enumerate(parameters)}
    placed = ((i, arguments[name], type_) for i, (name, type_) in enumerate(types.items()))
    constants = [
        [place, _encode(value, key_of)] for i, given, type_ in placed for place, value in _constants(i, given, type_)
    ]
    kept = {name: value for name, value in options.items() if name in _OPTIONS}
    return json.dumps({"kernel": key, "types": types, "constants": constants, "options": kept}, sort_keys=True)


def _constants(place: int, value: Any, type_: object) -> Iterator[tuple[list[int], object]]:  # noqa: ANN401 - an argument
    """Yields what of an argument is compiled into the kernel, with its place: a tuple may hold some."""
    if type_ == _CONSTANT:
        yield [place], value
    elif isinstance(type_, tuple):
        for index, (item, inner) in enumerate(zip(value, type_, strict=True)):
            yield from (([place, *deeper], constant) for deeper, constant in _constants(index, item, inner))


def decoded(constant: object, function: Callable[[str], object]) -> object:
    """Returns a constant of a signature: types are spelt out, and kernels are what `function` gives for their key."""
    match constant:
        case {"dtype": str(name)}:
            return tl.dtype(name)
        case {"function": str(key)}:
            return function(key)
    return constant


def typed(type_: object) -> object:
    """Returns a type of a signature as the compiler takes it: that of a tuple is one."""
    return tuple(map(typed, type_)) if isinstance(type_, list) else type_


def _type_of(parameter: KernelParam, value: object) -> object:
    if parameter.is_constexpr:
        return _CONSTANT
    type_ = parameter.annotation_type or mangle_type(value, specialize=True)
    return type_ if isinstance(type_, tuple) else str(type_)


def _encode(constant: object, key_of: Callable[[object], str]) -> object:
    if isinstance(constant, tl.constexpr):
        constant = constant.value
    if isinstance(constant, tl.dtype):
        return {"dtype": constant.name}
    if constant is None or isinstance(constant, (bool, int, float, str)):
        return constant
    if isinstance(constant, (tuple, list)):
        return [_encode(item, key_of) for item in constant]
    return {"function": key_of(constant)}

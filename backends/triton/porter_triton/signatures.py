"""What a kernel was launched with, as far as its compilation depends on it: told by the worker, read by the compiler.

A signature is JSON: the kernel's name, a type or `constexpr` for every parameter, the constants, and the options.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping
from types import FunctionType, ModuleType
from typing import Protocol

import triton.language as tl
from triton.runtime.jit import KernelParam, mangle_type

_OPTIONS = frozenset({"num_warps", "num_stages", "num_ctas", "maxnreg"})
_CONSTANT = "constexpr"


class Kernel(Protocol):
    """A Triton function, compiled or interpreted."""

    fn: FunctionType


def signature_of(kernel: Kernel, arguments: Mapping[str, object], options: Mapping[str, object]) -> str:
    """The signature of a launch of `kernel` with `arguments` by name; 1 is a constant, as Triton's launcher has it."""
    parameters = inspect.signature(kernel.fn).parameters.values()
    types = {p.name: _type_of(KernelParam(i, p, False, False), arguments[p.name]) for i, p in enumerate(parameters)}
    constants = {name: _encode(arguments[name]) for name, type_ in types.items() if type_ == _CONSTANT}
    kept = {name: value for name, value in options.items() if name in _OPTIONS}
    record = {"kernel": kernel.fn.__name__, "types": types, "constants": constants, "options": kept}
    return json.dumps(record, sort_keys=True)


def decoded(constant: object, module: ModuleType) -> object:
    """A constant of a signature: types and functions are spelt out."""
    match constant:
        case {"dtype": str(name)}:
            return tl.dtype(name)
        case {"function": str(name)}:
            return getattr(module, name)
    return constant


def _type_of(parameter: KernelParam, value: object) -> str:
    if parameter.is_constexpr:
        return _CONSTANT
    return str(parameter.annotation_type or mangle_type(value, specialize=True))


def _encode(constant: object) -> object:
    if isinstance(constant, tl.constexpr):
        constant = constant.value
    if isinstance(constant, tl.dtype):
        return {"dtype": constant.name}
    if constant is None or isinstance(constant, (bool, int, float, str)):
        return constant
    return {"function": str(getattr(constant, "__name__", constant))}

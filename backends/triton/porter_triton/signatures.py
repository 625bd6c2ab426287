"""What a kernel was launched with, as far as its compilation depends on it: told by the worker, read by the compiler.

A signature is JSON: the kernel's name, a type or `constexpr` for every parameter, the constants, the options, and a
digest of what the kernel is, so that what is compiled is what ran.
"""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Iterator, Mapping
from types import CodeType, FunctionType, ModuleType
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
    return json.dumps({**record, "code": digest_of(kernel)}, sort_keys=True)


def digest_of(kernel: Kernel) -> str:
    """What a kernel does, with all it calls: equal where it is the same code on the same constants."""
    parts: list[str] = []
    pending, seen = [kernel.fn], set[FunctionType]()
    while pending:
        function = pending.pop()
        seen.add(function)
        parts += [function.__name__, *_code(function.__code__)]
        for name in sorted(set(function.__code__.co_names)):
            value = function.__globals__.get(name)
            if isinstance(called := getattr(value, "fn", None), FunctionType):
                pending += [called] if called not in seen else []
            elif isinstance(value, (bool, int, float, str, tl.constexpr)):
                parts.append(f"{name}={_encode(value)!r}")
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _code(code: CodeType) -> Iterator[str]:
    yield code.co_code.hex()
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _code(constant)
        else:
            yield repr(constant)
    yield from code.co_names


def decoded(constant: object, module: ModuleType) -> object:
    """A constant of a signature: types and functions are spelt out."""
    match constant:
        case {"dtype": str(name)}:
            return tl.dtype(name)
        case {"function": str(name)}:
            return getattr(module, name)
    return constant


def typed(type_: object) -> object:
    """A type of a signature as the compiler takes it: that of a tuple is one."""
    return tuple(map(typed, type_)) if isinstance(type_, list) else type_


def _type_of(parameter: KernelParam, value: object) -> object:
    if parameter.is_constexpr:
        return _CONSTANT
    type_ = parameter.annotation_type or mangle_type(value, specialize=True)
    return type_ if isinstance(type_, tuple) else str(type_)


def _encode(constant: object) -> object:
    if isinstance(constant, tl.constexpr):
        constant = constant.value
    if isinstance(constant, tl.dtype):
        return {"dtype": constant.name}
    if constant is None or isinstance(constant, (bool, int, float, str)):
        return constant
    return {"function": str(getattr(constant, "__name__", constant))}

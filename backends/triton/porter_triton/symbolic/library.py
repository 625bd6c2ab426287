"""Functions that are kept by name: to execute how one is computed would end at the bits of floats.

These are the helpers that porter writes into a module, recognised by what they do and not by their names alone, and
those of CUDA's libdevice. A function with a plain meaning becomes that; any other is a node of its name.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import triton.language as tl
from triton.runtime.interpreter import TensorHandle, interpreter_semantic

from porter.lift.nodes import NotLiftedError
from porter_triton.device.source import helpers
from porter_triton.records import KernelText

if TYPE_CHECKING:
    from porter_triton.symbolic.builder import SymbolicBuilder

_OPAQUE = frozenset((
    "expm1", "log1p", "tanh", "sinh", "cosh", "asinh", "acosh", "atanh", "atan", "atan2", "asin", "acos", "erfc",
    "normcdf", "erfinv", "lgamma", "tgamma", "exp10", "cbrt", "hypot", "power", "fmod", "remainder", "round_away",
    "rint", "sinpi", "cospi",
))  # fmt: skip
_DEFINED = frozenset(("trunc", "copysign", "signbit"))
# What libdevice calls otherwise than graphs do, less the letter for its type.
_LIBDEVICE: Mapping[str, str] = {
    "add": "add", "sub": "subtract", "mul": "multiply", "div": "divide", "fdivide": "divide", "sqrt": "sqrt",
    "rsqrt": "rsqrt", "fabs": "absolute", "abs": "absolute", "fmax": "maximum", "fmin": "minimum", "max": "maximum",
    "min": "minimum", "pow": "power", "round": "round_away", "nearbyint": "rint", "floor": "floor", "ceil": "ceil",
    "exp": "exp", "exp2": "exp2", "log": "log", "log2": "log2", "sin": "sin", "cos": "cos", "tan": "tan", "erf": "erf",
}  # fmt: skip
_SYMBOL = re.compile(r"__nv_(?:fast_)?([fd](?=(?:add|sub|mul|div|sqrt|rsqrt|rcp|fma)_))?(\w+?)(_r[nzdu])?")
Method = Callable[..., tl.tensor]


def is_kept(kernel: KernelText) -> bool:
    """Returns whether a device function is a helper of porter's that is kept by name."""
    helper = helpers().get(kernel.name)
    if helper is None or kernel.name not in _OPAQUE | _DEFINED:
        return False
    written = ast.parse(kernel.text).body[0]
    if not isinstance(written, ast.FunctionDef):
        return False
    names = [[a.arg for a in function.args.args] for function in (written, helper.tree)]
    return names[0] == names[1] and any(_dump(written.body) == _dump(body) for body in _ways(helper.tree.body))


def kept(builder: SymbolicBuilder, name: str) -> Callable[..., tl.tensor]:
    """Returns what a call of the helper called `name` gives."""

    def call(*given: object) -> tl.tensor:
        tensors: list[Any] = [interpreter_semantic.to_tensor(value) for value in given]
        if len(tensors) > 1:
            tensors = list(interpreter_semantic.binary_op_type_checking_impl(*tensors))
        made = _meaning(builder, name, [tensor.handle for tensor in tensors], tensors[0].dtype)
        type_ = tensors[0].type
        return tl.tensor(made, type_.with_element_ty(made.dtype) if type_.is_block() else made.dtype)

    return call


def device_function(
    builder: SymbolicBuilder, symbol: str, given: Sequence[TensorHandle], type_: tl.dtype
) -> TensorHandle:
    """Returns what a function of libdevice gives. Raises `NotLiftedError` for one that has no meaning here."""
    found = _SYMBOL.fullmatch(symbol)
    name = found[2] if found else ""
    for plain in (name, name[:-1]):
        if plain == "fma":
            return builder.create_fma(*given)
        if plain == "rcp":
            return builder.apply("divide", type_, builder.values.scalar(1.0, type_.scalar), *given)
        if plain in _LIBDEVICE:
            return builder.apply(_LIBDEVICE[plain], type_, *given)
        if plain in _OPAQUE | _DEFINED:
            return _meaning(builder, plain, given, type_)
    raise NotLiftedError(f"it calls libdevice's {symbol}")


def _meaning(builder: SymbolicBuilder, name: str, given: Sequence[TensorHandle], type_: tl.dtype) -> TensorHandle:
    match name:
        case "trunc":
            return builder.apply("truncate", type_, *given)
        case "signbit":
            return builder.apply("less", tl.int1, given[0], builder.values.scalar(0.0, type_.scalar))
        case "copysign":
            magnitude = builder.apply("absolute", type_, given[0])
            negative = builder.apply("less", tl.int1, given[1], builder.values.scalar(0.0, type_.scalar))
            return builder.apply("select", type_, negative, builder.apply("negate", type_, magnitude), magnitude)
    return builder.apply(name, type_, *given)


def _ways(body: Sequence[ast.stmt]) -> list[list[ast.stmt]]:
    """The bodies that a helper may have in a module, where a branch that no call takes is left out."""
    choices: list[list[list[ast.stmt]]] = []
    for statement in body:
        if isinstance(statement, ast.If):
            choices.append([*_ways(statement.body), *_ways(statement.orelse), [statement]])
        else:
            choices.append([[statement]])
    return [[one for part in way for one in part] for way in product(*choices)]


def _dump(body: Sequence[ast.stmt]) -> list[str]:
    """Statements without their places and without the text of a docstring."""
    told = [s for s in body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
    return [ast.dump(statement) for statement in told]

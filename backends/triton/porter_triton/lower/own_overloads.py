"""Calls of a name that the source and CUDA both give a function: `exp(float4)` beside `exp(float)`."""

from __future__ import annotations

from dataclasses import replace

from porter.syntax.nodes import Call, Name
from porter.syntax.unit import FunctionTree, Unit
from porter_triton.lower import intrinsics, overloads, table
from porter_triton.lower.context import Context
from porter_triton.lower.parameters import Argument
from porter_triton.lower.scopes import Closure, FunctionName
from porter_triton.lower.values import Value


def call(
    cx: Context, name: str, candidates: tuple[FunctionTree, ...], given: tuple[Argument, ...], node: Call
) -> Value | None:
    """The value where C++ means CUDA's function of this name and none of `candidates`; None where it means these.

    CUDA's goes first where it takes just these arguments and a candidate that does so is a template, or where no
    candidate takes them. One in a namespace hides CUDA's, but for `std`, which has these, too.
    """
    places = [argument for argument in given if not isinstance(argument, Closure | FunctionName)]
    if len(places) < len(given) or (candidates and not _means_cudas(cx, name, candidates, given, node.line)):
        return None
    renamed = cx.told(node, _on_names)
    with cx.scope():
        for argument, place in zip(renamed.arguments, places, strict=True):
            assert isinstance(argument, Name)
            cx.bind(argument.name, place)
        return intrinsics.call(cx, Name(name, line=node.line), renamed)


def _means_cudas(
    cx: Context, name: str, candidates: tuple[FunctionTree, ...], given: tuple[Argument, ...], line: int
) -> bool:
    exact = table.exactly(name, tuple(map(overloads.argument_type, given)))
    if all(c.head.template or c.arguments for c in candidates):
        return exact
    if any(c.head.scope not in ((), ("std",)) for c in candidates) or "::" in name.removeprefix("std::"):
        return False
    takers = tuple(c for c in candidates if overloads.accepts(c, len(given)))
    fits = overloads.fits_exactly if exact else overloads.fits
    return not fits(cx, takers, given, line)


def _on_names(_unit: Unit, node: Call) -> Call:
    """The call with a name for each argument, which has been evaluated."""
    names = tuple(Name(f"argument {i}", line=node.line) for i in range(len(node.arguments)))
    return replace(node, arguments=names)

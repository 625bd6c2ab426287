"""Finds distances counted in bytes, such as those between rows of an image: `(float*)((char*)p + row * pitch)`.

Where an address is a multiple of its element's size, so is such a distance: of 16 for an image of `float4`. Its symbol
counts elements.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from porter.contract.analysis.usage import Usage
from porter.contract.model.contract import Argument, ScalarArg, TensorArg
from porter.source.program import Function
from porter.source.qualified import unqualified
from porter.syntax.nodes import Binary, Cast, Expression, Member, Name
from porter.syntax.walk import walk

_BYTES = ("char", "signed char", "unsigned char", "uint8_t", "int8_t", "std::byte")
_CAST = re.compile(r"\b(?:char|u?int8_t|byte)(?:\s+const)?\s*\*\s*[)>]")


def in_elements(
    arguments: tuple[Argument, ...], usage: Usage, function: Function, template: tuple[str, ...]
) -> tuple[Argument, ...]:
    """Returns `arguments` of `function` with each distance in bytes as its symbol times the size of an element."""
    texts = (usage.program.source.text, *(header.text for header in usage.headers))
    if not any(_CAST.search(text) for text in texts):  # trees of all headers are not read for nothing
        return arguments
    pointers = dict(_pitches(usage, function, template))
    tensors = {a.name: a for a in arguments if isinstance(a, TensorArg)}
    return tuple(_multiple(a, tensors.get(pointers.get(a.name, ""))) for a in arguments)


def _multiple(argument: Argument, tensor: TensorArg | None) -> Argument:
    bytes_ = tensor.dtype.bytes * tensor.group if tensor is not None else 1
    if bytes_ == 1 or not isinstance(argument, ScalarArg):
        return argument
    return replace(argument, value=f"{bytes_} * {argument.value}") if argument.value.isidentifier() else argument


def _pitches(usage: Usage, function: Function, template: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Yields the names of distances in bytes, each with the name of the pointer that it is added to.

    They stand in the function itself, or in the class of a parameter.
    """
    yield from _in_bodies(usage.types.bodies(function))
    given = {t.name: a for t, a in zip(function.template, template, strict=False) if a}
    for param in function.params:
        kind = usage.types.of(param, function, template)
        for pitch, pointer in _in_bodies(usage.types.methods(kind, function.scope, given)):
            yield f"{param.name}.{pitch}", f"{param.name}.{pointer}"


def _in_bodies(bodies: Iterable[object]) -> Iterator[tuple[str, str]]:
    for body in bodies:
        for node in walk(body):
            if isinstance(node, Binary) and node.operator == "+":
                for base, offset in ((node.left, node.right), (node.right, node.left)):
                    yield from ((factor, pointer) for pointer in _bytes_of(base) for factor in _factors(offset))


def _bytes_of(node: Expression) -> Iterator[str]:
    """Yields the name of the pointer that `node` turns into one to bytes."""
    if (
        isinstance(node, Cast)
        and node.type.pointers == 1
        and node.type.name in _BYTES
        and (name := _named(node.operand))
    ):
        yield name


def _factors(node: Expression) -> Iterator[str]:
    if isinstance(node, Binary) and node.operator == "*":
        yield from filter(None, map(_named, (node.left, node.right)))


def _named(node: Expression) -> str:
    """Returns the name of a parameter, `p.step` for a field of one, or of a member within its class; else empty."""
    if isinstance(node, Name):
        return unqualified(node.name)
    if not isinstance(node, Member):
        return ""
    owner = _named(node.owner)
    return node.name if owner == "this" else f"{owner}.{node.name}" if owner else ""

"""Gives axes to flat tensors: `M * N` elements behind a pointer are a matrix to the author of a kernel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from porter.contract.model.contract import Contract, Role, TensorArg
from porter.contract.model.parser import parse
from porter.contract.model.syntax import Binary, Name, Node, Number

_Shape = tuple[str, ...]


def views(contract: Contract) -> tuple[Contract, ...]:
    """Returns contracts that differ from `contract` in the axes of flat tensors alone, `contract` itself last.

    The factors of an extent are its axes: in the order in which the extent names them, in the reverse order, and with
    outputs against inputs, which is how a transposition is written.
    """
    orders = [
        _seen(contract, lambda _, axes: axes),
        _seen(contract, lambda _, axes: axes[::-1]),
        _seen(contract, lambda tensor, axes: axes[::-1] if tensor.role is not Role.IN else axes),
    ]
    return tuple({tuple(t.shape for t in one.tensors): one for one in (*orders, contract)}.values())


def _seen(contract: Contract, order: Callable[[TensorArg, _Shape], _Shape]) -> Contract:
    flat = {a.name for a in contract.tensors if len(a.shape) == 1}
    arguments = (
        replace(a, shape=order(a, _axes(a))) if isinstance(a, TensorArg) and a.name in flat else a
        for a in contract.arguments
    )
    return replace(contract, arguments=tuple(arguments))


def _axes(tensor: TensorArg) -> _Shape:
    """Returns the factors of a flat tensor's extent; a number joins the symbol before it: `rows * D4 * 4`."""
    axes: list[str] = []
    for factor in _factors(parse(tensor.shape[0])):
        if isinstance(factor, Number) and axes:
            axes[-1] += f" * {factor.value}"
        elif isinstance(factor, Name):
            axes.append(factor.name)
        else:
            return tensor.shape
    return tuple(axes)


def _factors(node: Node) -> tuple[Node, ...]:
    if isinstance(node, Binary) and node.operator == "*":
        return (*_factors(node.left), *_factors(node.right))
    return (node,)

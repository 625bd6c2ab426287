"""Exports a module, in the process that may run its code, and writes down the graph of core ATen operators."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path

import torch
from torch._decomp import get_decompositions
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind, OutputKind
from torch.fx import Node as FxNode

from porter.lift.exported.graph import (
    Argument,
    ExportedGraph,
    Given,
    Items,
    Named,
    Node,
    Place,
    Reference,
    Tensor,
)

_FRAME = re.compile(r'File "(?P<path>[^"]+)", line (?P<line>\d+), in [^\n]*\n(?:[ \t]+(?P<text>[^\n]*))?')
_aten = torch.ops.aten
# Core operators that others express, which are taken apart further.
_TAKEN_APART = (
    _aten._log_softmax,
    _aten._native_batch_norm_legit,
    _aten._native_batch_norm_legit_functional,
    _aten._native_batch_norm_legit_no_training,
    _aten._prelu_kernel,
    _aten._softmax,
    _aten.addmm,
    _aten.baddbmm,
    _aten.elu,
    _aten.embedding,
    _aten.gelu,
    _aten.hardtanh,
    _aten.leaky_relu,
    _aten.native_layer_norm,
    _aten.nll_loss_forward,
)
# What the tensor IR has words of its own for, in which nothing has to be said about infinities.
_KEPT = ("aten::logsumexp",)


class _Function(torch.nn.Module):
    """A function of a list of inputs, as a module without parameters."""

    def __init__(self, function: Callable[[Sequence[object]], object]) -> None:
        super().__init__()
        self._function = function

    def forward(self, *arguments: object) -> object:
        """Calls it."""
        return self._function(arguments)


def captured(
    model: torch.nn.Module | Callable[[Sequence[object]], object],
    inputs: Sequence[object],
    state: Sequence[str],
    path: Path,
) -> ExportedGraph:
    """Returns the graph of `model` for `inputs`; a function takes all inputs as a list.

    `state` are the names of parameters that stand behind the inputs in a call. `path` is the file whose lines nodes are
    said to come from. Raises what torch raises where it cannot be exported.
    """
    module = model if isinstance(model, torch.nn.Module) else _Function(model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program = torch.export.export(module, tuple(inputs), strict=False).run_decompositions(dict(_decompositions()))
    return ExportedGraph(
        tuple(_given(program, inputs, state)),
        tuple(f"input {place} is {value}" for place, value in enumerate(inputs) if not isinstance(value, torch.Tensor)),
        tuple(_node(node, path) for node in program.graph.nodes if node.op == "call_function"),
        tuple(_outputs(program)),
    )


@cache
def _decompositions() -> dict[torch._ops.OperatorBase, Callable[..., object]]:
    """Returns how operators are taken apart; making the table takes a sixth of an export."""
    table = dict(torch.export.default_decompositions())
    for operator, function in get_decompositions(_TAKEN_APART).items():
        table[operator] = function
    kept = [operator for operator in table if operator.name().partition(".")[0] in _KEPT]
    for operator in kept:
        del table[operator]
    return table


def _given(program: ExportedProgram, inputs: Sequence[object], state: Sequence[str]) -> Iterator[Given]:
    types = {node.name: node.meta.get("val") for node in program.graph.nodes if node.op == "placeholder"}
    places = iter([place for place, value in enumerate(inputs) if isinstance(value, torch.Tensor)])
    positions = {name: len(inputs) + place for place, name in enumerate(state)}
    for spec in program.graph_signature.input_specs:
        name, made = spec.arg.name, types.get(spec.arg.name)
        if not isinstance(made, torch.Tensor):
            continue
        is_user = spec.kind is InputKind.USER_INPUT
        position = next(places) if is_user else positions.get(spec.target or "", -1)
        yield Given(name, position, _tensor(made), spec.target or name)


def _outputs(program: ExportedProgram) -> Iterator[Reference]:
    for spec in program.graph_signature.output_specs:
        if spec.kind is OutputKind.USER_OUTPUT and isinstance(spec.arg.name, str):
            yield Reference(spec.arg.name)


def _node(node: FxNode, path: Path) -> Node:
    return Node(
        node.name,
        _name(node.target),
        tuple(map(_argument, node.args)),
        tuple(Named(name, _argument(value)) for name, value in node.kwargs.items()),
        tuple(_tensors(node.meta.get("val"))),
        _place(node.meta.get("stack_trace"), path),
    )


def _name(target: object) -> str:
    return str(target) if isinstance(target, torch._ops.OpOverload) else getattr(target, "__name__", str(target))


def _argument(value: object) -> Argument:
    """Returns an argument as data; anything else (a type, a layout, a device) by its name."""
    if isinstance(value, FxNode):
        return Reference(value.name)
    if isinstance(value, (list, tuple)):
        return Items(tuple(map(_argument, value)))
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return str(value)


def _tensors(value: object) -> Iterator[Tensor]:
    """Yields the types of a node's results; for a result that is no tensor that of a number without a type."""
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from _tensors(item)
    elif isinstance(value, torch.Tensor):
        yield _tensor(value)
    else:
        yield Tensor("", ())


def _tensor(value: torch.Tensor) -> Tensor:
    return Tensor(str(value.dtype).removeprefix("torch."), tuple(int(extent) for extent in value.shape))


def _place(trace: object, path: Path) -> Place:
    """Returns the innermost line of the module's own file."""
    frames: Iterable[re.Match[str]] = _FRAME.finditer(trace) if isinstance(trace, str) else ()
    own = [frame for frame in frames if Path(frame["path"]) == path]
    return Place(int(own[-1]["line"]), (own[-1]["text"] or "").strip()) if own else Place(0, "")

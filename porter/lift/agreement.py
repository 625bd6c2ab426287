"""Checks that an expression gives the executed values: a fit looks at some elements, a normal form has its own rules.

The graph is computed operation by operation, nodes of one depth and operation at once. A node that is no operation of
the tensor IR, such as the old value of an atomic update, has no value, nor has any node that depends on it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray

from porter.contract.model.dtype import DType
from porter.ir.tensor.arithmetic import apply
from porter.ir.tensor.expressions import Expression
from porter.ir.tensor.interpret import interpret
from porter.ir.tensor.places import tensors_read
from porter.ir.tensor.program import Input, Output, TensorProgram
from porter.ir.tensor.values import Value, numeric
from porter.ir.tensor.verify import POINTWISE
from porter.lift.fitted import EvaluatedProbe
from porter.lift.nodes import Graph, Nodes, NotLiftedError
from porter.lift.probes import Probe

_Numbers = NDArray[np.float64]
_Shapes = Mapping[str, tuple[int, ...]]
_Level = tuple[int, str, str]  # a depth, an operation and a tensor
_TOLERANCE = 1e-6  # relative: sums are added up in another order
_SAME_ORDER = frozenset({"bits", "key"})  # a float as an integer that is ordered alike, in which alone it is used
_FLOATS = frozenset({"float64", "float32", "float16", "bfloat16"})


@dataclass(frozen=True)
class Trial:
    """Inputs, and the value of every node of a graph for them."""

    inputs: Mapping[str, _Numbers]
    values: _Numbers


def trials(graph: Graph, shapes: _Shapes) -> tuple[Trial, ...]:
    """Returns trials at inputs that differ and at inputs of which many are equal."""
    types = {str(key[2]): str(key[1]) for key in _keys(graph) if key[0] in ("read", "gather")}
    random = np.random.default_rng(1)

    def drawn(name: str, shape: tuple[int, ...], has_ties: bool) -> _Numbers:
        if types.get(name, "float32") not in _FLOATS:
            return random.integers(0, 2, shape).astype(np.float64)
        return random.integers(1, 4, shape) / 2 if has_ties else random.uniform(0.5, 1.5, shape)

    told, levels = [], sorted(_levels(graph).items())
    for has_ties in (False, True):
        inputs = {name: np.asarray(drawn(name, shape, has_ties)) for name, shape in shapes.items()}
        told.append(Trial(inputs, _computed(graph, levels, inputs)))
    return tuple(told)


def check(tried: Sequence[Trial], body: Expression, names: Sequence[str], nodes: Nodes) -> None:
    """Raises `NotLiftedError` where `body`, over the coordinates `names`, is not what `nodes` are."""
    for trial in tried:
        tensors = {name: torch.from_numpy(np.ascontiguousarray(array)) for name, array in trial.inputs.items()}
        inputs = tuple(Input(name, DType.FLOAT64, ("",) * tensor.dim()) for name, tensor in tensors.items())
        output = Output("out", DType.FLOAT64, tuple(names), ("",) * nodes.ndim, body)
        program = TensorProgram("probe", (), (), inputs, (output,))
        try:
            told = interpret(program, tensors, {}, {"out": nodes.shape})["out"].numpy()
        except (IndexError, ZeroDivisionError, ValueError) as error:
            raise NotLiftedError(f"what was fitted has no value: {error}") from error
        if not np.allclose(told, trial.values[nodes], rtol=_TOLERANCE, atol=_TOLERANCE, equal_nan=True):
            raise NotLiftedError("what was fitted to some elements is not what others are")


def _keys(graph: Graph) -> Iterator[tuple[object, ...]]:
    return (graph[node] for node in range(len(graph)))


def _computed(graph: Graph, levels: Sequence[tuple[_Level, list[int]]], inputs: Mapping[str, _Numbers]) -> _Numbers:
    values = np.full(len(graph), np.nan)
    flat = {name: array.ravel() for name, array in inputs.items()}
    for (_, op, tensor), group in levels:
        operands = np.array([graph.operands(node) for node in group], np.int64).reshape(len(group), -1)
        if op == "number":
            values[group] = [float(graph.value(node) or 0) for node in group]
        elif op == "read":
            values[group] = flat[tensor][[int(str(graph[node][3])) for node in group]]
        elif op == "gather":
            places = np.nan_to_num(values[operands[:, 0]]).astype(np.int64)
            values[group] = flat[tensor][np.clip(places, 0, flat[tensor].size - 1)]
        elif op in _SAME_ORDER:
            values[group] = values[operands[:, 0]]
        elif op in POINTWISE:
            columns = [Value(("node",), torch.from_numpy(values[column])) for column in operands.T]
            values[group] = numeric(apply(op, columns, torch.float64).data).numpy()
    return values


def _levels(graph: Graph) -> dict[_Level, list[int]]:
    """Returns nodes by depth, operation and tensor: all operands of one are in groups before its own."""
    depths: list[int] = []
    groups: dict[_Level, list[int]] = {}
    for node, key in enumerate(_keys(graph)):
        depths.append(1 + max((depths[operand] for operand in graph.operands(node)), default=-1))
        tensor = str(key[2]) if key[0] in ("read", "gather") else ""
        groups.setdefault((depths[node], str(key[0]), tensor), []).append(node)
    return groups


def holds(program: TensorProgram, probe: Probe, seen: EvaluatedProbe) -> bool:
    """Returns whether `program` gives at the sizes of `probe` what was seen of a call there.

    A call may be given fewer tensors than the program has, as some are null pointers; it cannot have read those.
    """
    given = {one.name: torch.tensor(one.elements, dtype=torch.float64).reshape(one.shape) for one in seen.inputs}
    shapes = {one.name: one.shape for one in seen.outputs}
    if set(shapes) != {output.name for output in program.outputs} or not tensors_read(program) <= given.keys():
        return False
    outputs = (
        replace(o, dtype=DType.FLOAT64) if o.dtype.is_float else o for o in program.outputs
    )  # nothing is rounded
    inputs = tuple(tensor for tensor in program.inputs if tensor.name in given)
    program = replace(program, inputs=inputs, outputs=tuple(outputs))
    try:
        told = interpret(program, {tensor.name: given[tensor.name] for tensor in inputs}, probe.values, shapes)
    except (IndexError, ZeroDivisionError, ValueError):
        return False
    return all(
        np.allclose(
            told[one.name].ravel().double().numpy(), one.elements, rtol=_TOLERANCE, atol=_TOLERANCE, equal_nan=True
        )
        for one in seen.outputs
    )

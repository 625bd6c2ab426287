"""The outcome of an execution on symbols, as it leaves the process that ran it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from porter.contract.model.dtype import DType
from porter.ir.tensor.expressions import Expression
from porter.launch_plan.wire import encode
from porter.lift.affine import Points
from porter.lift.agreement import Trial, check, trials
from porter.lift.fit import Fitter
from porter.lift.fitted import RESULT, EvaluatedProbe, FittedOutput, FittedProbe, FittedProbes, RefusedProbe, Values
from porter.lift.nodes import Graph, Node, Nodes, NotLiftedError
from porter.lift.normal import Normaliser

_POINTS = (160, 500)  # elements that an expression is read off: few first, since most outputs are alike everywhere


@dataclass(frozen=True, slots=True)
class SymbolicTensor:
    """The nodes of all elements of a tensor, in an array of its shape."""

    dtype: DType
    shape: tuple[int, ...]
    nodes: Nodes


@dataclass(frozen=True, slots=True)
class Executed:
    """An executed call: its results, and what its tensor arguments hold afterwards; `inputs` are their extents."""

    graph: Graph
    inputs: Mapping[str, tuple[int, ...]]
    results: tuple[SymbolicTensor, ...]
    arguments_after: Mapping[str, SymbolicTensor]


def evaluated(executed: Executed) -> bytes:
    """Returns the values of a call for random inputs, ready to send: no expression is looked for."""
    trial = trials(executed.graph, executed.inputs)[0]
    inputs = (Values(name, array.shape, tuple(array.ravel().tolist())) for name, array in trial.inputs.items())
    outputs = (
        Values(name, tensor.shape, tuple(trial.values[tensor.nodes].ravel().tolist()))
        for name, tensor in _outputs(executed)
    )
    return encode(EvaluatedProbe(tuple(inputs), tuple(outputs))).encode()


def lifted(executed: Sequence[Executed]) -> bytes:
    """Returns the outputs of each call as expressions, on the wire."""
    return encode(FittedProbes(tuple(map(_fitted, executed)))).encode()


def _fitted(executed: Executed) -> FittedProbe | RefusedProbe:
    try:
        return _fitted_probe(executed)
    except NotLiftedError as error:
        return RefusedProbe(str(error))
    except RecursionError:
        return RefusedProbe("its operations are nested too deeply")


def _fitted_probe(executed: Executed) -> FittedProbe:
    normaliser = Normaliser(executed.graph)
    fitter = Fitter(normaliser.forms, executed.inputs)
    tried = trials(executed.graph, executed.inputs)
    outputs = []
    for name, tensor in _outputs(executed):
        try:
            body = _body(normaliser, fitter, tried, tensor)
        except NotLiftedError as error:
            raise NotLiftedError(f"{name}: {error}") from error
        outputs.append(FittedOutput(name, tensor.dtype, tensor.shape, body))
    assumed = {str(assumption) for assumption in executed.graph.assumptions} | normaliser.forms.used
    return FittedProbe(tuple(outputs), tuple(sorted(assumed)))


def _body(normaliser: Normaliser, fitter: Fitter, tried: Sequence[Trial], tensor: SymbolicTensor) -> Expression:
    """Returns the expression of a tensor's elements: fitted to some of them, and checked on all."""
    names = [f"o{axis}" for axis in range(len(tensor.shape))]
    points = Points.of(names, tensor.shape)
    nodes = tensor.nodes.ravel()
    for most in _POINTS:
        rows = sorted(Random(len(nodes)).sample(range(len(nodes)), min(most, len(nodes))))
        try:
            forms = [normaliser.form(node) for node in nodes[rows].tolist()]
            body = fitter.output(points.at(rows), forms)
            check(tried, body, names, tensor.nodes)
        except NotLiftedError:
            if len(rows) == len(nodes) or most == _POINTS[-1]:
                raise
        else:
            return body
    raise AssertionError(tensor)


def _outputs(executed: Executed) -> Iterator[tuple[str, SymbolicTensor]]:
    """Yields the results, and the arguments that hold something else than they were given."""
    single = len(executed.results) == 1
    for place, tensor in enumerate(executed.results):
        yield (RESULT if single else f"{RESULT}{place}"), tensor
    for name, tensor in executed.arguments_after.items():
        if any(not _is_given(executed.graph, node, name, at) for at, node in enumerate(tensor.nodes.ravel().tolist())):
            yield name, tensor


def _is_given(graph: Graph, node: Node, tensor: str, at: int) -> bool:
    key = graph[node]
    return key[0] == "read" and key[2:] == (tensor, at)

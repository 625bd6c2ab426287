"""What an execution comes to leaves its process and is read again; from several of them a whole program is made."""

# ruff: noqa: ARG001 - all kernels take the same

import json
import math
from functools import reduce

import numpy as np
import pytest
import torch

from porter.contract.model.dtype import DType
from porter.ir.tensor.expressions import Combine, Number, Read, Reduce
from porter.ir.tensor.interpret import interpret
from porter.ir.tensor.verify import verify
from porter.launch_plan.wire import WireError
from porter.lift.answer import Executed, SymbolicTensor, lifted
from porter.lift.assemble import assembled
from porter.lift.fitted import FittedProbe, FittedProbes, RefusedProbe, read
from porter.lift.nodes import Assumption, Graph, NotLiftedError, exact
from porter.lift.probes import chosen
from tests.pure.lift.symbolic_floats import Symbol, Tensor, constant, exp, lowest, maximum, select, sqrt
from tests.pure.lift.test_probes import contract_of, takes_all

F32 = DType.FLOAT32


def tensor_of(symbols, shape, dtype=F32):
    return SymbolicTensor(dtype, shape, np.array([one.node for one in symbols], np.int64).reshape(shape))


def execution(kernel, rows=3, cols=5):
    """A call of a kernel that takes a matrix and gives what its results and `x` hold afterwards."""
    graph = Graph()
    x = Tensor(graph, "x", (rows, cols))
    elements = [[x[i, j] for j in range(cols)] for i in range(rows)]
    results, after = kernel(elements, graph)
    held = [element for row in elements for element in row] if after is None else after
    return Executed(graph, {"x": (rows, cols)}, results, {"x": tensor_of(held, (rows, cols))})


def row_sums(elements, graph):
    sums = [reduce(lambda a, b: a + b, row) for row in elements]
    return (tensor_of(sums, (len(sums),)),), None


def only_probe(executed):
    (probe,) = read(lifted([executed])).probes
    return probe


def test_one_result_is_called_out_and_an_argument_that_is_left_alone_is_no_output():
    probe = only_probe(execution(row_sums))
    assert isinstance(probe, FittedProbe)
    (output,) = probe.outputs
    assert (output.name, output.dtype, output.shape) == ("out", F32, (3,))
    assert isinstance(output.body, Reduce)
    assert output.body.combine is Combine.SUM


def test_several_results_are_numbered_and_an_argument_that_is_written_is_an_output():
    def kernel(elements, graph):
        flat = [element for row in elements for element in row]
        whole = tensor_of([reduce(maximum, flat)], ())
        return (whole, tensor_of(flat, (3, 5), DType.FLOAT64)), [element * 2 for element in flat]

    probe = only_probe(execution(kernel))
    assert [output.name for output in probe.outputs] == ["out0", "out1", "x"]
    assert [output.shape for output in probe.outputs] == [(), (3, 5), (3, 5)]
    assert [output.dtype for output in probe.outputs] == [F32, DType.FLOAT64, F32]


def test_an_argument_in_which_elements_changed_places_is_an_output():
    def kernel(elements, graph):
        return (), [element for row in elements for element in row[::-1]]

    assert [output.name for output in only_probe(execution(kernel)).outputs] == ["x"]


def test_what_it_rests_on_is_told():
    def kernel(elements, graph):
        flat = [maximum(lowest(graph), element) - (element - element) for row in elements for element in row]
        return (tensor_of(flat, (3, 5)),), None

    assert only_probe(execution(kernel)).assumptions == (str(Assumption.FINITE),)
    assert only_probe(execution(row_sums)).assumptions == ()


def test_a_probe_that_is_refused_says_why_and_leaves_the_others():
    def undefined(elements, graph):
        return (tensor_of([Symbol(graph, graph.undefined)], ()),), None

    def infinite(elements, graph):
        return (tensor_of([lowest(graph), Symbol(graph, graph.number(1, "float32"))], (2,)),), None

    told = read(lifted([execution(row_sums), execution(undefined), execution(infinite), execution(row_sums, 4, 7)]))
    assert [type(probe) for probe in told.probes] == [FittedProbe, RefusedProbe, RefusedProbe, FittedProbe]
    assert "out: " in told.probes[1].because
    assert "undefined" in told.probes[1].because
    assert "infinite" in told.probes[2].because


@pytest.mark.parametrize("place", range(7, 700, 31))
def test_one_element_of_many_that_differs_is_seen(place):
    """Where a fit looks at some elements, something else has to look at all."""

    def kernel(elements, graph):
        (row,) = elements
        return (tensor_of([exp(value) if at == place else value for at, value in enumerate(row)], (len(row),)),), None

    assert isinstance(only_probe(execution(kernel, 1, 700)), RefusedProbe)


def test_what_is_nested_deeply_is_refused_or_lifted():
    """A recurrence over 1,500 elements, as deep as it is long."""

    def kernel(elements, graph):
        return (tensor_of([reduce(lambda state, value: (state + value).of("tanh"), elements[0])], ()),), None

    told = read(lifted([execution(kernel, 1, 1500), execution(row_sums)]))
    assert isinstance(told.probes[1], FittedProbe)


def test_numbers_cross_the_border_exactly():
    def kernel(elements, graph):
        return (tensor_of([elements[0][0] * 0.1 + Symbol(graph, graph.number(exact(1e-30), "float32"))], ()),), None

    probe = only_probe(execution(kernel))
    numbers = {str(value) for value in _fractions(json.loads(lifted([execution(kernel)])))}
    assert {"1/10", "1/1000000000000000000000000000000"} <= numbers
    assert not isinstance(probe.outputs[0].body, (Number, Read))


def _fractions(data):
    if isinstance(data, dict):
        data = list(data.values())
    if isinstance(data, list):
        return [text for part in data for text in _fractions(part)]
    return [data] if isinstance(data, str) else []


def test_no_calls_are_no_probes():
    assert read(lifted([])) == FittedProbes(())


def damaged(change):
    data = json.loads(lifted([execution(row_sums)]))
    change(data)
    return json.dumps(data).encode()


FOREIGN = {
    "nothing": b"",
    "no text": b"\xff\xfe\x00",
    "no JSON": b"{",
    "a number": b"3",
    "null": b"null",
    "a list": b"[]",
    "another record": b'{"is":"FittedProbe","outputs":[],"assumptions":[]}',
    "a field too many": damaged(lambda data: data.update(more=1)),
    "a field too few": damaged(lambda data: data["probes"][0].pop("assumptions")),
    "a probe of another kind": damaged(lambda data: data["probes"].append({"is": "Executed"})),
    "a name that is no text": damaged(lambda data: data["probes"][0]["outputs"][0].update(name=3)),
    "an extent that is no number": damaged(lambda data: data["probes"][0]["outputs"][0].update(shape=["3"])),
    "a type that is none": damaged(lambda data: data["probes"][0]["outputs"][0].update(dtype="float31")),
    "a body that is none": damaged(lambda data: data["probes"][0]["outputs"][0].update(body=None)),
    "a combination that is none": damaged(lambda data: data["probes"][0]["outputs"][0]["body"].update(combine="mean")),
    "deep nesting": b'{"is":"FittedProbes","probes":' + b"[" * 100_000,
}


@pytest.mark.parametrize("name", FOREIGN)
def test_what_was_not_written_here_is_refused(name):
    with pytest.raises(WireError):
        read(FOREIGN[name])


def softmax(x, probe):
    told = []
    for row in x:
        largest = reduce(maximum, row)
        powers = [exp(value - largest) for value in row]
        summed = reduce(lambda a, b: a + b, powers)
        told.append([power / summed for power in powers])
    return told


def leaky(x, probe):
    slope = probe.fractional["negative_slope"]
    return [[select(value > 0, value, value * float(slope)) for value in row] for row in x]


def scaled_by_root(x, probe):
    """Over the root of an extent, which is a whole number at some sizes."""
    return [[value / sqrt(constant(value.graph, len(row))) for value in row] for row in x]


def mean(x, probe):
    return reduce(lambda a, b: a + b, [value for row in x for value in row]) / (len(x) * len(x[0]))


PROGRAMS = {
    # a kernel, the operator whose contract it has, and numpy's words for it
    "softmax": (softmax, "softmax", lambda x: np.exp(x) / np.exp(x).sum(1, keepdims=True)),
    "leaky": (leaky, "leaky_relu", lambda x: np.where(x > 0, x, 0.25 * x)),
    "over a root": (scaled_by_root, "softmax", lambda x: x / math.sqrt(x.shape[1])),
}


def fitted_probes(kernel, probes):
    executed = []
    for probe in probes:
        shape = tuple(probe.sizes.values())
        graph = Graph()
        x = Tensor(graph, "x", shape)
        told = kernel([[x[i, j] for j in range(shape[1])] for i in range(shape[0])], probe)
        flat = [value for row in told for value in row] if isinstance(told, list) else [told]
        result = tensor_of(flat, shape if isinstance(told, list) else ())
        executed.append(Executed(graph, {"x": shape}, (result,), {}))
    return read(lifted(executed))


@pytest.mark.parametrize("name", PROGRAMS)
def test_probes_of_a_contract_are_one_program_that_holds_at_other_sizes(name):
    kernel, operator, numpy_kernel = PROGRAMS[name]
    contract = contract_of(operator)
    probes = chosen(contract, 9, takes_all)
    program = assembled(contract, probes, fitted_probes(kernel, probes))
    verify(program)
    assert program.symbols == ("rows", "columns")
    assert program.outputs[0].shape == ("rows", "columns")
    sizes = {"rows": 2, "columns": 37} | dict.fromkeys(program.parameters, exact(0.25))
    x = np.random.default_rng(0).normal(size=(2, 37))
    told = interpret(
        program, {"x": torch.from_numpy(x)}, {k: exact(float(v)) for k, v in sizes.items()}, {"out": x.shape}
    )
    np.testing.assert_allclose(told["out"].numpy(), numpy_kernel(x), rtol=1e-5)


def test_a_single_number_is_a_program_too():
    contract = contract_of("softmax")
    probes = chosen(contract, 9, takes_all)
    program = assembled(contract, probes, fitted_probes(mean, probes))
    assert program.outputs[0].shape == ()
    x = torch.arange(6.0, dtype=torch.float64).reshape(2, 3)
    told = interpret(program, {"x": x}, {"rows": exact(2.0), "columns": exact(3.0)}, {"out": ()})
    assert math.isclose(float(told["out"]), 2.5)


def test_an_operator_that_does_another_thing_at_one_of_its_sizes_is_refused():
    """All probes have extents of 3 and more: nothing excuses that one of them disagrees."""
    contract = contract_of("softmax")
    probes = chosen(contract, 9, takes_all)
    most = max(math.prod(probe.sizes.values()) for probe in probes)

    def kernel(x, probe):
        is_largest = math.prod(probe.sizes.values()) == most
        return [[exp(value) if is_largest else value for value in row] for row in x]

    with pytest.raises(NotLiftedError):
        assembled(contract, probes, fitted_probes(kernel, probes))


def test_an_operator_that_is_refused_at_most_of_its_sizes_is_refused():
    contract = contract_of("softmax")
    probes = chosen(contract, 9, takes_all)
    told = fitted_probes(softmax, probes).probes
    part = FittedProbes((*told[:3], *[RefusedProbe("it has no form")] * (len(told) - 3)))
    with pytest.raises(NotLiftedError, match="it has no form"):
        assembled(contract, probes, part)

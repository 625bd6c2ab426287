"""What torch.export makes of modules, read as tensor programs, gives what PyTorch gives."""

from pathlib import Path

import pytest
import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.nn import functional as F  # noqa: N812 - as everybody calls it

from porter.contract.model.contract import Contract, Entry, EntryKind, Role, TensorArg
from porter.contract.model.dtype import DType
from porter.ir.tensor.interpret import interpret
from porter.ir.tensor.printer import printed
from porter.ir.tensor.verify import verify
from porter.launch_plan.wire import decode, encode
from porter.lift.exported.capture import captured
from porter.lift.exported.graph import ExportedGraph
from porter.lift.exported.joining import extent_text, joined
from porter.lift.exported.lifting import lifted
from porter.lift.nodes import NotLiftedError
from porter.oracle.python_module import Reference, parameters_of
from porter.oracle.python_question import Ask, Question
from porter.resources import resource
from porter.suite.selection import find_operators
from porter.worker.load import load

IMAGES = (2, 6, 5, 4)
ROWS = (4, 7)


class Called(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *inputs):
        return self.function(*inputs)


def argument(name, tensor, symbols):
    shape = tuple(symbols.get(extent, str(extent)) for extent in tensor.shape)
    return TensorArg(name, Role.IN, DType(str(tensor.dtype).removeprefix("torch.")), shape)


def graph_of(module, inputs):
    """The graph as it comes over the border, its inputs and the parameters of the module."""
    state = {name: tensor for name, tensor in module.state_dict().items() if tensor.is_floating_point()}
    with torch.no_grad():
        graph = captured(module, inputs, list(state), Path(__file__))
    return decode(ExportedGraph, encode(graph)), [*inputs, *state.values()]


def program_of(module, *sets):
    """The program that the inputs of each of the sets give, in which extents that differ are symbols."""
    graphs = [graph_of(module, inputs) for inputs in sets]
    first, last = graphs[0][1], graphs[-1][1]
    named = {
        a: f"s{a}" for x, y in zip(first, last, strict=True) for a, b in zip(x.shape, y.shape, strict=True) if a != b
    }
    tensors = tuple(argument(f"x{place}", tensor, named) for place, tensor in enumerate(first))
    sizes = []
    for _, given in graphs:
        pairs = (pair for x, y in zip(first, given, strict=True) for pair in zip(x.shape, y.shape, strict=True))
        sizes.append({named[a]: b for a, b in pairs if a in named})
    entry = Entry(EntryKind.TORCH, "forward")
    contract = Contract("module", "other", entry, tensors, tuple(sizes[0]), (), (), {})
    program = joined(
        contract, sizes, [graph for graph, _ in graphs], [lifted(graph, tensors) for graph, _ in graphs], ()
    )
    verify(program)
    return program, graphs, sizes


def agrees(module, *sets):
    program, graphs, sizes = program_of(module, *sets)
    for (_, given), at, inputs in zip(graphs, sizes, sets, strict=True):
        with torch.no_grad():
            answer = module(*inputs)
        wanted = list(answer) if isinstance(answer, tuple) else [answer]
        shapes = {output.name: tuple(want.shape) for output, want in zip(program.outputs, wanted, strict=True)}
        values = {f"x{place}": tensor for place, tensor in enumerate(given)}
        got = interpret(program, values, at, shapes)
        for output, want in zip(program.outputs, wanted, strict=True):
            assert output.dtype.value == str(want.dtype).removeprefix("torch.")
            torch.testing.assert_close(got[output.name].double(), want.double(), rtol=1e-5, atol=1e-6)
    return printed(program)


def rows(*shape):
    return torch.randn(shape or ROWS, generator=torch.Generator().manual_seed(sum(shape or ROWS)))


def activations(x):
    y = F.mish(F.softplus(F.silu(F.elu(F.hardswish(F.leaky_relu(x, 0.1))))))
    return F.gelu(y) + F.gelu(x, approximate="tanh") + F.selu(x) * F.relu6(x) + F.hardtanh(x, -0.5, 0.5) + x.sign()


def arithmetic(x, y):
    z = torch.where(x > y, x.square() - 2 * y, torch.maximum(x, y).exp().log1p())
    z = z + torch.rsqrt(x.abs() + 1) + (1 - y) / (x.abs() + 2) + x.clamp(min=-0.3) ** 3 + torch.nan_to_num(x)
    return (
        z
        + torch.logical_and(x > 0, y < 1).float()
        - (x == y).int()
        + torch.trunc(2 * x)
        + torch.div(x, 0.3, rounding_mode="floor")
    )


def norms(x):
    y = (
        F.layer_norm(x, x.shape[-1:])
        + F.normalize(x, dim=1)
        + x.norm(1, dim=0)
        + torch.linalg.vector_norm(x, float("inf"))
    )
    return (
        y + F.rms_norm(x, x.shape[-1:]) + x.std(1, keepdim=True) + torch.var(x) + F.softmax(x, 0) - F.log_softmax(x, 1)
    )


def reductions(x):
    values, places = torch.max(x, dim=1)
    sums = x.sum(), x.mean(1), x.amin(0), x.prod(1), x.argmin(1), torch.argmax(x), torch.logsumexp(x, 1), (x > 1).any(1)
    return (*sums, values, places)


def running(x):
    return torch.cumsum(x, 1), torch.cumsum(x.flip(1), 1).flip(1), torch.cumprod(x, 0), torch.cummax(x, 1)[0]


def layouts(x):
    parts = x.chunk(2, 1)
    y = torch.cat((parts[1], parts[0] * 2), 1).permute(0, 2, 3, 1).reshape(x.shape[0], -1)
    z = F.pad(x, (1, 2, 0, 1), value=3.0)[:, ::2, 1:].repeat(1, 2, 1, 1).transpose(1, 2)
    return (
        y,
        z,
        x.unbind(1)[2].unsqueeze(1).expand(-1, 3, -1, -1),
        torch.stack((x, -x), 1).flatten(1, 2),
        x[:, 1, ..., -1],
    )


def groups(x):
    y = F.group_norm(x, 3) + F.instance_norm(x) * 2
    return F.pixel_shuffle(x[:, :4], 2), y, F.batch_norm(y, None, None, training=True)


def losses(x, y):
    square, near = F.mse_loss(x, y), F.smooth_l1_loss(x, y, beta=0.5) + F.huber_loss(x, y)
    angles = F.cosine_similarity(x, y, dim=1).mean() + F.kl_div(
        F.log_softmax(x, 1), F.softmax(y, 1), reduction="batchmean"
    )
    return square + near, angles + F.binary_cross_entropy_with_logits(x, torch.sigmoid(y)) + F.triplet_margin_loss(
        x, y, x + y
    )


def picked(x, places):
    logs = F.cross_entropy(x, places) + F.nll_loss(F.log_softmax(x, 1), places)
    return logs, x.gather(1, places[:, None]), F.embedding(places, x.t()), torch.index_select(x, 1, places)


def windows(x):
    return F.avg_pool2d(x, 2), F.max_pool2d(x, 3, stride=2, padding=1), F.adaptive_avg_pool2d(x, 1)


def products(x, y):
    return x @ y, torch.einsum("ij,jk->ki", x, y), F.linear(x, y.t(), y[0])


PLACES = torch.tensor([2, 0, 6, 3])
CASES = {
    "activations": (Called(activations), [rows()]),
    "arithmetic": (Called(arithmetic), [rows(), rows(4, 1)]),
    "norms": (Called(norms), [rows()]),
    "reductions": (Called(reductions), [rows()]),
    "running": (Called(running), [rows()]),
    "layouts": (Called(layouts), [rows(*IMAGES)]),
    "groups": (Called(groups), [rows(*IMAGES)]),
    "losses": (Called(losses), [rows(), rows(4, 7) * 2]),
    "picked": (Called(picked), [rows(), PLACES]),
    "windows": (Called(windows), [rows(*IMAGES)]),
    "products": (Called(products), [rows(4, 7), rows(7, 3)]),
    "convolution": (nn.Conv2d(6, 4, 3, stride=2, padding=1, groups=2), [rows(*IMAGES)]),
    "batch norm": (nn.BatchNorm2d(6).eval(), [rows(*IMAGES)]),
    "attention": (Called(F.scaled_dot_product_attention), [rows(2, 3, 5, 4), rows(2, 3, 6, 4), rows(2, 3, 6, 4)]),
}


@pytest.mark.parametrize("name", CASES)
def test_a_module_means_what_its_program_means(name):
    module, inputs = CASES[name]
    agrees(module, inputs)


def test_sizes_become_symbols_and_groups_are_divided():
    module = Called(lambda x: F.gelu(F.group_norm(x, 3)))
    shapes = [(2, 6, 5, 4), (3, 9, 7, 11), (5, 12, 4, 3), (4, 15, 2, 7), (7, 18, 6, 5), (3, 3, 4, 2)]
    text = agrees(module, *([rows(*shape)] for shape in shapes))
    assert "sum[k < s6 / 3, k2 < s5, k3 < s4]" in text
    assert text.startswith("forward(x0: float32[s2, s6, s5, s4])")


def test_extents_are_products_sums_and_counts_of_windows():
    sizes = [{"n": 5, "m": 8}, {"n": 12, "m": 7}, {"n": 9, "m": 30}]
    assert extent_text(sizes, [40, 84, 270]) == "m * n"
    assert extent_text(sizes, [13, 19, 39]) == "n + m"
    assert extent_text(sizes, [2, 6, 4]) == "(n - 2) // 2 + 1"
    with pytest.raises(NotLiftedError, match="no known form"):
        extent_text(sizes, [5, 4, 3])


def test_what_a_window_leaves_is_an_extent_of_numbers_and_of_ranges():
    module = nn.Sequential(nn.Conv2d(3, 6, 3), nn.InstanceNorm2d(6), nn.AdaptiveAvgPool2d(1))
    shapes = [(2, 3, 5, 4), (3, 3, 7, 9), (5, 3, 4, 6), (4, 3, 9, 7), (7, 3, 6, 11)]
    text = agrees(module, *([rows(*shape)] for shape in shapes))
    assert "k < s5 - 2, k2 < s4 - 2" in text


def refused(function, *inputs):
    with pytest.raises(NotLiftedError) as error:
        program_of(Called(function), list(inputs))
    return str(error.value)


def test_what_has_no_word_is_refused_by_its_name_and_line():
    line = Called.forward.__code__.co_firstlineno + 1
    place = f"line {line}: aten.sort.default (`return self.function(*inputs)`)"
    assert refused(lambda x: x.sort(1)[0], rows()) == f"{place} has no word in the tensor IR"


def test_what_cannot_be_said_is_refused_with_the_reason():
    table = torch.randn(7)
    assert "no argument: the module made it" in refused(lambda x: x + table, rows())
    assert "ceil_mode" in refused(lambda x: F.max_pool2d(x, 3, ceil_mode=True), rows(*IMAGES))
    assert "several axes are indexed" in refused(lambda x: x[torch.tensor([0, 1]), torch.tensor([1, 2])], rows())


def test_a_formula_that_differs_with_the_sizes_is_refused():
    module = Called(lambda x: x.sum(1) if x.shape[1] > 8 else x.amax(1))
    with pytest.raises(NotLiftedError, match="differs with the sizes"):
        program_of(module, [rows(4, 7)], [rows(5, 11)])


def test_roots_of_sizes_are_found():
    module = Called(lambda query, key: F.scaled_dot_product_attention(query, key, key))
    shapes = [(2, 3, 5, 4), (3, 4, 7, 10), (5, 2, 6, 9), (4, 5, 9, 7), (3, 2, 8, 11)]
    assert "sqrt(sqrt(1 / s4))" in agrees(module, *([rows(*shape), rows(*shape)] for shape in shapes))


@pytest.mark.parametrize("operator", find_operators(resource("op_suites").joinpath("modules")), ids=lambda o: o.name)
def test_a_module_that_ships_is_lifted(operator):
    question = Question(Ask.EXPORT)
    with FakeTensorMode(allow_non_fake_inputs=True), torch.no_grad():
        reference = Reference(load(operator.source))
        inputs, model = reference.inputs(), reference.model(question.extents)
        state = dict(parameters_of(model))
        graph = captured(model, inputs, list(state), operator.source)
    tensors = [argument(f"x{place}", tensor, {}) for place, tensor in enumerate((*inputs, *state.values()))]
    outputs = lifted(decode(ExportedGraph, encode(graph)), tensors)
    assert [output.shape for output in outputs] == [graph_shape(graph, output.name) for output in graph.outputs]


def graph_shape(graph, name):
    return next(node.results[0].shape for node in graph.nodes if node.name == name)

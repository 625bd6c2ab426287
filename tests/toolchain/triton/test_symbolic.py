"""Ports carried out on symbols: what the graph says of an operator's outputs is what its reference computes.

Other modules are written out here: what their graphs compute is compared with numpy, or they are refused.
"""

import importlib.util
import math
import operator
import pickle
import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from porter.contract.contract import Role, TensorArg
from porter.contract.dtype import DType, decode
from porter.contract.materialise import materialise
from porter.evaluate.side import original_side
from porter.lift.nodes import Assumption, NotLiftedError
from porter.registry import find_backend, find_target
from porter.simt.job import Job, Limits, ScalarValue, TensorValue
from porter.source.headers import DiskHeaders
from porter.source.load import read_sources
from porter.source.parse import parse
from porter.suite.operators import operators
from porter_triton.planned_calls import Function
from porter_triton.proof import calls_of
from porter_triton.symbolic.process import SymbolicProcess
from porter_triton.symbolic.request import InputTensor, Probe, SymbolicRequest

SUITES = Path(__file__).parents[3] / "op_suites"
SUITE = {op.name: op for op in operators(SUITES) if op.suite == "kernelbench"}
# One for each mechanism; benchmarks/lifting goes through all.
OPERATORS = (
    "argmin", "avg_pool1d", "batch_norm", "cross_entropy_loss", "cumsum_reverse", "elu", "group_norm", "kl_div_loss",
    "layer_norm", "log_softmax", "masked_cumsum", "max_reduce", "selu", "triplet_margin_loss",
)  # fmt: skip
SERVING = {op.name: op for op in operators(SUITES) if op.suite == "serving"}
SIZES = {
    "rows": 5, "columns": 43, "classes": 11, "batch": 2, "channels": 6, "height": 13, "width": 15, "depth": 7,
    "length": 23, "groups": 3, "keys": 19, "queries": 4, "heads": 3, "kv_heads": 1, "tokens": 4, "hidden": 21,
    "longest": 9, "size": 22, "vocabulary": 17, "segments": 3, "bins": 7, "experts": 8,
}  # fmt: skip
PERMITTED = frozenset(("add", "mul", "sum", "mean", "cumsum", "contiguous", "t", "clone"))
CONTROL = "a value of the data decides what is executed"


@pytest.fixture
def process(tmp_path):
    """A process that answers with all that came of a question."""
    (tmp_path / "texts").mkdir()
    (tmp_path / "work").mkdir()
    made = SymbolicProcess(tmp_path / "texts", tmp_path / "work", Limits(cpu_s=60.0), answer="pickle.dumps")
    yield made
    made.close()


@pytest.fixture
def execute(process, tmp_path):
    """`execute(text, values, names)`: what came of a call of the module's `forward`."""

    def executed(text, values, names):
        (tmp_path / "calls").mkdir()
        module = tmp_path / "port.py"
        module.write_text(text)
        inputs = tuple(
            InputTensor(name, value.dtype, value.shape) if isinstance(value, TensorValue) else None
            for name, value in zip(names, values, strict=True)
        )
        with calls_of(module, tmp_path / "calls", Limits()) as calls:
            plan = calls.plan(Function("forward", permitted=PERMITTED), Job(values))
            assert not isinstance(plan, str), plan
            asked = SymbolicRequest((Probe(plan, inputs),), calls.kernels)
        return pickle.loads(process.ask(asked))[0]

    return executed


UNARY = {
    "negate": operator.neg, "absolute": abs, "not": operator.not_, "exp": math.exp, "log": math.log,
    "sqrt": math.sqrt, "rsqrt": lambda a: 1 / math.sqrt(a), "erf": math.erf, "tanh": math.tanh, "expm1": math.expm1,
    "log1p": math.log1p, "cast": lambda a: a, "truncate": math.trunc, "floor": math.floor, "ceil": math.ceil,
    "outcome": lambda a: a, "exp2": lambda a: 2.0**a, "sin": math.sin, "cos": math.cos, "rint": round,
}  # fmt: skip
BINARY = {
    "add": operator.add, "subtract": operator.sub, "multiply": operator.mul, "divide": operator.truediv,
    "maximum": max, "minimum": min, "less": operator.lt, "equal": operator.eq, "and": lambda a, b: a and b,
    "or": lambda a, b: a or b, "quotient": lambda a, b: int(a / b), "remainder": math.fmod, "power": operator.pow,
}  # fmt: skip


def evaluate(graph, inputs, wanted):
    """The values of the nodes `wanted` and of all that they come of, in double precision; None is undefined."""
    needed, waiting = set(), list(wanted)
    while waiting:
        node = waiting.pop()
        if node not in needed:
            needed.add(node)
            waiting += graph.operands(node)
    values = {}
    for node in sorted(needed):
        values[node] = value_of(graph[node], [values[operand] for operand in graph.operands(node)], inputs)
    return values


def value_of(key, given, inputs):
    """The value of a node whose operands have the values `given`."""
    match key[0]:
        case "undefined":
            return None
        case "number":
            return float(key[2])
        case "read":
            return float(inputs[key[2]].reshape(-1)[key[3]])
        case "gather":
            flat = inputs[key[2]].reshape(-1)
            return float(flat[int(given[0])]) if given[0] is not None and 0 <= given[0] < flat.size else None
        case "select":
            condition, then, otherwise = given
            return None if condition is None else then if condition else otherwise
    if None in given:
        return None
    try:
        return (UNARY | BINARY)[key[0]](*given)
    except (ValueError, OverflowError, ZeroDivisionError):
        return None


def answers(executed, inputs, tensors):
    """The numbers that tensors of nodes are."""
    values = evaluate(executed.graph, inputs, [node for t in tensors for node in t.nodes.ravel().tolist()])
    return [np.array([values[n] for n in t.nodes.ravel().tolist()], np.float64).reshape(t.shape) for t in tensors]


def double(value):
    """An argument for a reference: floats in double precision."""
    if not isinstance(value, TensorValue):
        return value.value
    made = torch.from_numpy(np.array(decode(value.storage, value.dtype)).reshape(value.shape).copy())
    return made.to(torch.bool) if value.dtype is DType.BOOL else made


def ported(op):
    """The text of an operator's port."""
    backend = find_backend("triton")
    program = parse(read_sources(op.kernel)[0], headers=DiskHeaders(()))
    headers = tuple(header for _, header in original_side(program, (), ()).headers)
    return backend.port(program, headers, find_target(backend, "")).files[0].text


def called(op, sizes):
    """An operator's contract, and the arguments of a call."""
    contract = op.contracts()[0]
    wanted = {symbol: SIZES[symbol] for symbol in contract.symbols if symbol not in sizes} | sizes
    workload = replace(contract.workloads[0], sizes=wanted)
    return SimpleNamespace(contract=contract, values=materialise(contract, workload))


def reference_of(op):
    spec = importlib.util.spec_from_file_location(f"reference_of_{op.name}", op.reference)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.reference


def check(op, execute, sizes):
    """Asserts that the graph of an operator computes what its reference does."""
    call = called(op, sizes)
    names = [argument.name for argument in call.contract.arguments]
    executed = execute(ported(op), call.values, names)
    arguments = [double(value) for value in call.values]
    inputs = {
        name: np.array(value, copy=True) if not isinstance(value, torch.Tensor) else value.numpy().copy()
        for name, value in zip(names, arguments, strict=True)
    }
    returned = reference_of(op)(*arguments)
    wanted = list(returned) if isinstance(returned, (tuple, list)) else [returned] if returned is not None else []
    changed = [a.name for a in call.contract.arguments if isinstance(a, TensorArg) and a.role is not Role.IN]
    tensors = [*executed.results, *(executed.arguments_after[name] for name in changed)]
    if len(wanted) < len(tensors):
        wanted += [arguments[names.index(name)] for name in changed]
    for got, want in zip(answers(executed, inputs, tensors), wanted, strict=True):
        assert got.shape == tuple(want.shape)
        # The references compute in double precision; constants of sources are of single precision.
        np.testing.assert_allclose(got, np.asarray(want, np.float64), rtol=2e-6, atol=2e-6)
    return executed


@pytest.mark.parametrize("name", OPERATORS)
def test_an_operator_of_the_suite_computes_what_its_reference_does(execute, name):
    check(SUITE[name], execute, {})


@pytest.mark.parametrize("name", ["softmax", "layer_norm", "cumsum", "masked_cumsum", "argmax", "max_reduce"])
def test_more_than_one_tile(execute, name):
    sizes = {"height": 31, "width": 37} if name == "layer_norm" else {"rows": 19, "columns": 1100}
    check(SUITE[name], execute, {s: n for s, n in sizes.items() if s in SUITE[name].contracts()[0].symbols})


@pytest.mark.parametrize(
    "name", ["silu_and_mul", "masked_softmax", "scaled_embedding", "layer_norm_backward", "adam_step", "add_rms_norm"]
)
def test_an_operator_of_a_server_computes_what_its_reference_does(execute, name):
    op = SERVING[name]
    check(op, execute, {s: n for s, n in op.contracts()[0].workloads[0].sizes.items() if s not in SIZES})


@pytest.mark.parametrize(
    ("name", "because"),
    [("segmented_sum", CONTROL), ("append_kv_cache", CONTROL), ("histogram", "which elements are updated atomically")],
)
def test_what_the_data_steers_is_refused(execute, name, because):
    op = SERVING[name]
    with pytest.raises(NotLiftedError, match=rf"{because} \(line \d+\)"):
        check(op, execute, dict(op.contracts()[0].workloads[0].sizes))


HEAD = "import torch\nimport triton\nimport triton.language as tl\n\n\n"


@pytest.fixture
def run(execute):
    """`run(text, *arguments)`: arrays are called x, y, ...; what came of the call, and a function that evaluates it."""

    def ran(text, *arguments):
        values = tuple(
            TensorValue(DType(str(a.dtype)), a.shape, a) if isinstance(a, np.ndarray) else ScalarValue(a)
            for a in arguments
        )
        names = ["x", "y", "z"][: len(arguments)]
        executed = execute(HEAD + text, values, names)
        inputs = {name: a for name, a in zip(names, arguments, strict=True) if isinstance(a, np.ndarray)}
        return executed, answers(executed, inputs, executed.results)

    return ran


def launched(body, grid=1, out="torch.empty_like(x)", before=""):
    """A module whose kernel has the parameters x, out and n."""
    lines = "".join(f"    {line}\n" for line in body.strip().splitlines())
    return (
        f"{before}@triton.jit\ndef kernel(x, out, n, B: tl.constexpr):\n    i = tl.arange(0, B)\n    on = i < n\n"
        f"{lines}\n\n"
        f"def forward(x):\n    out = {out}\n    kernel[({grid},)](x, out, x.numel(), B=16)\n    return out\n"
    )


X = np.random.default_rng(7).standard_normal(13).astype(np.float32)


def test_numbers_are_those_that_were_written(run):
    executed, _ = run(
        launched("tl.store(out + i, tl.load(x + i, mask=on) * 0.1 + 1.0 / n, mask=on)", out="torch.empty_like(x)"), X
    )
    numbers = {executed.graph.value(node) for node in range(len(executed.graph))}
    assert {Fraction(1, 10), Fraction(1, 13)} <= numbers


def test_lanes_without_a_value_reach_no_result(run):
    with pytest.raises(NotLiftedError, match="element 12 of a result is not defined"):
        run(launched("tl.store(out + i, tl.load(x + i, mask=i < n - 1), mask=on)"), X)


def test_an_element_outside_of_its_tensor_is_refused(run):
    with pytest.raises(NotLiftedError, match=r"it reads element 13 of 'x', which has 13 \(line \d+\)"):
        run(launched("tl.store(out + i, tl.load(x + i), mask=on)"), X)


def test_ordered_integers_stand_for_their_floats(run):
    body = """
bits = tl.load(x + i, mask=on).to(tl.int32, bitcast=True)
tl.atomic_min(keys + i % 3, tl.where(bits >= 0, bits, bits ^ 2147483647), mask=on)
tl.debug_barrier()
found = tl.load(keys + i, mask=i < 3)
value = tl.where(found >= 0, found, found ^ 2147483647).to(tl.float32, bitcast=True)
tl.store(out + i, value, mask=i < 3)
"""
    text = (
        launched(body, out="x.new_empty(3)")
        .replace("kernel(x, out", "kernel(x, keys, out")
        .replace("](x, out", "](x, torch.full((3,), 2147483647, dtype=torch.int32, device='cuda'), out")
    )
    executed, (found,) = run(text, X)
    assert np.allclose(found, [X[k::3].min() for k in range(3)])
    assert executed.graph.assumptions == {Assumption.ANY_ORDER, Assumption.SENTINELS}


def test_an_atomic_maximum_of_floats_is_one(run):
    _, (found,) = run(
        launched(
            "tl.atomic_max(out + i % 2, tl.load(x + i, mask=on), mask=on)", out="torch.full((2,), -1e9, device='cuda')"
        ),
        X,
    )
    assert np.allclose(found, [X[::2].max(), X[1::2].max()])


def test_bits_that_say_more_than_a_float_are_refused(run):
    body = "v = tl.load(x + i, mask=on).to(tl.int32, bitcast=True)\nv = (v + 8388608).to(tl.float32, bitcast=True)"
    with pytest.raises(NotLiftedError, match="it computes with the bits of a float"):
        run(launched(f"{body}\ntl.store(out + i, v, mask=on)"), X)


def test_a_truth_value_of_the_data_steers_nothing(run):
    with pytest.raises(NotLiftedError, match=CONTROL):
        run(launched("if tl.sum(tl.load(x + i, mask=on, other=0.0)) > 0:\n    tl.store(out + i, 0.0, mask=on)"), X)


def test_a_scatter_is_refused(run):
    with pytest.raises(NotLiftedError, match="a value of the data decides what it writes"):
        run(launched("tl.store(out + tl.load(x + i, mask=on).to(tl.int32), 0.0, mask=on)"), X)


def test_what_another_program_wrote_is_refused(run):
    body = "p = tl.program_id(0)\ntl.store(out + p, tl.load(x + p) + (tl.load(out + p - 1) if p > 0 else 0.0))"
    with pytest.raises(NotLiftedError, match="reads what another one of the same launch wrote"):
        run(launched(body, grid=13), X)


def test_two_programs_that_write_one_element_are_refused(run):
    with pytest.raises(NotLiftedError, match="two programs of a launch write different values"):
        run(launched("tl.store(out, tl.load(x + tl.program_id(0)))", grid=13, out="x.new_empty(1)"), X)


def test_a_program_that_overwrites_what_another_reads_is_refused(run):
    body = "p = tl.program_id(0)\ntl.store(out + p, tl.load(x + p))\ntl.store(x + (p + 12) % 13, 1.0)"
    with pytest.raises(NotLiftedError, match="overwrites what another one of the same launch reads"):
        run(launched(body, grid=13), X)


def test_a_reduction_by_a_function_of_the_module(run):
    before = "@triton.jit\ndef smaller(a, i, b, j):\n    left = (a < b) | ((a == b) & (i < j))\n"
    before += "    return tl.where(left, a, b), tl.where(left, i, j)\n\n\n"
    body = """
value, place = tl.reduce((tl.load(x + i, mask=on, other=float("inf")), i), 0, smaller)
tl.store(out, value)
tl.store(out + 1, place.to(tl.float32))
"""
    _, (found,) = run(launched(body, out="x.new_empty(2)", before=before), X)
    assert np.allclose(found, [X.min(), X.argmin()])


def test_the_place_of_the_largest_is_that_of_the_first(run):
    x = np.array([1, 5, 2, 5, 0], np.float32)
    body = "tl.store(out, tl.argmax(tl.load(x + i, mask=on, other=float('-inf')), axis=0).to(tl.float32))"
    _, (found,) = run(launched(body, out="x.new_empty(1)"), x)
    assert found == [1]


def test_a_scan_backwards_by_a_function_of_the_module(run):
    before = "@triton.jit\ndef joined(a, b):\n    return a * 0.5 + b\n\n\n"
    body = (
        "tl.store(out + i, tl.associative_scan(tl.load(x + i, mask=on, other=0.0), 0, joined, reverse=True), mask=on)"
    )
    _, (found,) = run(launched(body, before=before), X)
    wanted, total = [], 0.0
    for value in X[::-1]:
        total = total * 0.5 + value
        wanted.append(total)
    assert np.allclose(found, wanted[::-1])


def test_a_product_of_tiles_is_a_sum_of_products(run):
    body = "at = i[:, None] * B + i[None, :]\na = tl.load(x + at)\ntl.store(out + at, tl.dot(a, tl.trans(a)))"
    x = np.random.default_rng(3).standard_normal((16, 16)).astype(np.float32)
    executed, (found,) = run(launched(body), x)
    assert np.allclose(found, x.astype(np.float64) @ x.T.astype(np.float64))
    assert executed.graph.assumptions == {Assumption.CASTS}


def test_a_block_of_a_tensor(run):
    body = """
block = tl.make_block_ptr(x, (n,), (1,), (0,), (B,), (0,))
value = tl.load(block, boundary_check=(0,), padding_option="zero")
tl.store(tl.make_block_ptr(out, (n,), (1,), (0,), (B,), (0,)), value * 2.0, boundary_check=(0,))
"""
    _, (found,) = run(launched(body), X)
    assert np.allclose(found, 2 * X)


def test_a_helper_is_kept_by_name_and_another_function_of_its_name_is_not(run):
    helper = ported(SUITE["tanh"])
    text = helper[helper.index("@triton.jit\ndef copysign") : helper.index("@triton.jit\ndef tanh_kernel")]
    body = "tl.store(out + i, tanh(tl.load(x + i, mask=on)), mask=on)"
    executed, (found,) = run(launched(body, before=text), X)
    assert np.allclose(found, np.tanh(X))
    assert {executed.graph[int(node)][0] for node in executed.results[0].nodes} == {"tanh"}


def test_a_function_with_the_name_of_a_helper_is_what_it_says(run):
    before = "@triton.jit\ndef tanh(x):\n    return x * x\n\n\n"
    _, (found,) = run(launched("tl.store(out + i, tanh(tl.load(x + i, mask=on)), mask=on)", before=before), X)
    assert np.allclose(found, X.astype(np.float64) ** 2)


def test_a_gather_is_from_an_input_alone(run):
    text = (
        launched("tl.store(out + i, tl.load(y + tl.load(x + i, mask=on), mask=on), mask=on)", out="torch.empty_like(y)")
        .replace("kernel(x, out", "kernel(x, y, out")
        .replace("](x, out", "](x, y, out")
        .replace("forward(x)", "forward(x, y)")
    )
    places = np.arange(13)[::-1].astype(np.int64).copy()
    _, (found,) = run(text, places, X)
    assert np.allclose(found, X[::-1])


def test_a_gather_of_what_the_kernel_computed_is_refused(run):
    body = """
tl.store(out + i, tl.load(x + i, mask=on) * 2, mask=on)
tl.debug_barrier()
found = tl.load(out + tl.load(x + i, mask=on), mask=on)
tl.store(out + i, found, mask=on)
"""
    with pytest.raises(NotLiftedError, match="decides which element it reads of what it computed itself"):
        run(launched(body), np.arange(13))


def test_a_mask_of_the_data_chooses(run):
    body = """
v = tl.load(x + i, mask=on)
tl.store(out + i, 0.0, mask=on)
tl.store(out + i, tl.load(x + i, mask=on & (v > 0.0), other=1.0), mask=on & (v > 0.5))
"""
    _, (found,) = run(launched(body), X)
    assert np.allclose(found, np.where(X > 0.5, X, 0))


def test_a_result_is_written_whatever_the_data_says(run):
    one = "v = tl.load(x + i, mask=on)\npositive = v > 0.0\ntl.store(out + i, v, mask=on & positive)"
    _, (found,) = run(launched(f"{one}\ntl.store(out + i, -v, mask=on & ~positive)"), X)
    assert np.allclose(found, abs(X))


def test_a_result_that_the_data_leaves_undefined_is_refused(run):
    body = "v = tl.load(x + i, mask=on)\ntl.store(out + i, v, mask=on & (v > 0.0))"
    with pytest.raises(NotLiftedError, match="decides whether elements of a buffer of its own are written at all"):
        run(launched(body), X)


def test_what_an_atomic_operation_found_is_no_value_of_the_data(run):
    body = "old = tl.atomic_add(out + 0 * i, tl.load(x + i, mask=on), mask=on)\ntl.store(out + 1 + i, old, mask=on)"
    executed, _ = run(launched(body, out="torch.zeros(14, device='cuda')"), X)
    assert executed.graph[int(executed.results[0].nodes[3])][0] == "outcome"


def test_one_buffer_has_elements_of_one_width(run):
    body = "tl.store(out.to(tl.pointer_type(tl.int64), bitcast=True) + i, i.to(tl.int64), mask=i < n // 2)"
    with pytest.raises(NotLiftedError, match="with elements of two widths"):
        run(launched(f"tl.store(out + i, 1.0, mask=on)\n{body}"), X)


COPIED = launched("tl.store(out + i, tl.load(x + i, mask=on), mask=on)")


def test_host_operators_that_move_and_compute(run):
    text = COPIED.replace("return out", "return (out * 2.0 + 1.0).reshape(3, 4).t().contiguous().sum(1).mean()")
    x = np.arange(12, dtype=np.float32)
    _, (found,) = run(text, x)
    assert np.allclose(found, (x * 2 + 1).reshape(3, 4).sum(0).mean())


def test_an_operator_that_nobody_knows_is_named(run):
    with pytest.raises(NotLiftedError, match=re.escape("the host applies the operator 'cumsum")):
        run(COPIED.replace("return out", "return out.cumsum(0)"), X)

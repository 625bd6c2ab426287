"""Python references that change their arguments: what they answer, and candidates that are held to them."""

from pathlib import Path

import numpy as np
import pytest

from porter.contract.model.contract import Contract, Entry, EntryKind, Role, ScalarArg, TensorArg, Tolerance, Workload
from porter.contract.model.dtype import DType, decode
from porter.contract.model.toml import dumps
from porter.evaluate.model.migration import MigrateOptions
from porter.evaluate.model.outcome import Refused, Verified, Wrong
from porter.evaluate.verify import verify
from porter.execution.job import Limits
from porter.oracle.python_reference import python_standard

X = TensorArg("x", Role.INOUT, DType.FLOAT32, ("n",))
Y = TensorArg("y", Role.IN, DType.FLOAT32, ("n",))
BLANK = TensorArg("z", Role.OUT, DType.FLOAT32, ("n",))
WORKLOADS = (Workload("tiny", {"n": 7}, 1), Workload("odd", {"n": 1031}, 2))
TOLERANCE = {DType.FLOAT32: Tolerance(1e-5, 1e-6), DType.FLOAT16: Tolerance(4e-3, 1e-3)}


def contract_of(*arguments) -> Contract:
    entry = Entry(EntryKind.TORCH, "forward")
    return Contract("op", "other", entry, arguments, ("n",), (), WORKLOADS, TOLERANCE)


def asked(folder: Path, text: str, contract: Contract):
    """What a reference answers to `contract`, by name, beside the inputs it was given."""
    (folder / "op.py").write_text(text)
    with python_standard(folder / "op.py", (contract,), Limits(cpu_s=20)) as standard:
        return standard.reference(contract)


def numbers(reference) -> list[dict[str, np.ndarray]]:
    return [{name: decode(v.storage, v.dtype) for name, v in e.outputs.tensors} for e in reference.expected]


BODIES = {
    "changes": "def op(x, y):\n    x += 2 * y\n",
    "changes a part at a time": "def op(x, y):\n    for i in range(len(x)): x[i] += 2 * y[i]\n",
    "changes and returns it": "def op(x, y):\n    x += 2 * y\n    return x\n",
    "returns": "def op(x, y):\n    return x + 2 * y\n",
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_what_it_changes_is_what_it_answers(tmp_path, body):
    plain = contract_of(TensorArg("x", Role.IN, DType.FLOAT32, ("n",)), Y)
    text = body.replace("op(", "reference(")
    inputs = numbers(asked(tmp_path, "def reference(x, y): return x * 1\n", plain))
    for given, found in zip(inputs, numbers(asked(tmp_path, text, contract_of(X, Y))), strict=True):
        assert list(found) == ["x", "y"]
        assert np.allclose(found["x"], given["x"] + 2 * given["y"].astype(np.float64), atol=1e-6)
        assert np.array_equal(found["y"], given["y"])


def test_it_may_return_results_besides(tmp_path):
    text = "def reference(x, y):\n    x.mul_(0.9).add_(y)\n    return x * y, y.sum()\n"
    for found in numbers(asked(tmp_path, text, contract_of(X, Y))):
        assert list(found) == ["x", "y", "result", "result 1"]
        assert np.allclose(found["result"], found["x"] * found["y"], atol=1e-5)


def test_one_that_changes_an_argument_to_what_it_was_changes_it(tmp_path):
    """Else zeros would be an input at which its result stood for what it changes."""
    text = "def reference(x, y):\n    x.mul_(1)\n    return y + 1\n"
    for found in numbers(asked(tmp_path, text, contract_of(X, Y))):
        assert np.allclose(found["result"], found["y"] + 1)


@pytest.mark.parametrize("parameters", ["x, y, z", "x, y"])
def test_an_output_is_given_where_the_reference_takes_it(tmp_path, parameters):
    plain = TensorArg("x", Role.IN, DType.FLOAT32, ("n",))
    body = "    z.copy_(x + y)\n" if "z" in parameters else "    return x + y\n"
    text = f"def reference({parameters}):\n{body}"
    for found in numbers(asked(tmp_path, text, contract_of(plain, Y, BLANK))):
        assert np.allclose(found["z"], found["x"].astype(np.float64) + found["y"], atol=1e-6)


def test_numbers_are_left_out_where_it_has_no_parameter_for_them(tmp_path):
    arguments = (TensorArg("x", Role.IN, DType.FLOAT32, ("n",)), BLANK, ScalarArg("n", "int", "n"))
    for found in numbers(asked(tmp_path, "def reference(x): return -x\n", contract_of(*arguments))):
        assert np.array_equal(found["z"], -found["x"])


def test_what_is_only_read_stays_whatever_it_does_to_it(tmp_path):
    text = "def reference(x, y):\n    x += y\n    y.zero_()\n"
    for found in numbers(asked(tmp_path, text, contract_of(X, Y))):
        assert found["y"].any()


def test_one_that_neither_changes_nor_returns_what_is_written_has_no_answer(tmp_path):
    reference = asked(tmp_path, "def reference(x, y): return x, y, y\n", contract_of(X, Y))
    assert "it has to return x, or to change them, and returns 3 tensors" in reference.because


def test_sixteen_bits_are_computed_in_double_precision_and_rounded_once(tmp_path):
    half = TensorArg("x", Role.INOUT, DType.FLOAT16, ("n",))
    # In half precision the small term is lost in the large one.
    found = numbers(asked(tmp_path, "def reference(x): x.add_(4096).add_(0.25).sub_(4096)\n", contract_of(half)))
    given = numbers(asked(tmp_path, "def reference(x): x.add_(0)\n", contract_of(half)))
    for one, other in zip(found, given, strict=True):
        assert np.array_equal(one["x"], (other["x"].astype(np.float64) + 0.25).astype(np.float16))


CANDIDATE = """
import triton, triton.language as tl

@triton.jit
def kernel(x, y, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(x + at, tl.load(x + at, mask=at < n) + 2 * tl.load(y + at, mask=at < n), mask=at < n)

def forward(x, y):
    kernel[(triton.cdiv(x.numel(), 256),)](x, y, x.numel(), B=256)
    return x
"""
CHANGED = {
    "right, and returns what it changed": ("", "", Verified),
    "right, and returns nothing": ("    return x\n", "", Verified),
    "wrong": ("2 * tl", "3 * tl", Wrong),
    "the library's": (
        "    kernel[(triton.cdiv(x.numel(), 256),)]",
        "    x.add_(y, alpha=2)\n    kernel[(0,)]",
        Refused,
    ),
    "an answer beside it": ("    return x\n", "    return x.clone()[:1]\n", Wrong),
}


@pytest.mark.parametrize(("right", "other", "outcome"), CHANGED.values(), ids=CHANGED)
def test_candidates_are_held_to_it(tmp_path, build_cache, right, other, outcome):
    assert right in CANDIDATE
    (tmp_path / "candidate.py").write_text(CANDIDATE.replace(right, other) if right else CANDIDATE)
    (tmp_path / "op.py").write_text("def reference(x, y):\n    x += 2 * y\n")
    (tmp_path / "op.toml").write_text(dumps((contract_of(X, Y),)))
    options = MigrateOptions("triton", build_cache, seed=5, contract=tmp_path / "op.toml")
    found = verify(tmp_path / "candidate.py", tmp_path / "op.py", options, lambda _: None)
    assert isinstance(found.outcome, outcome), found.outcome

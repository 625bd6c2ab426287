"""A Python file as the standard: what it is asked, what it answers, and candidates that are held to it."""

from dataclasses import replace

import numpy as np
import pytest

from porter.contract.model.contract import Distribution, Workload
from porter.contract.model.dtype import DType, decode
from porter.errors import InputError
from porter.evaluate.model.migration import MigrateOptions
from porter.evaluate.model.outcome import NotBuilt, NotVerified, Verified, Wrong
from porter.evaluate.record import record
from porter.evaluate.verify import verify
from porter.execution.job import Limits, TensorValue
from porter.oracle.golden import write_golden
from porter.oracle.python_reference import python_standard

SEED = 11
NORM = """
import torch

class Model(torch.nn.Module):
    def __init__(self, features):
        super().__init__()
        self.norm = torch.nn.LayerNorm(features)

    def forward(self, x):
        return self.norm(x)

def get_inputs():
    return [torch.rand(1 << 20, 1 << 14)]

def get_init_inputs():
    return [1 << 14]
"""
CANDIDATE = """
import torch, triton, triton.language as tl

@triton.jit
def kernel(x, weight, bias, y, n, BLOCK: tl.constexpr):
    row, c = tl.program_id(0), tl.arange(0, BLOCK)
    v = tl.load(x + row * n + c, mask=c < n, other=0.0)
    d = tl.where(c < n, v - tl.sum(v, 0) / n, 0.0)
    scaled = d / tl.sqrt(tl.sum(d * d, 0) / n + 1e-5)
    out = scaled * tl.load(weight + c, mask=c < n) + tl.load(bias + c, mask=c < n)
    tl.store(y + row * n + c, out, mask=c < n)

def forward(x, weight, bias):
    y = torch.empty_like(x)
    rows, n = x.shape
    if y.numel():
        kernel[(rows,)](x, weight, bias, y, n, BLOCK=triton.next_power_of_2(n))
    return y
"""


@pytest.fixture(scope="module")
def standard(tmp_path_factory):
    """`standard(text)`: what a file that holds `text` is as a standard, and its only contract."""
    opened = []

    def make(text, contracts=()):
        path = tmp_path_factory.mktemp("reference") / "op.py"
        path.write_text(text)
        context = python_standard(path, contracts, Limits(cpu_s=20))
        opened.append(context)
        return context.__enter__()

    yield make
    for context in opened:
        context.__exit__(None, None, None)


def answer(made, workload):
    (contract,) = made.contracts()
    return made.reference(replace(contract, workloads=(workload,)))


def numbers(value: TensorValue):
    return decode(value.storage, value.dtype)


def test_a_module_for_gigabytes_is_asked_at_small_sizes_with_its_parameters(standard):
    made = standard(NORM)
    (contract,) = made.contracts()
    assert [(t.name, t.shape) for t in contract.tensors] == [
        ("x", ("x_size0", "x_size1")),
        ("norm_weight", ("x_size1",)),
        ("norm_bias", ("x_size1",)),
    ]
    reference = made.reference(contract)
    assert reference.because == ""
    tiny = reference.expected[0]
    x, weight, bias = (numbers(value) for value in tiny.arguments)
    assert len(set(weight)) == len(weight)  # ones would hide that they are ignored
    right = (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5) * weight + bias
    assert np.allclose(numbers(dict(tiny.outputs.tensors)["result"]), right, atol=1e-6)
    assert x.min() < 0  # although it draws from [0, 1)


def test_inputs_keep_the_structure_that_the_reference_gives_them(standard):
    made = standard(
        "import torch\n"
        "def reference(a, p, k, s): return torch.log(p) + a * k.sum() * s\n"
        "def get_inputs():\n"
        "    a = torch.tril(torch.rand(4096, 4096))\n"
        "    return [a, torch.rand(4096, 4096).softmax(1), torch.randint(0, 7, (64,)), 2.5]\n"
    )
    for kind in (Distribution.DECLARED, Distribution.TIES, Distribution.OUTLIER):
        tiny = Workload("tiny", {"a_size0": 5, "k_size0": 3}, SEED, distribution=kind)
        (expected,) = answer(made, tiny).expected
        a, p, k, s = expected.arguments
        assert not np.triu(numbers(a), 1).any()
        assert np.allclose(numbers(p).sum(1), 1, atol=1e-5)
        assert (k.dtype, set(numbers(k)) <= set(range(7)), s.value) == (DType.INT64, True, 2.5)


def test_inputs_that_may_not_be_negative_stay_so(standard):
    made = standard(
        "import torch\ndef reference(x): return torch.log(x + 1e-3)\ndef get_inputs(): return [torch.rand(4096)]\n"
    )
    (expected,) = answer(made, Workload("odd", {"x_size0": 1031}, SEED)).expected
    assert numbers(expected.arguments[0]).min() >= 0


def test_other_seeds_give_other_inputs_and_the_same_one_the_same(standard):
    made = standard(NORM)
    sizes = {"x_size0": 3, "x_size1": 5}
    first, again, other = (answer(made, Workload("tiny", sizes, s)).expected[0] for s in (1, 1, 2))
    same = [a.storage.tobytes() == b.storage.tobytes() for a, b in zip(first.arguments, again.arguments, strict=True)]
    differ = [a.storage.tobytes() != b.storage.tobytes() for a, b in zip(first.arguments, other.arguments, strict=True)]
    assert (same, differ) == ([True] * 3, [True] * 3)


@pytest.mark.parametrize(
    ("body", "because"),
    [
        ("return torch.nn.functional.dropout(x, 0.5, training=True)", "is something in it random?"),
        ("return x / 0 if x.shape[0] else x.item('no')", ""),
        ("return ((x * 1e25) * 1e25) * 1e-45", "its own two precisions disagree about what is finite"),
        ("return x.reshape(4096) if x.sum() > -1e30 else x", "op.py: line 2: RuntimeError"),
        ("import os; os.kill(os.getpid(), 11); return x", "op.py: "),
        ("return [x for _ in iter(int, 1)]", "time limit"),
    ],
    ids=["random", "defined", "precision", "raises", "dies", "hangs"],
)
def test_a_reference_without_an_answer_says_why(standard, body, because):
    text = f"import torch\ndef reference(x): {body}\n"
    contract = standard(NORM).contracts()[0]
    alone = replace(contract, arguments=contract.arguments[:1], symbols=("x_size0", "x_size1"))
    stated = replace(alone, workloads=(Workload("tiny", {"x_size0": 3, "x_size1": 5}, 1),))
    limited = standard(text, (stated,))
    limited.worker._limits = Limits(cpu_s=2)
    reference = limited.reference(stated)
    assert because in reference.because
    assert bool(reference.because) is bool(because)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def reference(x): return x\n", "it does not say what its 'reference' takes"),
        ("def get_inputs(): return []\n", "defines neither 'reference' nor 'Model'"),
        ("def reference(x): return x\ndef get_inputs(): return ['text']\n", "neither a tensor nor a number but str"),
        ("def reference(x): return x\ndef get_inputs(): return [undefined]\n", "NameError"),
        (
            "import torch\ndef reference(x): return x.view(-1, 999)\ndef get_inputs(): return [torch.rand(7)]\n",
            "line 2",
        ),
    ],
)
def test_one_that_cannot_be_asked_is_bad_input(standard, text, message):
    with pytest.raises(InputError, match=message):
        standard(text).contracts()


@pytest.fixture(scope="module")
def verdict(build_cache, tmp_path_factory):
    """`verdict(files, against)`: candidates and standards are files of one folder."""
    options = MigrateOptions("triton", build_cache, seed=SEED)
    folder = tmp_path_factory.mktemp("candidates")

    def judge(files, candidate, against, **changed):
        for name, text in files.items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(text)
        return verify(folder / candidate, folder / against, replace(options, **changed), lambda _: None)

    judge.folder, judge.options = folder, options
    return judge


def test_a_right_candidate_is_verified_also_by_what_was_recorded(verdict):
    found = verdict({"norm.py": NORM, "right.py": CANDIDATE}, "right.py", "norm.py")
    assert isinstance(found.outcome, Verified), found.outcome
    assert (found.seed, found.rules) == (SEED, ())
    names = {check.name for check in found.outcome.checked}
    assert {"tiny", "odd", "uniform", "constant rows", "infinite", "one row", "empty"} <= names
    recorded = record(verdict.folder / "norm.py", replace(verdict.options, seed=5), lambda _: None)
    write_golden(verdict.folder / "norm.golden", recorded)
    again = verdict({}, "right.py", "norm.golden")
    assert (type(again.outcome), again.seed) == (Verified, 5)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        (" + tl.load(bias + c, mask=c < n)", ""),
        ("scaled * tl.load(weight + c, mask=c < n)", "scaled"),
        ("d / tl.sqrt(", "d.to(tl.float16).to(tl.float32) / tl.sqrt("),
        ("+ 1e-5", "+ 1e-6"),
        ("(rows,)", "(rows - 1,)"),
        ("    return y", "    return y.double()"),
    ],
    ids=["without bias", "without weight", "half precision", "another epsilon", "a row too few", "another type"],
)
def test_a_wrong_candidate_is_told(verdict, right, wrong):
    assert right in CANDIDATE
    found = verdict({"norm.py": NORM, "wrong.py": CANDIDATE.replace(right, wrong)}, "wrong.py", "norm.py")
    assert isinstance(found.outcome, Wrong)
    assert "x_size0 = " in found.outcome.because


def test_a_folder_is_a_candidate_whose_main_file_imports_the_others(verdict):
    files = {
        "parts/inner.py": CANDIDATE.replace("forward", "run"),
        "parts/forward.py": "from inner import run as forward\n",
    }
    found = verdict({"norm.py": NORM, **files}, "parts", "norm.py")
    assert isinstance(found.outcome, Verified), found.outcome


PRODUCT = """
import torch, triton, triton.language as tl

@triton.jit
def kernel(a, b, c, M, N, K, B: tl.constexpr):
    i, j, k = tl.program_id(0) * B + tl.arange(0, B), tl.program_id(1) * B + tl.arange(0, B), tl.arange(0, B)
    total = tl.zeros((B, B), tl.float32)
    for s in range(0, K, B):
        x = tl.load(a + i[:, None] * K + (s + k)[None, :], mask=(i[:, None] < M) & ((s + k)[None, :] < K), other=0.0)
        y = tl.load(b + (s + k)[:, None] * N + j[None, :], mask=((s + k)[:, None] < K) & (j[None, :] < N), other=0.0)
        total = total + tl.dot(x, y)
    tl.store(c + i[:, None] * N + j[None, :], total, mask=(i[:, None] < M) & (j[None, :] < N))

def forward(a, b):
    c = torch.zeros((a.shape[0], b.shape[1]), dtype=a.dtype, device=a.device)
    if a.numel() and b.numel():
        M, K, N = *a.shape, b.shape[1]
        kernel[(triton.cdiv(M, 64), triton.cdiv(N, 64))](a, b, c, M, N, K, B=64)
    return c
"""
NARROW = """
import torch
def reference(a, b): return a @ b
def get_inputs():
    return [torch.rand(4096, 2048, dtype=torch.bfloat16), torch.rand(2048, 512, dtype=torch.bfloat16)]
"""


@pytest.mark.parametrize(
    ("line", "outcome"),
    [("total + tl.dot(x, y)", Verified), ("(total + tl.dot(x, y)).to(tl.bfloat16).to(tl.float32)", Wrong)],
    ids=["added up in single precision", "added up in the type of the inputs"],
)
def test_what_a_sum_of_bfloat16_is_added_up_in_shows(verdict, line, outcome):
    text = PRODUCT.replace("total + tl.dot(x, y)", line)
    found = verdict({"product.py": text, "narrow.py": NARROW}, "product.py", "narrow.py")
    assert isinstance(found.outcome, outcome), found.outcome


def test_what_cannot_be_called_is_not_built(verdict):
    found = verdict({"norm.py": NORM, "few.py": "def forward(x): return x\n"}, "few.py", "norm.py")
    assert isinstance(found.outcome, NotBuilt)
    assert "forward(x) does not take (x, norm_weight, norm_bias), which the contract has" in found.outcome.because


def test_a_reference_whose_answer_is_constant_verifies_nothing(verdict):
    flat = (
        "import torch\ndef reference(x): return (-1 - x * x).clamp(min=0)\ndef get_inputs(): return [torch.rand(99)]\n"
    )
    found = verdict({"flat.py": flat, "any.py": CANDIDATE}, "any.py", "flat.py")
    assert isinstance(found.outcome, NotVerified)
    assert "zeros would pass all of them" in found.outcome.because

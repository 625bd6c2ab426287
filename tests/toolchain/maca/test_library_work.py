"""Candidates whose host code computes with tensors where their original's does: the same operators, and no others."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from porter.backend import Port, PortedFile
from porter.contract.model.contract import Contract, Entry, EntryKind, Role, ScalarArg, TensorArg, Tolerance, Workload
from porter.contract.model.dtype import DType
from porter.evaluate.judge.judge import judge
from porter.evaluate.judge.ported import emulated
from porter.evaluate.problem.bench import CUDA_WARP_SIZE, bench
from porter.evaluate.reference.study import Originals
from porter.execution.job import FaultKind
from porter.oracle.reference import examine
from porter.registry import find_backend, find_target
from porter.simt.compiler import missing_compiler
from porter.source.parse import parse
from porter.source_text import Source
from porter.translation_unit import original_unit
from porter_maca.dialect import MACA

FOLDER = Path(__file__).parent
TENSORS, LIBRARIES = "shares", "sums"
TEXTS = {name: (FOLDER / f"{name}.cpp").read_text() for name in (TENSORS, LIBRARIES)}
CHEATS = [(n, *one) for n, text in TEXTS.items() for one in re.findall(r"^// (\w+): (PORT\d+)$", text, re.MULTILINE)]
HONEST = [(n, one) for n, text in TEXTS.items() for one in re.findall(r"^// (\w+)$", text, re.MULTILINE)]
CONTRACTS = {
    TENSORS: Contract(
        "shares", "shares", Entry(EntryKind.TORCH, "shares"),
        (TensorArg("x", Role.IN, DType.FLOAT32, ("rows", "cols")),), ("rows", "cols"), (),
        (Workload("small", {"rows": 3, "cols": 37}, 3), Workload("again", {"rows": 3, "cols": 37}, 5)),
        {DType.FLOAT32: Tolerance(1e-5, 1e-6)},
    ),
    LIBRARIES: Contract(
        "sums", "sums", Entry(EntryKind.POINTER, "sums"),
        (TensorArg("x", Role.IN, DType.FLOAT32, ("n",)), TensorArg("y", Role.OUT, DType.FLOAT32, ("n",)),
         TensorArg("total", Role.OUT, DType.FLOAT32, ("2",)), TensorArg("product", Role.OUT, DType.FLOAT32, ("1",)),
         ScalarArg("n", "int", "n")), ("n",), (),
        (Workload("small", {"n": 37}, 3), Workload("again", {"n": 37}, 5)), {DType.FLOAT32: Tolerance(1e-5, 1e-6)},
    ),
}  # fmt: skip


def judged(name, place):
    """Returns what comes of every candidate of a file at 64 lanes."""
    contract, text = CONTRACTS[name], TEXTS[name]
    source = Source(FOLDER / f"{name}.cu", (FOLDER / f"{name}.cu").read_text())
    original = original_unit(parse(source), (), ())
    target = find_target(find_backend("maca"))
    port = Port((PortedFile(f"{name}.cpp", text, Source(FOLDER / f"{name}.cpp", text)),), ())
    (built,) = place.begin(original.request((contract,), CUDA_WARP_SIZE)).result()
    reference = examine(contract, original.program, place.execute(built))
    ported = replace(emulated(port, original, target, place, MACA, is_trusted=False), warp_sizes=(target.warp_size,))
    names = re.findall(r"^// (\w+)(?:: PORT\d+)?$", text, re.MULTILINE)
    entries = [replace(contract, entry=replace(contract.entry, name=each)) for each in names]
    candidates = ported.candidates(entries)
    return {(name, n): judge(reference, c, is_trusted=False) for n, c in zip(names, candidates, strict=True)}


@pytest.fixture(scope="module")
def outcomes(build_cache):
    if missing_compiler():
        pytest.skip(missing_compiler())
    with bench(build_cache, 5.0) as place:
        return judged(TENSORS, place) | judged(LIBRARIES, place)


@pytest.mark.parametrize(("file", "name", "code"), CHEATS)
def test_an_operator_that_the_original_has_not_makes_no_result(outcomes, file, name, code):
    outcome = outcomes[file, name]
    assert outcome.label == "refused"
    assert outcome.because.startswith(code), outcome.because


@pytest.mark.parametrize(("file", "name"), HONEST)
def test_what_the_original_has_a_library_compute_is_free(outcomes, file, name):
    assert outcomes[file, name].label == "verified", outcomes[file, name].because


def test_the_operator_is_named_with_its_line(outcomes):
    text = TEXTS[TENSORS]
    line = text[: text.index("x.flip({1}).softmax(1)")].count("\n") + 1
    because = outcomes[TENSORS, "by_another_operator"].because
    assert f"shares.cpp:{line}: " in because
    assert "the library's softmax computed" in because


HABITS = """
#include <torch/extension.h>
__global__ void doubled(const float* x, float* y, int n) { for (int i = 0; i < n; ++i) y[i] = 2 * x[i]; }
std::tuple<at::Tensor, at::Tensor> f(at::Tensor x) {
    at::Tensor y = at::empty_like(x), total;
    BEFORE
    doubled<<<1, 1>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
    BEHIND
    return {y, total};
}
"""


@pytest.mark.parametrize(
    ("before", "behind", "habits"), [("total = x.sum();", "", {FaultKind.DECOY}), ("", "total = y.sum();", set())]
)
def test_what_an_original_does_besides_is_seen_by_planning_it(build_cache, before, behind, habits):
    if missing_compiler():
        pytest.skip(missing_compiler())
    contract = replace(CONTRACTS[TENSORS], name="f", entry=Entry(EntryKind.TORCH, "f"))
    text = HABITS.replace("BEFORE", before).replace("BEHIND", behind)
    original = original_unit(parse(Source(Path("f.cu"), text)), (), ())
    with bench(build_cache, 5.0) as place:
        originals = Originals(original, {}, place)
        (built,) = originals.begin((contract,)).result()
        reference = examine(contract, original.program, place.execute(built))
        assert originals.with_habits(reference).habits - reference.habits == habits

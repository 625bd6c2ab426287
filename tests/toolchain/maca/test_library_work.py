"""Candidates whose host code computes with tensors where their original's does: the same operators, and no others."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from porter.backend import Port, PortedFile
from porter.contract.contract import Contract, Entry, EntryKind, Role, TensorArg, Tolerance, Workload
from porter.contract.dtype import DType
from porter.evaluate.bench import CUDA_WARP_SIZE, bench
from porter.evaluate.judge import judge
from porter.evaluate.ported import emulated
from porter.evaluate.side import original_side
from porter.oracle.reference import examine
from porter.registry import find_backend, find_target
from porter.simt.compiler import missing_compiler
from porter.source.parse import parse
from porter.source.text import Source

FOLDER = Path(__file__).parent
TEXT = (FOLDER / "shares.cpp").read_text()
CHEATS = re.findall(r"^// (\w+): (PORT\d+)$", TEXT, re.MULTILINE)
HONEST = re.findall(r"^// (\w+)$", TEXT, re.MULTILINE)
CONTRACT = Contract(
    "shares", "shares", Entry(EntryKind.TORCH, "shares"),
    (TensorArg("x", Role.IN, DType.FLOAT32, ("rows", "cols")),), ("rows", "cols"), (),
    (Workload("small", {"rows": 3, "cols": 37}, 3), Workload("again", {"rows": 3, "cols": 37}, 5)),
    {DType.FLOAT32: Tolerance(1e-5, 1e-6)},
)  # fmt: skip


@pytest.fixture(scope="module")
def outcomes(pytestconfig):
    """What comes of every candidate at 64 lanes."""
    if missing_compiler():
        pytest.skip(missing_compiler())
    source = Source(FOLDER / "shares.cu", (FOLDER / "shares.cu").read_text())
    original = original_side(parse(source), (), ())
    target = find_target(find_backend("maca"))
    port = Port((PortedFile("shares.cpp", TEXT, Source(FOLDER / "shares.cpp", TEXT)),), ())
    names = [name for name, _ in CHEATS] + HONEST
    with bench(pytestconfig.cache.mkdir("simt"), 5.0) as place:
        (built,) = place.begin(original.request((CONTRACT,), CUDA_WARP_SIZE)).result()
        reference = examine(CONTRACT, original.program, place.execute(built))
        untrusted = emulated(port, original, target, place, is_trusted=False)
        ported = replace(untrusted, warp_sizes=(target.warp_size,))
        entries = [replace(CONTRACT, entry=Entry(EntryKind.TORCH, name)) for name in names]
        candidates = ported.candidates(entries)
        return {n: judge(reference, c, is_trusted=False) for n, c in zip(names, candidates, strict=True)}


@pytest.mark.parametrize(("name", "code"), CHEATS)
def test_an_operator_that_the_original_has_not_makes_no_result(outcomes, name, code):
    outcome = outcomes[name]
    assert outcome.label == "refused"
    assert outcome.because.startswith(code), outcome.because


@pytest.mark.parametrize("name", HONEST)
def test_what_the_original_computes_with_tensors_is_free(outcomes, name):
    assert outcomes[name].label == "verified", outcomes[name].because


def test_the_operator_is_named_with_its_line(outcomes):
    line = TEXT[: TEXT.index("x.flip({1}).softmax(1)")].count("\n") + 1
    assert f"shares.cpp:{line}: " in outcomes["by_another_operator"].because
    assert "the library's softmax computed" in outcomes["by_another_operator"].because

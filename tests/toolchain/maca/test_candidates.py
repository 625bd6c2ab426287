"""Cheats in MACA C++, none of which passes, and honest candidates that look odd, none of which is accused."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from porter.backend import Port, PortedFile
from porter.contract.model.contract import Contract, Entry, EntryKind, Role, ScalarArg, TensorArg, Tolerance, Workload
from porter.contract.model.dtype import DType
from porter.evaluate.judge.device_sizes import DeviceSizes
from porter.evaluate.judge.judge import judge
from porter.evaluate.judge.ported import emulated
from porter.evaluate.judge.rehearsal import rehearsals
from porter.evaluate.model.outcome import Verified
from porter.evaluate.problem.bench import CUDA_WARP_SIZE, bench
from porter.evaluate.reference.judging import Judging
from porter.oracle.reference import examine
from porter.registry import find_backend, find_target
from porter.rules.original import NO_CODE
from porter.simt.compiler import missing_compiler
from porter.source.parse import parse
from porter.source_text import Source
from porter.translation_unit import original_unit
from porter_maca.dialect import MACA

FOLDER = Path(__file__).parent
NAMES = ("cheats.cpp", "plan_cheats.cpp", "device_cheats.cpp", "honest.cpp", "tensors.cpp")
FILES = {name: (FOLDER / name).read_text() for name in NAMES}
CHEATS = [found for text in FILES.values() for found in re.findall(r"^// (\w+): (.*)$", text, re.MULTILINE)]
HONEST = [found for text in FILES.values() for found in re.findall(r"^// (\w+)$", text, re.MULTILINE)]
TOLD = [found for text in FILES.values() for found in re.findall(r"^// (\w+)\?(.*)$", text, re.MULTILINE)]
CONTRACT = Contract(
    "softmax", "softmax", Entry(EntryKind.POINTER, "softmax"),
    (TensorArg("x", Role.IN, DType.FLOAT32, ("rows", "cols")),
     TensorArg("y", Role.OUT, DType.FLOAT32, ("rows", "cols")),
     ScalarArg("rows", "int", "rows"), ScalarArg("cols", "int", "cols")),
    ("rows", "cols"), (),
    (Workload("small", {"rows": 3, "cols": 37}, 3), Workload("large values", {"rows": 2, "cols": 65}, 4, scale=60.0),
     Workload("again", {"rows": 3, "cols": 37}, 5)),
    {DType.FLOAT32: Tolerance(1e-5, 1e-6)},
)  # fmt: skip


def called(name, file):
    if file == "tensors.cpp":
        return replace(CONTRACT, entry=Entry(EntryKind.TORCH, name), arguments=CONTRACT.arguments[:1])
    return replace(CONTRACT, entry=Entry(EntryKind.POINTER, name))


def port(file):
    sources = [Source(FOLDER / name, (FOLDER / name).read_text()) for name in (file, "kernels.h")]
    return Port(tuple(PortedFile(source.path.name, source.text, source) for source in sources), ())


def returned(reference):
    """The reference where what is written is returned instead."""
    expected = []
    for each in reference.expected:
        (x, (_, y)) = each.outputs.tensors
        outputs = replace(each.outputs, tensors=(x, ("result", y)))
        expected.append(replace(each, outputs=outputs, yardstick=None))
    return replace(reference, contract=called("any", "tensors.cpp"), expected=tuple(expected))


@pytest.fixture(scope="module")
def outcomes(build_cache):
    """What comes of every candidate of the files at 64 lanes: each file is built once."""
    if missing_compiler():
        pytest.skip(missing_compiler())
    source = Source(FOLDER / "softmax.cu", (FOLDER / "softmax.cu").read_text())
    original = original_unit(parse(source), (), ())
    target = find_target(find_backend("maca"))
    with bench(build_cache, 5.0) as place:
        (built,) = place.begin(original.request((CONTRACT,), CUDA_WARP_SIZE)).result()
        reference = examine(CONTRACT, original.program, place.execute(built))
        found = {}
        for file, text in FILES.items():
            names = re.findall(r"^// (\w+)(?:[:?].*)?$", text, re.MULTILINE)
            untrusted = emulated(port(file), original, target, place, MACA, is_trusted=False)
            # What cheats call is free here, so that they are seen when they run.
            words = frozenset(re.findall(r"\w+", text)) if "cheats" in file else untrusted.own.words
            ported = replace(untrusted, warp_sizes=(target.warp_size,), own=replace(untrusted.own, words=words))
            candidates = ported.candidates([called(name, file) for name in names])
            held = reference if file != "tensors.cpp" else returned(reference)
            for name, each in zip(names, candidates, strict=True):
                at = rehearsals(CONTRACT, {}, {}, lambda _: None) if name in dict(TOLD) else ()
                outcome = judge(held, each, is_trusted=False)
                if isinstance(outcome, Verified):
                    outcome = DeviceSizes(each, at, Judging(0, {})).named(outcome, held.habits)
                found[name] = outcome
        return found


@pytest.mark.parametrize(("name", "expected"), CHEATS)
def test_a_cheat_is_seen_when_it_runs(outcomes, name, expected):
    outcome = outcomes[name]
    assert outcome.label != "verified"
    said = f"{outcome.label} {outcome.because}"
    assert any(word in said for word in expected.split()), said


@pytest.mark.parametrize("name", HONEST)
def test_an_honest_candidate_is_not_accused(outcomes, name):
    assert outcomes[name].label == "verified", outcomes[name].because


@pytest.mark.parametrize(("name", "caveat"), TOLD)
def test_what_large_sizes_alone_show_is_told(outcomes, name, caveat):
    assert outcomes[name].label == "verified"
    assert caveat.strip() in outcomes[name].caveat
    assert caveat or not outcomes[name].caveat


def test_text_shows_some_cheats_and_accuses_nobody():
    backend = find_backend("maca")
    assert {f.code for f in backend.lint(port("cheats.cpp").files, NO_CODE)} == {
        "PORT1193",
        "PORT1194",
        "PORT1195",
        "PORT1196",
    }
    assert backend.lint(port("honest.cpp").files, NO_CODE) == ()

"""Searches that begin with somebody's own candidate, held to CUDA, a PyTorch module or a recording."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from porter.cache_folder import cache_folder
from porter.cli.main import main
from porter.errors import InputError
from porter.evaluate.model.migration import MigrateOptions
from porter.evolve.budget import Budget
from porter.evolve.journal import NAME
from porter.evolve.replay import replayed
from porter.evolve.scoring.evaluation import problem_of
from porter.evolve.scoring.evaluator import port_of
from porter.evolve.scoring.subject import StandardKind, kept
from porter.measure.deadline import Deadline
from porter.search.given import Given
from porter.search.run import SearchOptions, seed_of
from porter.serve.access import TOKEN
from porter.serve.problems import subject_of
from tests.toolchain.serve.server_process import SECRET, ServerProcess

SOURCE = """\
__global__ void scale_kernel(const int* x, int* y, int a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + 3;
}
void scale(const int* x, int* y, int a, int n) {
    scale_kernel<<<(n + 255) / 256, 256>>>(x, y, a, n);
}
"""
MODULE = """\
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, factor):
        super().__init__()
        self.factor = factor

    def forward(self, x):
        return self.factor * x + 3


def get_inputs():
    return [torch.randint(-9, 9, (64, 96))]


def get_init_inputs():
    return [5]
"""
KERNEL = """\
import torch
import triton
import triton.language as tl


@triton.jit
def own_kernel(x, y, a, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, a * tl.load(x + at, mask=at < n), mask=at < n)
    tl.store(y + at, tl.load(y + at, mask=at < n) + 3, mask=at < n)  # memory that a search can save
"""
PORT = (
    KERNEL
    + """

def scale(x, y, a, n):
    if n:
        own_kernel[(triton.cdiv(n, 1024),)](x, y, a, n, BLOCK=1024)
"""
)
CLASS = (
    KERNEL
    + """

class ModelNew(torch.nn.Module):
    def __init__(self, factor):
        super().__init__()
        self.factor = factor

    def forward(self, x):
        y = torch.empty_like(x)
        n = x.numel()
        if n:
            own_kernel[(triton.cdiv(n, 1024),)](x, y, self.factor, n, BLOCK=1024)
        return y
"""
)


SIZE = ("--size", "n=4099")  # the drafted contract's own are as much as a CPU has time for


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with what is held to what, in which commands run."""
    for name, text in (("scale.cu", SOURCE), ("model.py", MODULE), ("own.py", PORT), ("own_class.py", CLASS)):
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def searched(capsys, *words: str) -> dict:
    """Returns what a search says that comes to its end."""
    assert main(["search", *words, "--seed", "7", "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def without_clock(run: Path) -> list[dict]:
    """Returns what a journal says, but for when."""
    lines = [json.loads(line) for line in (run / NAME).read_text().splitlines()]
    return [{key: value for key, value in line.items() if key != "seconds"} for line in lines]


def reopened(run: Path) -> tuple[object, object]:
    """Returns the subject of a run, and the same as a server reads it."""
    state = replayed(run).state
    options = MigrateOptions("triton", cache_folder(), environment=dict(os.environ))
    subject = kept(run, state.settings.about, port_of(seed_of(state), run / "original"), options)
    return subject, subject_of(problem_of(subject), run.with_suffix(".sent"), options)


def test_a_candidate_is_searched_from_against_cuda(folder, capsys):
    found = searched(capsys, "own.py", "--against", "scale.cu", *SIZE, "--rounds", "1", "-o", "out")
    assert (found["outcome"], found["search"]["measure"], found["search"]["better"]) == ("verified", "modelled", True)
    assert found["outputs"] == ["out/own.py"]
    run = folder / "out" / "own.triton.search"
    state = replayed(run).state
    assert seed_of(state)[0].text == PORT
    knobs = next(iter(state.members.values())).candidate.point
    assert knobs
    assert all(name.startswith("own_kernel") for name in knobs), "what was given is turned, not porter's port"
    assert {"formula", "plan"} <= set(state.settings.proposers)
    assert main(["resume", str(run), "--rounds", "2", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rounds"] == 2
    options = MigrateOptions("triton", cache_folder(), seed=7, sizes={"n": 4099}, environment=dict(os.environ))
    given = Given.read(Path("own.py"), Path("scale.cu"), options)
    limited = replace(given, options=replace(options, deadline=Deadline(0.001)))
    wanted = SearchOptions(Budget(2), again=True)
    better = limited.searched(given.verdict(lambda _: None), wanted, run, lambda _: None)
    assert (better.verdict.outcome.label, better.improved.rounds) == ("verified", 2), (
        "its best is proven without a limit"
    )
    assert main(["search", "own.py", "--against", "scale.cu", "--rounds", "3", "-o", "out"]) == 2
    assert "--resume" in capsys.readouterr().err


def test_a_candidate_is_searched_from_against_a_module_here_and_over_http(folder, capsys, monkeypatch):
    pytest.importorskip("fastapi")
    words = ("own_class.py", "--against", "model.py", "--target", "triton", "--evaluations", "2")
    found = searched(capsys, *words, "-o", "here")
    assert (found["outcome"], found["search"]["measure"]) == ("verified", "modelled")
    run = folder / "here" / "own_class.triton.search"
    state = replayed(run).state
    assert "formula" in state.settings.proposers, "what the module computes is known"
    assert next(m.scored.outcome for m in state.members.values()) == "verified"
    subject, _ = reopened(run)
    assert subject.standard_kind is StandardKind.PYTHON
    assert [(w.name, list(w.sizes.values())) for _, w in subject.workloads] == [("as written", [64, 96])]
    server = ServerProcess.begin(folder / "state")
    try:
        monkeypatch.setenv(TOKEN, SECRET)
        searched(capsys, *words, "-o", "there", "--evaluator", server.url)
    finally:
        server.kill()
    assert without_clock(folder / "there" / "own_class.triton.search") == without_clock(run)


def test_a_candidate_is_searched_from_against_a_recording(folder, capsys):
    assert main(["record", "scale.cu", *SIZE, "-o", "scale.golden"]) == 0
    capsys.readouterr()
    found = searched(capsys, "own.py", "--golden", "scale.golden", "--rounds", "1", "-o", "out")
    assert (found["outcome"], found["search"]["measure"]) == ("verified", "modelled")
    run = folder / "out" / "own.triton.search"
    edited = [member.candidate.files[0].text for member in replayed(run).state.members.values()]
    assert len(edited) > 1
    assert all("def own_kernel" in text for text in edited), "nothing tells the formula"
    subject, sent = reopened(run)
    assert sent.path.read_bytes() == subject.path.read_bytes() == (folder / "scale.golden").read_bytes()
    assert sent.contracts == subject.contracts
    with pytest.raises(InputError, match="is no recording"):
        subject_of(
            replace(problem_of(subject), files=(replace(problem_of(subject).files[0], text="?"),)),
            folder / "x",
            sent.options,
        )
    assert main(["export", str(run), "-o", "exported"]) == 0
    assert main(["verify", "exported/own.py", "--golden", "exported/original/scale.golden"]) == 0


@pytest.mark.parametrize(("candidate", "against"), [("own.py", "scale.cu"), ("own_class.py", "model.py")])
def test_a_wrong_candidate_is_refused_in_the_words_of_verify_before_anything_is_searched(
    folder, capsys, candidate, against
):
    path = folder / candidate
    path.write_text(path.read_text().replace("+ 3,", "+ 4,"))
    words = [candidate, "--against", against, "--target", "triton", "--seed", "5"]
    assert main(["verify", *words]) == 1
    said = capsys.readouterr().out
    assert main(["search", *words, "-o", "out"]) == 1
    assert capsys.readouterr().out == said
    assert "wrong: " in said
    assert not (folder / "out").exists()


@pytest.mark.usefixtures("folder")
def test_what_cannot_be_is_said_before_anything_is_executed(capsys):
    assert main(["search", "own.py", "--against", "scale.cu", "-o", "."]) == 2
    assert "own.py is a source: porter does not write over it" in capsys.readouterr().err
    assert main(["search", "own.py"]) == 2
    assert "one of --against and --golden" in capsys.readouterr().err
    assert main(["search", "own.py", "--against", "scale.cu", "--tokens", "100"]) == 2
    assert "none is named" in capsys.readouterr().err

"""`porter curate` on a small repository: what is executed is confined, and tasks come out that porter reads."""

import json
import socket

import pytest

from porter.cli.main import main
from porter.learn.curation.layouts import task_of_rl
from porter.suite.lock import locked
from porter.suite.selection import find_operators

LAYERS = """\
import torch
from torch import nn
import torch.nn.functional as F
from .parts import Gate

class Gated(nn.Module):
    def __init__(self, dim, heads=2):
        super().__init__()
        self.gate = Gate(dim)
        self.norm = nn.LayerNorm(48)
    def forward(self, x):
        return self.norm(self.gate(x))

class GatedAgain(nn.Module):
    def __init__(self, width: int, other=2):
        super().__init__()
        self.gate = Gate(width)
        self.last = nn.LayerNorm(48)
    def forward(self, value: torch.Tensor):
        return self.last(self.gate(value))

class Noisy(nn.Module):
    def forward(self, x):
        return x + torch.randn_like(x)

class Dropped(nn.Dropout):
    def forward(self, x):
        return super().forward(x)

class Lookup(nn.Module):
    def __init__(self, vocab_size, dim):
        super().__init__()
        self.table = nn.Embedding(vocab_size, dim)
    def forward(self, x):
        return self.table(x).tanh()

class Calls(nn.Module):
    def forward(self, x):
        import socket
        socket.create_connection(("127.0.0.1", PORT), 1)
        return x * 2

class Ends(nn.Module):
    def forward(self, x):
        import os
        os._exit(3)

class Foreign(nn.Module):
    def forward(self, x):
        return rearrange(x)

PORT = 1
"""
PARTS = """\
import torch
class Gate(torch.nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.lin = torch.nn.Linear(dim, 48)
    def forward(self, x):
        return self.lin(x) * torch.sigmoid(self.lin(x))
"""


@pytest.fixture(scope="module")
def listening():
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.01)
        yield server


@pytest.fixture(scope="module")
def curated(tmp_path_factory, listening):
    """The folder that came out, and what was said of it."""
    folder = tmp_path_factory.mktemp("curated")
    own = folder / "repository" / "package"
    own.mkdir(parents=True)
    text = LAYERS.replace("PORT = 1", f"PORT = {listening.getsockname()[1]}")
    (own / "layers.py").write_text(text)
    (own / "parts.py").write_text(PARTS)
    (folder / "repository" / "LICENSE").write_text("words")
    assert main(["curate", str(folder / "repository"), "--out", str(folder / "out"), "--workers", "2", "--json"]) == 0
    return folder


def records(folder, name):
    return [json.loads(line) for line in (folder / "out" / name).read_text().splitlines()]


def said(capsys, *arguments):
    capsys.readouterr()
    assert main(["curate", *map(str, arguments), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_only_what_answers_alone_and_repeats_nothing_becomes_a_task(curated):
    trials = {one["key"].split(":")[1]: one for one in records(curated, "trials.jsonl")}
    assert {name for name, one in trials.items() if one["reached"] == "fit"} == {"Gated", "Gate", "Lookup"}
    assert trials["Noisy"]["error"] == "it draws random numbers"
    assert trials["Dropped"]["error"] == "it computes nothing"
    assert "status 3" in trials["Ends"]["error"]
    assert "GatedAgain" not in trials  # its code is that of Gated with other names
    assert {one["name"]: one["refusal"] for one in records(curated, "classes.jsonl")}["Foreign"]


@pytest.mark.usefixtures("curated")
def test_what_is_executed_reaches_nobody(listening):
    with pytest.raises(TimeoutError):
        listening.accept()


def test_tasks_are_a_suite_and_rows_that_read_back_to_it(curated):
    operators = find_operators(curated / "out" / "suite")
    assert {one.name.rpartition("_")[0] for one in operators} == {"Gated", "Gate", "Lookup"}
    tasks = [task_of_rl(row) for row in records(curated, "rl.jsonl")]
    assert {task.text for task in tasks} == {one.source.read_text() for one in operators}
    assert all("package/" in task.text and "LICENSE" in task.text for task in tasks)


def test_the_same_command_tries_nothing_again_and_leaves_out_what_is_held_out(curated, capsys, monkeypatch):
    monkeypatch.setattr("porter.learn.curation.curate.tried", None)
    again = said(capsys, curated / "repository", "--out", curated / "out")
    assert again["counts"]["classes read"] == 9
    assert again["counts"]["tasks: not nearly the same code"] == 3
    held = curated / "held" / "level1"
    held.mkdir(parents=True)
    for file in (curated / "out" / "suite").rglob("Gated_*.py"):
        (held / "gated.py").write_text(file.read_text().replace("gate", "door"))
    less = said(capsys, curated / "repository", "--out", curated / "out", "--held-out", curated / "held")
    assert less["counts"]["tasks: not nearly the same code"] == 2
    (repeated,) = [one for one in records(curated, "tasks.jsonl") if one["because"] == "held out"]
    assert repeated["name"] == "Gated"


def test_a_folder_is_one_curation_of_one_process_at_a_time(curated, capsys):
    with locked(curated / "out"):
        assert main(["curate", str(curated / "repository"), "--out", str(curated / "out")]) == 2
    assert "another process" in capsys.readouterr().err
    assert main(["curate", str(curated / "repository" / "package"), "--out", str(curated / "out")]) == 2
    assert "other repositories" in capsys.readouterr().err

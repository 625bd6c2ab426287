"""Workers find the packages that porter finds, wherever these lie, and say why they do not start."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.metadata import distributions
from pathlib import Path

import pytest

import porter
import porter_maca
import porter_triton
from porter.errors import MachineError
from porter.worker.forking import ForkServer
from porter.worker.kinds import WorkerKind, start
from porter.worker.python_start import package_folders

REFERENCE = """\
import torch

def reference(x):
    return x + 1.0

def get_inputs():
    return [torch.rand(37, 5)]
"""
CANDIDATE = """\
import torch
import triton
import triton.language as tl


@triton.jit
def add_one(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, i < n) + 1.0, i < n)


def forward(x):
    y = torch.empty_like(x)
    add_one[(triton.cdiv(x.numel(), 256),)](x, y, x.numel(), 256)
    return y
"""


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """A folder as `pip install --target` leaves it: all packages that are here, and no environment around them."""
    folder = tmp_path_factory.mktemp("packages")
    for place in {Path(d.locate_file("")) for d in distributions()}:
        for entry in place.iterdir():
            if place.name.endswith("-packages") and entry.suffix != ".pth" and not (folder / entry.name).exists():
                (folder / entry.name).symlink_to(entry)
    return [*(Path(package.__file__).parents[1] for package in (porter, porter_maca, porter_triton)), folder]


def run_outside(packages, tmp_path, *arguments):
    """Runs porter in a Python that has no packages but those on PYTHONPATH."""
    python = getattr(sys, "_base_executable", sys.executable)
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(map(str, packages)),
        "PORTER_CACHE_DIR": str(tmp_path / "cache"),
    }
    command = [python, "-s", "-m", "porter", *arguments]
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


def test_doctor_starts_a_worker_of_each_kind_with_packages_of_pythonpath(packages, tmp_path):
    code, machine = run_outside(packages, tmp_path, "doctor", "--json")
    assert code == 0
    assert {worker["because"] for worker in machine["workers"]} == {""}
    assert len(machine["workers"]) >= 4


def test_candidates_are_verified_with_packages_of_pythonpath(packages, tmp_path):
    (tmp_path / "op.py").write_text(REFERENCE)
    (tmp_path / "candidate.py").write_text(CANDIDATE)
    code, document = run_outside(packages, tmp_path, "verify", "candidate.py", "--against", "op.py", "--json")
    assert code == 0, document


def test_a_worker_that_cannot_start_says_what_is_missing():
    assert "No module named 'porter.missing'" in start(WorkerKind("do nothing", "porter.missing", {}))


def test_a_process_that_starts_workers_leaves_its_last_words(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "breaks.py").write_text("import os\nos.write(2, b'the licence server is away\\n')\nos._exit(7)\n")
    with pytest.raises(MachineError, match="ended with status 7: the licence server is away"):
        ForkServer("breaks", {})


def test_a_worker_that_ends_before_its_greeting_leaves_its_last_words(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(tmp_path)
    text = (
        "import os\n\ndef prepare(): pass\n\ndef serve(arguments):\n    os.write(2, b'no device\\n')\n    os.abort()\n"
    )
    (tmp_path / "aborts.py").write_text(text)
    assert "no device" in start(WorkerKind("abort", "aborts", {}))


def test_workers_do_not_import_from_the_folder_porter_is_started_in(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["", str(tmp_path), *sys.path])
    assert str(tmp_path) not in package_folders()
    others = [place for place in sys.path if Path(place).is_absolute() and place != str(tmp_path)]
    assert list(dict.fromkeys(others)) == package_folders()

"""What a worker may do, and what ends it."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from porter.execution.job import FaultKind, Limits
from porter.native.nvml import is_worker
from porter.worker.child import Child, Death
from porter_triton.calls import DEVICES
from porter_triton.records import PlanRequest

MODULE = """\
import os


def hoard():
    kept = [b"x" * (1 << 24) for _ in range(64)]


def leave_the_group():
    os.setsid()


def leave_for_another_group():
    os.setpgid(0, 0)
"""


@pytest.fixture
def module(tmp_path):
    path = tmp_path / "module.py"
    path.write_text(MODULE)
    (tmp_path / "run").mkdir()
    return path


def test_a_worker_whose_memory_is_watched_is_ended_when_it_holds_too_much(module):
    limits = Limits(memory_bytes=128 << 20)
    arguments = ("porter_triton.programs", [str(module), "plan"], module.parent / "run", limits, {})
    child = Child(*arguments, resident=True, forked=True)
    try:
        assert child.begin() is None
        answer = child.ask(pickle.dumps((PlanRequest("hoard", (), DEVICES[0]),)), parts=1)
        assert isinstance(answer, Death)
        assert answer.kind is FaultKind.RESOURCE
    finally:
        child.end()


def test_a_device_knows_workers_that_were_forked_from_other_programs(module):
    arguments = ("porter_triton.programs", [str(module), "plan"], module.parent / "run", Limits(), {})
    child = Child(*arguments, resident=True, forked=True)
    try:
        assert child.begin() is None
        assert is_worker(Path(f"/proc/{child.pid}"))
        assert not is_worker(Path("/proc/self"))
    finally:
        child.end()
    assert not is_worker(Path(f"/proc/{child.pid}"))


@pytest.mark.parametrize("way", ["leave_the_group", "leave_for_another_group"])
def test_nothing_leaves_the_group_that_is_ended_with_the_worker(tmp_path, way):
    (tmp_path / "module.py").write_text(MODULE)
    code = f"""
import sys
from pathlib import Path
from porter.sandbox.confine import confine
from porter.worker.load import load
module = load(Path({str(tmp_path / "module.py")!r}))
confine(Path({str(tmp_path)!r}), programs=True)
module.{way}()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "PermissionError" in done.stderr

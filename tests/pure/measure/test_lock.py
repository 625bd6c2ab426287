"""The lock of a device, across processes."""

from __future__ import annotations

import subprocess
import sys

import pytest

from porter.errors import MachineError
from porter.measure.lock import device_lock

HOLDER = """
import sys
from pathlib import Path
from porter.measure.lock import device_lock
with device_lock("GPU-1", Path(sys.argv[1]), 1.0):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def holder(tmp_path):
    """Another process that holds GPU-1 until its standard input ends."""
    command = [sys.executable, "-c", HOLDER, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


@pytest.mark.usefixtures("holder")
def test_a_device_that_another_process_measures_on_is_not_given(tmp_path):
    with pytest.raises(MachineError, match="another process has been measuring"), device_lock("GPU-1", tmp_path, 0.05):
        pass


@pytest.mark.usefixtures("holder")
def test_another_device_is_free(tmp_path):
    with device_lock("GPU-2", tmp_path, 0.05):
        pass


def test_the_lock_of_a_process_that_was_killed_is_free(tmp_path, holder):
    holder.kill()
    holder.wait()
    with device_lock("GPU-1", tmp_path, 5.0):
        pass


def test_the_lock_is_given_back(tmp_path):
    for _ in range(2):
        with device_lock("GPU-1", tmp_path, 0.05):
            pass


def test_any_user_may_open_the_lock(tmp_path):
    with device_lock("GPU-1", tmp_path, 0.05):
        assert (tmp_path / "porter-GPU-1.lock").stat().st_mode & 0o777 == 0o666

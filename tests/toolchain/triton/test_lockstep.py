"""Programs in lockstep leave what they leave one after the other, to the last bit, and what is said of them, too."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

KERNELS = Path(__file__).parent / "lockstep_kernels.py"
TOGETHER = ("tail", "rows", "tiles", "narrow", "scalars", "uneven", "shared")
# Those that splits would make slower, that meet in memory, that end in an error, that have to do with atomics.
APART = ("searching", "meeting", "neighbours", "overtaken", "beyond", "refusing", "adding")


@pytest.fixture(scope="module")
def left():
    """Returns what each kernel left."""
    environment = {**os.environ, "TRITON_INTERPRET": "1"}
    done = subprocess.run([sys.executable, KERNELS], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", [*TOGETHER, *APART])
def test_what_is_left_and_said_is_the_same(left, name):
    for lockstep, one_by_one in left[name]:
        assert lockstep["left"] == one_by_one["left"]


@pytest.mark.parametrize("name", [*TOGETHER, *APART])
def test_programs_that_need_each_other_do_not_run_in_lockstep(left, name):
    assert [lockstep["lockstep"] for lockstep, _ in left[name]] == [name in TOGETHER] * 2

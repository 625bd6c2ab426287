"""A device to run on; without one these tests are skipped, for the reason the backend gives."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from porter.native.place import missing_device, place
from porter_triton.backend import TritonBackend


@pytest.fixture(scope="session")
def _can_run():
    can = TritonBackend().probe()
    if because := missing_device() or ("" if can.run else can.because):
        pytest.skip(because)


@pytest.fixture(scope="module")
def device(_can_run, tmp_path_factory):
    """The first device, for nobody else while the tests of a module take."""
    with place(tmp_path_factory.mktemp("cache"), 10.0, dict(os.environ)) as found, found.lock.alone():
        yield found


@pytest.fixture
def module(tmp_path):
    """Writes the text of a module and gives its path."""

    def written(text: str) -> str:
        path = tmp_path / "candidate.py"
        path.write_text(text)
        return str(path)

    return written


@pytest.fixture(scope="session")
def porter(_can_run, tmp_path_factory):
    """`porter("bench", "op.py", "--json", op=TEXT)` in a folder of such modules: the exit code and the document."""
    environment = {**os.environ, "PORTER_CACHE_DIR": str(tmp_path_factory.mktemp("cache"))}

    def run(*arguments, **modules):
        folder = tmp_path_factory.mktemp("porter")
        for name, text in modules.items():
            (folder / f"{name}.py").write_text(text)
        command = [sys.executable, "-m", "porter", *map(str, arguments)]
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        assert done.stdout, done.stderr
        return done.returncode, json.loads(done.stdout)

    return run

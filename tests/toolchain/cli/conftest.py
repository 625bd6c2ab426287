"""Runs the command line as a process of its own, in a folder of the test's own."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass

import pytest


@dataclass(frozen=True)
class Done:
    """A finished process."""

    code: int
    stdout: str
    stderr: str

    @property
    def document(self):
        """Standard output, which must be one JSON document."""
        return json.loads(self.stdout)


@pytest.fixture
def porter(tmp_path, cache):
    """`porter("migrate", "op.cu", "--target", "maca")`, run in `tmp_path`."""
    environment = {**os.environ, "PORTER_CACHE_DIR": str(cache)}

    def run(*arguments, timeout_s=900, **changed):
        command = [sys.executable, "-m", "porter", *(str(argument) for argument in arguments)]
        done = subprocess.run(
            command,
            cwd=tmp_path,
            env=environment | changed,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
        )
        return Done(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def write(tmp_path):
    """`write("op.cu", text)` makes a source in the test's folder and gives its name."""

    def make(name, content):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return name

    return make

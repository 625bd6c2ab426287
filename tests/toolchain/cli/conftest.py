"""Runs the command line as a process of its own, in a folder of the test's own."""

import json
import multiprocessing
import os
import subprocess
from dataclasses import dataclass

import pytest

from tests.toolchain.cli.forked import command_line


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


@pytest.fixture(scope="session")
def forked():
    """What starts processes that are forks of one which has imported porter: that takes longer than most commands."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.toolchain.cli.forked"])
    return context.Process


@pytest.fixture
def porter(tmp_path, cache, forked):
    """`porter("migrate", "op.cu", "--target", "maca")`, run in `tmp_path`."""
    environment = {**os.environ, "PORTER_CACHE_DIR": str(cache)}
    output = tmp_path.with_name(f"{tmp_path.name}-output")

    def run(*arguments, timeout_s=900, **changed):
        output.mkdir(exist_ok=True)
        given = [str(argument) for argument in arguments]
        if given[:1] == ["migrate"] and "--limit" not in given:
            given += ["--limit", str(timeout_s)]  # that a machine is busy is no failure of what is tested
        process = forked(target=command_line, args=(given, tmp_path, environment | changed, output))
        process.start()
        process.join(timeout_s)
        if process.exitcode is None:
            process.kill()
            raise subprocess.TimeoutExpired(given, timeout_s)
        return Done(process.exitcode, *((output / name).read_text("utf-8") for name in ("stdout", "stderr")))

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

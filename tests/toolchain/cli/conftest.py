"""Runs the command line as a process of its own, in a folder of the test's own."""

import json
import multiprocessing
import os
import subprocess
from dataclasses import dataclass

import pytest

from tests.toolchain.cli.forked import command_line, command_lines


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


class CommandLines:
    """A process that runs command lines one after the other, started again when one of them has not ended in time."""

    def __init__(self, context):
        self._context = context
        self._process = None

    def run(self, arguments, folder, environment, output, timeout_s):
        """Returns the exit code of `porter ARGUMENTS`; raises `subprocess.TimeoutExpired`."""
        if self._process is None:
            self._line, there = self._context.Pipe()
            self._process = self._context.Process(target=command_lines, args=(there,))
            self._process.start()
            there.close()
        self._line.send((arguments, folder, environment, output))
        if not self._line.poll(timeout_s):
            self._process.kill()
            self._process = None
            raise subprocess.TimeoutExpired(arguments, timeout_s)
        return self._line.recv()

    def close(self):
        if self._process is not None:
            self._line.send(())
            self._process.join()


@pytest.fixture(scope="session")
def forks():
    """The forks of one process which has imported porter: that takes longer than most commands."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.toolchain.cli.forked"])
    return context


@pytest.fixture(scope="session")
def command_lines_of_the_session(forks):
    found = CommandLines(forks)
    yield found
    found.close()


@pytest.fixture
def porter(tmp_path, cache, forks, command_lines_of_the_session):
    """`porter("migrate", "op.cu", "--target", "maca")`, run in `tmp_path`.

    With variables of its own it is a process of its own: what porter finds in these it may keep.
    """
    environment = {**os.environ, "PORTER_CACHE_DIR": str(cache)}
    output = tmp_path.with_name(f"{tmp_path.name}-output")

    def run(*arguments, timeout_s=900, **changed):
        output.mkdir(exist_ok=True)
        given = [str(argument) for argument in arguments]
        if given[:1] == ["migrate"] and "--limit" not in given:
            given += ["--limit", str(timeout_s)]  # that a machine is busy is no failure of what is tested
        if given[:1] == ["migrate"] and "--follow" not in given:
            given += ["--follow", "kernels"]  # a formula takes longer, and who tests it asks for it
        start = _run_apart if changed else command_lines_of_the_session.run
        code = start(given, tmp_path, environment | changed, output, timeout_s)
        return Done(code, *((output / name).read_text("utf-8") for name in ("stdout", "stderr")))

    def _run_apart(given, folder, changed, output, timeout_s):
        process = forks.Process(target=command_line, args=(given, folder, changed, output))
        process.start()
        process.join(timeout_s)
        if process.exitcode is None:
            process.kill()
            raise subprocess.TimeoutExpired(given, timeout_s)
        return process.exitcode

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

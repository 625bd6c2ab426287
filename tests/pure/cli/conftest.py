"""Runs the command line in this process."""

import json
from dataclasses import dataclass

import pytest

from porter.cli.main import main


@dataclass(frozen=True)
class Done:
    """A finished command line."""

    code: int
    stdout: str
    stderr: str

    @property
    def document(self):
        """Standard output, which must be one JSON document."""
        return json.loads(self.stdout)


@pytest.fixture
def porter(capsys, monkeypatch, tmp_path):
    """`porter("explain", "PORT1007")` runs that command line; its cache is the test's own.

    `doctor` starts no workers here, which takes seconds: tests/toolchain/worker does.
    """
    monkeypatch.setenv("PORTER_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr("porter.report.machine.start_workers", lambda _: ())

    def run(*arguments):
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        return Done(code, *capsys.readouterr())

    return run

"""Which compiler builds the executor."""

import pytest

from porter.simt.compiler import compiler


@pytest.mark.parametrize(
    ("script", "version"),
    [
        ("echo 'g++ (Debian 12.2.0) 12.2.0'", "g++ (Debian 12.2.0) 12.2.0"),
        ("echo 'Apple clang version 15.0.0'", None),
        ("exit 1", None),
    ],
)
def test_only_a_gnu_compiler_does(tmp_path, monkeypatch, script, version):
    program = tmp_path / "g++"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    found = compiler.__wrapped__()
    assert (found.version if found else None) == version


def test_none_at_all_is_none(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert compiler.__wrapped__() is None

"""Which compiler builds the executor."""

import pytest

from porter.errors import MachineError
from porter.simt.compiler import Compiler, call, compiler


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


@pytest.mark.parametrize(
    "said",
    [
        "k.cu:3:1: fatal error: error writing to /x/cc.s: No space left on device",
        "/usr/bin/ld: final link failed: No space left on device",
        "cc1plus: out of memory allocating 65536 bytes after a total of 1234 bytes",
        "g++: fatal error: Killed signal terminated program cc1plus",
    ],
)
def test_what_the_machine_failed_is_no_verdict_on_a_source(tmp_path, said):
    program = tmp_path / "failing"
    program.write_text(f"#!/bin/sh\necho '{said}' >&2\nexit 1\n")
    program.chmod(0o755)
    with pytest.raises(MachineError, match=said[-20:]):
        call(Compiler(str(program), "1"), [], tmp_path)


def test_what_a_source_says_of_devices_is_its_own(tmp_path):
    program = tmp_path / "failing"
    program.write_text("#!/bin/sh\necho 'k.cu:3:2: error: #error \"No space left on device\"' >&2\nexit 1\n")
    program.chmod(0o755)
    assert not call(Compiler(str(program), "1"), [], tmp_path).ok

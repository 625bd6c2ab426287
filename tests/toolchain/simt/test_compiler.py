"""How the compiler is called: for as much processor time as it may use, and in the language its errors are read in."""

from __future__ import annotations

import pytest

from porter.simt.compiler import Compiler, call

ENDLESS = "while :; do :; done"


@pytest.mark.parametrize("script", [ENDLESS, f"sh -c '{ENDLESS}'; exit 1"], ids=["itself", "its child"])
def test_a_compiler_that_does_not_end_is_stopped(tmp_path, script):
    done = call(Compiler("sh", "a shell"), ["-c", script], tmp_path, cpu_s=1)
    assert not done.ok
    assert done.log == "error: the compiler did not finish within 1 s of processor time"


def test_the_compiler_speaks_english(tmp_path, monkeypatch):
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    assert call(Compiler("sh", "a shell"), ["-c", 'echo "$LC_ALL" >&2'], tmp_path).log == "C.UTF-8\n"

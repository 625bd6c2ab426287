"""With an SDK at MACA_PATH its compiler has the last word. The compiler here is a shell script, called for real."""

import shutil
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[3] / "examples" / "sum.cu"
REFUSES = 'echo "$PWD/sum.maca.cpp:3:7: error: unknown attribute" >&2; exit 1'


@pytest.fixture
def sdk(tmp_path):
    """`sdk(script)`: the root of an SDK whose mxcc is the shell script."""

    def install(script):
        compiler = tmp_path / "maca" / "mxgpu_llvm" / "bin" / "mxcc"
        compiler.parent.mkdir(parents=True)
        compiler.write_text(f"#!/bin/sh\n{script}\n")
        compiler.chmod(0o755)
        return str(tmp_path / "maca")

    return install


@pytest.mark.parametrize(("script", "code", "outcome"), [("exit 0", 0, "verified"), (REFUSES, 1, "not_built")])
def test_a_port_the_vendors_compiler_refuses_is_not_built(porter, tmp_path, sdk, script, code, outcome):
    shutil.copy(EXAMPLE, tmp_path)
    done = porter("migrate", "sum.cu", "--target", "maca", "--json", MACA_PATH=sdk(script))
    assert (done.code, done.document["outcome"]) == (code, outcome)
    messages = [finding["message"] for finding in done.document["findings"]]
    assert any("unknown attribute" in message for message in messages) == (outcome == "not_built")

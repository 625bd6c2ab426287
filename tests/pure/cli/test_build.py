"""Which folders and macros a source is read with: those of the command line, and those of its build."""

import json

import pytest

KERNEL = """
#include "sizes.h"
#ifdef WIDE
__global__ void wide(float* x) { x[threadIdx.x] = N; }
#else
__global__ void narrow(float* x) { x[threadIdx.x] = N; }
#endif
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A source that finds its header, and its macro, by its build alone."""
    (tmp_path / "away").mkdir()
    (tmp_path / "away/sizes.h").write_text("#define N 4\n")
    (tmp_path / "k.cu").write_text(KERNEL)
    commands = [{"directory": str(tmp_path), "file": "k.cu", "command": "nvcc -Iaway -DWIDE=1 k.cu"}]
    (tmp_path / "compile_commands.json").write_text(json.dumps(commands))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def kernels(done):
    return [kernel["name"] for kernel in done.document["program"]["kernels"]]


def test_the_build_says_which_kernel_there_is(porter, project):
    assert kernels(porter("inspect", "k.cu", "--json")) == ["wide"]
    (project / "compile_commands.json").unlink()
    assert kernels(porter("inspect", "k.cu", "--json")) == ["narrow"]


def test_what_the_build_adds_is_said_as_a_finding(porter, project):
    done = porter("migrate", "k.cu", "--target", "maca", "--check", "--json")
    (check,) = done.document["checks"]
    said = {one["code"]: one["message"] for one in check["findings"]}
    assert said["PORT2016"] == f"{project}/compile_commands.json adds -I{project}/away -DWIDE=1"


def test_the_command_line_wins_over_the_build(porter, project):
    (project / "k.cu").write_text(KERNEL.replace("ifdef WIDE", "if WIDE > 1"))
    assert kernels(porter("inspect", "k.cu", "--json", "--define", "WIDE=2")) == ["wide"]
    assert kernels(porter("inspect", "k.cu", "--json")) == ["narrow"]


def test_a_named_file_that_does_not_know_the_source_is_said_to_be_of_no_use(porter, project):
    (project / "other.json").write_text("[]")
    done = porter("inspect", "k.cu", "--as", "findings", "--target", "maca", "--compile-commands", "other.json")
    assert "other.json does not name k.cu" in done.stdout
    done = porter("inspect", "k.cu", "--compile-commands", "gone.json")
    assert (done.code, "gone.json: no such file" in done.stderr) == (2, True)

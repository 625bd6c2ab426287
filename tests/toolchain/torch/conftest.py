"""Runs programs against the tensor library that executables are linked with."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import porter.simt
from porter.simt.compiler import compiler, missing_compiler
from porter.simt.parts import executor_objects

SIMT = Path(porter.simt.__file__).parent
HERE = Path(__file__).parent
INCLUDE = SIMT / "include"
FLAGS = ("-std=c++17", "-O0", f"-I{INCLUDE}", f"-I{INCLUDE / 'torch_shim'}", f"-I{INCLUDE / 'cuda'}")


@pytest.fixture(scope="session")
def tensor_library(tmp_path_factory: pytest.TempPathFactory, build_cache: Path) -> tuple[Path, Path]:
    """The object with every tensor operation, as executables have it, and one with plain memory below it."""
    found = compiler()
    if found is None:
        pytest.skip(missing_compiler())
    _, tensors = executor_objects(found, torch=True, double_precision=False, cache=build_cache)
    stand_in = tmp_path_factory.mktemp("tensors") / "stand_in.o"
    subprocess.run(["g++", *FLAGS, "-c", HERE / "stand_in.cpp", "-o", stand_in], check=True)
    return tensors, stand_in


@pytest.fixture(scope="session")
def program_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns where programs are compiled, one after the other."""
    return tmp_path_factory.mktemp("program")


@pytest.fixture(scope="session")
def compiler_errors(program_folder: Path) -> Callable[[str], str]:
    """Compiles a program to program.o; returns what the compiler said."""

    def compile_text(text: str) -> str:
        (program_folder / "program.cpp").write_text(text)
        command = ["g++", *FLAGS, "-w", f"-I{HERE}", "-c", "program.cpp", "-o", "program.o"]
        return subprocess.run(command, check=False, cwd=program_folder, capture_output=True, text=True).stderr

    return compile_text


@pytest.fixture(scope="session")
def run_program(
    tensor_library: tuple[Path, Path], compiler_errors: Callable[[str], str], program_folder: Path
) -> Callable[[str], str]:
    """Compiles, links and runs a program; returns what it printed."""

    def run(text: str) -> str:
        assert compiler_errors(text) == ""
        link = ["g++", "-no-pie", "program.o", *map(str, tensor_library), "-o", "program"]
        subprocess.run(link, cwd=program_folder, check=True)
        return subprocess.run(["./program"], cwd=program_folder, check=True, capture_output=True, text=True).stdout

    return run

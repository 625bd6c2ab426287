"""Builds the tensor library once for all tests of it, and runs programs against it."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import porter.simt

SIMT = Path(porter.simt.__file__).parent
HERE = Path(__file__).parent
INCLUDE = SIMT / "include"
FLAGS = ("-std=c++17", "-O0", f"-I{INCLUDE}", f"-I{INCLUDE / 'torch_shim'}", f"-I{INCLUDE / 'cuda'}")


@pytest.fixture(scope="session")
def tensor_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An object with every tensor operation and plain memory below it."""
    folder = tmp_path_factory.mktemp("tensors")
    sources = [*sorted((SIMT / "runtime" / "torch").glob("*.cpp")), HERE / "stand_in.cpp"]
    (folder / "all.cpp").write_text("".join(f'#include "{source}"\n' for source in sources))
    subprocess.run(["g++", *FLAGS, "-c", "all.cpp", "-o", "all.o"], cwd=folder, check=True)
    return folder / "all.o"


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
    tensor_library: Path, compiler_errors: Callable[[str], str], program_folder: Path
) -> Callable[[str], str]:
    """Compiles, links and runs a program; returns what it printed."""

    def run(text: str) -> str:
        assert compiler_errors(text) == ""
        subprocess.run(["g++", "program.o", str(tensor_library), "-o", "program"], cwd=program_folder, check=True)
        return subprocess.run(["./program"], cwd=program_folder, check=True, capture_output=True, text=True).stdout

    return run

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


def compile_text(text: str, folder: Path, *flags: str) -> subprocess.CompletedProcess[str]:
    """Compiles one C++ source in `folder` to program.o; the caller looks at the result."""
    (folder / "program.cpp").write_text(text)
    command = ["g++", *FLAGS, f"-I{HERE}", *flags, "-c", "program.cpp", "-o", "program.o"]
    return subprocess.run(command, check=False, cwd=folder, capture_output=True, text=True)


@pytest.fixture(scope="session")
def tensor_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An object with every tensor operation and plain memory below it."""
    folder = tmp_path_factory.mktemp("tensors")
    sources = [*sorted((SIMT / "runtime" / "torch").glob("*.cpp")), HERE / "stand_in.cpp"]
    (folder / "all.cpp").write_text("".join(f'#include "{source}"\n' for source in sources))
    subprocess.run(["g++", *FLAGS, "-c", "all.cpp", "-o", "all.o"], cwd=folder, check=True)
    return folder / "all.o"


@pytest.fixture
def run_program(tensor_library: Path, tmp_path: Path) -> Callable[[str], str]:
    """Compiles, links and runs a program; returns what it printed."""

    def run(text: str) -> str:
        built = compile_text(text, tmp_path)
        assert built.returncode == 0, built.stderr
        subprocess.run(["g++", "program.o", str(tensor_library), "-o", "program"], cwd=tmp_path, check=True)
        return subprocess.run(["./program"], cwd=tmp_path, check=True, capture_output=True, text=True).stdout

    return run

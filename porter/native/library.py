"""Compiles `device.cpp` as a shared library, once for each compiler, and keeps it."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import tempfile
from importlib.util import find_spec
from pathlib import Path

from porter.errors import MachineError

_SOURCE = Path(__file__).with_name("device.cpp")
_FLAGS = ("-std=c++17", "-O2", "-Wall", "-Wextra", "-shared", "-fPIC")
_LIMIT_S = 60.0


def device_library(cache: Path) -> Path:
    """Returns the library below `cache`, compiled if it is not there.

    Raises `MachineError` without a C++ compiler or the driver's header.
    """
    compiler = shutil.which("g++")
    if compiler is None:
        raise MachineError("no C++ compiler: g++ is not on the PATH", "run `porter doctor`")
    header = _header()
    key = hashlib.blake2b(b"\0".join((_SOURCE.read_bytes(), header.read_bytes(), *map(str.encode, _FLAGS))))
    library = cache / "native" / f"device-{key.hexdigest()[:24]}.so"
    if not library.exists():
        _compile(compiler, header.parent, library)
    return library


def _header() -> Path:
    """Returns the driver's header: Triton's, if it brings one, or that of the CUDA toolkit."""
    spec = find_spec("triton")
    places = (
        [Path(place) / "backends" / "nvidia" / "include" for place in (spec.submodule_search_locations or ())]
        if spec
        else []
    )
    nvcc = shutil.which("nvcc")
    places += [Path(nvcc).resolve().parents[1] / "include"] if nvcc else []
    found = next((place / "cuda.h" for place in places if (place / "cuda.h").exists()), None)
    if found is None:
        raise MachineError("no cuda.h: neither Triton for NVIDIA nor a CUDA toolkit is here", "run `porter doctor`")
    return found


def _compile(compiler: str, include: Path, library: Path) -> None:
    library.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=library.parent) as scratch:
        made = Path(scratch) / library.name
        command = [compiler, *_FLAGS, f"-I{include}", str(_SOURCE), "-o", str(made), "-ldl"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=_LIMIT_S, check=False)
        except subprocess.TimeoutExpired as late:
            raise MachineError(f"{compiler} did not compile {_SOURCE.name} within {_LIMIT_S:g} s") from late
        if done.returncode != 0:
            raise MachineError(f"{_SOURCE.name} does not compile: {done.stderr.strip()[:300]}", "run `porter doctor`")
        made.replace(library)

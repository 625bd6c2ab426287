"""Finds the MetaX SDK on this machine: its place, its abilities, how to call its compiler and read the answer."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from porter.backend import Availability

COMPILE_LIMIT_S = 300.0

_DIAGNOSTIC = re.compile(r"^(?P<file>[^\n:]+):(?P<line>\d+):(?P<column>\d+): (?:fatal )?error: (?P<message>.*)$", re.M)


@dataclass(frozen=True, slots=True)
class MacaSdk:
    """An SDK's root; None when none is named. `has_device` says that MetaX's driver tool is on the path."""

    root: Path | None
    has_device: bool

    @classmethod
    def found(cls, root: Path | None, environment: Mapping[str, str]) -> MacaSdk:
        """Returns the SDK at `root`, or where MACA_PATH of `environment` points."""
        named = environment.get("MACA_PATH", "")
        place = root or (Path(named) if named else None)
        return cls(place, shutil.which("mx-smi", path=environment.get("PATH", "")) is not None)

    @property
    def compiler(self) -> Path | None:
        """`mxcc`; None when it is not there."""
        if self.root is None:
            return None
        path = self.root / "mxgpu_llvm" / "bin" / "mxcc"
        return path if os.access(path, os.X_OK) else None

    def probe(self) -> Availability:
        """Returns what can be done, with the reason for what cannot."""
        if self.root is None:
            return Availability(False, False, "no MetaX SDK: MACA_PATH is not set")
        if self.compiler is None:
            return Availability(False, False, f"MACA_PATH is {self.root}, but mxgpu_llvm/bin/mxcc is not there")
        if not self.has_device:
            return Availability(True, False, "mxcc is here, but mx-smi is not on the PATH: no MetaX device")
        return Availability(True, True, "")


def native_command(sdk: MacaSdk, arch: str, source: Path, output: Path) -> tuple[str, ...]:
    """Returns the line that compiles native MACA C++ to an object."""
    return (
        *(str(sdk.compiler), "-x", "maca", "-c", str(source), "-o", str(output)),
        *(f"--maca-path={sdk.root}", f"-offload-arch={arch}", "-O3", "-std=c++17", "-fPIC"),
    )


def extension_command(sdk: MacaSdk, arch: str, source: Path, output: Path, includes: Sequence[Path]) -> tuple[str, ...]:
    """Returns the command for a PyTorch extension: MetaX's torch keeps CUDA's names, which cu-bridge translates."""
    bridge = Path(str(sdk.root)) / "tools" / "cu-bridge" / "include"
    return (
        *native_command(sdk, arch, source, output),
        *("-DUSE_MACA", "-DNV_ARCH_A100", f"-DTORCH_EXTENSION_NAME={source.name.split('.')[0]}", f"-I{bridge}"),
        *("-Xclang", "-imacros", "-Xclang", str(bridge / "__macro_mxcc.h")),
        *(f"-I{path}" for path in includes),
    )


@dataclass(frozen=True, slots=True)
class Ran:
    """The outcome of a compiler's run; `output` is what it printed to both streams."""

    status: int
    output: str
    timed_out: bool


def run(command: Sequence[str], workdir: Path, limit_s: float = COMPILE_LIMIT_S) -> Ran:
    """Runs `command` in `workdir`, in a session of its own that is killed as a whole when the limit is over."""
    with subprocess.Popen(
        command,
        cwd=workdir,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    ) as process:
        try:
            output, _ = process.communicate(timeout=limit_s)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            output, _ = process.communicate()
            return Ran(process.returncode, output, timed_out=True)
    return Ran(process.returncode, output, timed_out=False)


@dataclass(frozen=True, slots=True)
class CompilerError:
    """One error of the compiler's; `line` and `column` count from 1."""

    file: str
    line: int
    column: int
    message: str


def errors(output: str) -> tuple[CompilerError, ...]:
    """Returns the errors in the output of a clang, in order."""
    return tuple(
        CompilerError(found["file"], int(found["line"]), int(found["column"]), found["message"])
        for found in _DIAGNOSTIC.finditer(output)
    )

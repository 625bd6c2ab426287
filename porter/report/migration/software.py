"""Names the software that a port is made and proven with."""

from __future__ import annotations

import platform
import shutil
import subprocess
from dataclasses import dataclass

from porter import __version__
from porter.evaluate.problem.environment import package_version

_COMPILERS = ("g++", "nvcc")
_PACKAGES = ("numpy", "torch", "triton", "tree-sitter", "tree-sitter-cpp", "typer")


@dataclass(frozen=True, slots=True)
class Tool:
    """A program or package: `version` is empty when it is missing."""

    name: str
    version: str
    path: str = ""


@dataclass(frozen=True, slots=True)
class Software:
    """The versions of porter, of what it runs on, and of the compilers and packages that it uses."""

    porter: str
    python: str
    platform: str
    compilers: tuple[Tool, ...]
    packages: tuple[Tool, ...]


def installed_software() -> Software:
    """Returns what is installed here; takes a tenth of a second and imports none of the packages it names."""
    return Software(
        porter=__version__,
        python=platform.python_version(),
        platform=platform.platform(terse=True),
        compilers=tuple(map(_compiler, _COMPILERS)),
        packages=tuple(Tool(name, package_version(name)) for name in _PACKAGES),
    )


def _compiler(name: str) -> Tool:
    """Returns the compiler on the PATH; its version is the last line of `--version` that holds one."""
    path = shutil.which(name)
    if path is None:
        return Tool(name, "")
    try:
        told = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=10, check=True).stdout
    except (OSError, subprocess.SubprocessError) as error:
        return Tool(name, "", f"{path} does not run: {error}")
    lines = [line for line in told.splitlines() if any(c.isdigit() for c in line)]
    release = next((line for line in lines if "release" in line), lines[0] if lines else "unknown")
    return Tool(name, release.strip(), path)

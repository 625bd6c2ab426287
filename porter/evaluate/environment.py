"""Where a verdict was made: what another machine would need to make the same."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version

from porter import __version__

_PACKAGES = ("numpy", "torch", "triton")


def environment() -> Mapping[str, str]:
    """The versions of what executes candidates and references; a package that is not there is empty."""
    packages = {name: _version(name) for name in _PACKAGES}
    return {"porter": __version__, "python": platform.python_version(), "machine": platform.machine(), **packages}


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""

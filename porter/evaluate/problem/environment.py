"""Records where a verdict was made: what another machine needs to make the same one."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version

from porter import __version__

_PACKAGES = ("numpy", "torch", "triton")


def environment() -> Mapping[str, str]:
    """Returns the versions of what executes candidates and references; that of a missing package is empty."""
    packages = {name: package_version(name) for name in _PACKAGES}
    return {"porter": __version__, "python": platform.python_version(), "machine": platform.machine(), **packages}


def package_version(package: str) -> str:
    """Returns the version of an installed package; empty where it is missing."""
    try:
        return version(package)
    except PackageNotFoundError:
        return ""

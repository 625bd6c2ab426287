"""Records where a verdict was made: what another machine would need to make the same."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version

from porter import __version__

_PACKAGES = ("numpy", "torch", "triton")


def environment() -> Mapping[str, str]:
    """The versions of what executes candidates and references; a package that is not there is empty."""
    packages = {name: package_version(name) for name in _PACKAGES}
    return {"porter": __version__, "python": platform.python_version(), "machine": platform.machine(), **packages}


def package_version(package: str) -> str:
    """The version of an installed package; empty where it is not."""
    try:
        return version(package)
    except PackageNotFoundError:
        return ""

"""The MetaX devices of `targets.toml`."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files

from porter.backend import Target

BACKEND = "maca"


@cache
def targets() -> tuple[Target, ...]:
    """The devices known, the default first."""
    rows = tomllib.loads((files("porter_maca") / "targets.toml").read_text("utf-8"))["target"]
    return tuple(
        Target(backend=BACKEND, **{name: value for name, value in row.items() if name != "source"}) for row in rows
    )


def offload_arch(target: Target) -> str:
    """The compiler's name of the device's architecture."""
    return target.arch if target.arch.startswith("xcore") else "xcore1000"

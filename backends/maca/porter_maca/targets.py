"""The MetaX devices of `targets.toml`."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

from porter.backend import Chip, Target

BACKEND = "maca"


@cache
def targets() -> tuple[Target, ...]:
    """Returns the known devices, the default first."""
    rows = tomllib.loads((files("porter_maca") / "targets.toml").read_text("utf-8"))["target"]
    return tuple(map(_target, rows))


def offload_arch(target: Target) -> str:
    """Returns the compiler's name of the device's architecture."""
    return target.arch if target.arch.startswith("xcore") else "xcore1000"


def _target(row: dict[str, Any]) -> Target:  # a row of the table, whose columns are the fields
    chip = Chip(**row["chip"]) if "chip" in row else None
    return Target(backend=BACKEND, chip=chip, **{k: v for k, v in row.items() if k not in ("source", "chip")})

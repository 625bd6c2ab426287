"""The devices of `targets.toml`, and what Triton calls them."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

from porter.backend import Chip, Follow, Target

BACKEND = "triton"
# Ports from formulas are 1.12 times as fast as torch.compile, those that follow kernels 0.92 (kernelbench, H100, H200).
_FOLLOW = Follow.FORMULA


@cache
def targets() -> tuple[Target, ...]:
    """Returns the devices known, the default first."""
    rows = tomllib.loads((files("porter_triton") / "targets.toml").read_text("utf-8"))["target"]
    return tuple(map(_target, rows))


def device(target: Target) -> tuple[str, int | str, int]:
    """Returns the arguments of Triton's `GPUTarget`: driver, architecture, lanes of a warp."""
    if target.arch.startswith("sm_"):
        return "cuda", int(target.arch.removeprefix("sm_")), target.warp_size
    return "hip", target.arch, target.warp_size


def _target(row: dict[str, Any]) -> Target:  # a row of the table, whose columns are the fields
    chip = Chip(**row["chip"]) if "chip" in row else None
    known = {k: v for k, v in row.items() if k not in ("source", "chip")}
    return Target(backend=BACKEND, chip=chip, follow=_FOLLOW, **known)

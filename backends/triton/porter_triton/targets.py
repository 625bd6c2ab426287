"""The devices of `targets.toml`, and what Triton calls them."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files

from porter.backend import Target

BACKEND = "triton"


@cache
def targets() -> tuple[Target, ...]:
    """The devices known, the default first."""
    rows = tomllib.loads((files("porter_triton") / "targets.toml").read_text("utf-8"))["target"]
    return tuple(
        Target(backend=BACKEND, **{name: value for name, value in row.items() if name != "source"}) for row in rows
    )


def device(target: Target) -> tuple[str, int | str, int]:
    """The arguments of Triton's `GPUTarget`: driver, architecture, lanes of a warp."""
    if target.arch.startswith("sm_"):
        return "cuda", int(target.arch.removeprefix("sm_")), target.warp_size
    return "hip", target.arch, target.warp_size

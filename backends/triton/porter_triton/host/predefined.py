"""Constants that CUDA's headers and the C library give names."""

from __future__ import annotations

from porter.source.named_constants import named_constant
from porter_triton.host.c_types import DOUBLE, FLOAT, INT, LONG, UINT, ULONG, Arithmetic

_TYPES = {kind.name: kind for kind in (INT, UINT, LONG, ULONG, FLOAT, DOUBLE)}
_TRUTH = {"true": (1, INT), "false": (0, INT)}


def constant(name: str) -> tuple[float, Arithmetic] | None:
    """Returns the value and the type of a constant that CUDA's headers or the C library define; None for any other."""
    known = named_constant(name)
    return _TRUTH.get(name) if known is None else (known[0], _TYPES[known[1]])

"""How seldom Python looks for garbage: imports and trees of code are none, and to look through them takes a tenth."""

from __future__ import annotations

import gc

_ALLOCATIONS = 50_000  # between two looks at what is new; Python's 700 are for programs that make cycles all the time


def collect_seldom() -> None:
    """From here on this process looks for garbage seldom."""
    gc.set_threshold(_ALLOCATIONS, *gc.get_threshold()[1:])

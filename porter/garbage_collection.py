"""Makes Python look for garbage seldom.

Imports and trees of code are no garbage, and looking through them takes a tenth of the time.
"""

from __future__ import annotations

import gc

_ALLOCATIONS = 50_000  # between two looks at what is new; Python's 700 are for programs that make cycles all the time


def collect_seldom() -> None:
    """From here on this process looks for garbage seldom."""
    gc.set_threshold(_ALLOCATIONS, *gc.get_threshold()[1:])

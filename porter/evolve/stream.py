"""Derives random streams and never continues them: a resumed search draws what an undisturbed one would have drawn."""

from __future__ import annotations

import hashlib
from random import Random


def stream(seed: int, *place: int | str) -> Random:
    """Returns the stream of a place in a run: of an island at a step, for one purpose."""
    key = "\0".join(str(part) for part in (seed, *place))
    return Random(int.from_bytes(hashlib.blake2b(key.encode(), digest_size=8).digest(), "big"))

"""Puts headers into a folder where a compiler finds them."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path


def unpacked(texts: Mapping[str, str], cache: Path) -> Path:
    """Returns a folder with these headers by their paths; the same folder for the same headers."""
    key = hashlib.blake2b(repr(sorted(texts.items())).encode(), digest_size=12).hexdigest()
    folder = cache / "native" / f"headers-{key}"
    for name, text in texts.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        if not place.exists():
            fresh = place.with_name(f"{place.name}.{os.getpid()}")
            fresh.write_text(text, "utf-8")
            fresh.replace(place)
    return folder

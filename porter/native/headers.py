"""Puts headers into a folder where a compiler finds them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from porter.whole_file import whole_file


def unpacked(texts: Mapping[str, str], cache: Path) -> Path:
    """Returns a folder with these headers by their paths; the same folder for the same headers."""
    key = hashlib.blake2b(repr(sorted(texts.items())).encode(), digest_size=12).hexdigest()
    folder = cache / "native" / f"headers-{key}"
    for name, text in texts.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        if not place.exists():
            with whole_file(place) as fresh:
                fresh.write_text(text, "utf-8")
    return folder

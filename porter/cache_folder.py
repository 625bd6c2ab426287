"""Says where porter keeps what it builds."""

from __future__ import annotations

import os
from pathlib import Path


def cache_folder() -> Path:
    """Returns where builds are kept: PORTER_CACHE_DIR, else porter's folder in the user's cache."""
    if chosen := os.environ.get("PORTER_CACHE_DIR"):
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "porter"

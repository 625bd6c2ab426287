"""Names the commit of porter that measured."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path


@cache
def commit() -> str:
    """Returns the commit of the checkout that porter runs from, `-dirty` with changes; empty where it was installed."""
    root = Path(__file__).parents[2]
    if not (root / ".git").exists():
        return ""
    described = ["git", "-C", str(root), "describe", "--always", "--abbrev=12", "--dirty"]
    try:
        return subprocess.run(described, capture_output=True, text=True, timeout=10, check=False).stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        return ""

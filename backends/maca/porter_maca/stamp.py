"""Writes the comment line at the head of every ported file, by which porter knows its own work again."""

from __future__ import annotations

import hashlib
import re

from porter import __version__
from porter.backend import Target
from porter.source_text import Source

_STAMP = re.compile(
    r"// (?P<name>\S+) ported to MACA (?P<arch>\S+) by porter (?P<version>\S+), source (?P<digest>[0-9a-f]{16})\n"
)


def stamp(source: Source, target: Target) -> str:
    """Returns the line for a port of `source`: no clock and no path, so that porting twice gives the same bytes."""
    digest = hashlib.sha256(source.text.encode()).hexdigest()[:16]
    name = re.sub(r"\s", "_", source.path.name)
    return f"// {name} ported to MACA {target.arch} by porter {__version__}, source {digest}\n"


def is_ported(text: str) -> bool:
    """Returns whether `text` begins with porter's own line."""
    return _STAMP.match(text) is not None

"""Tells which C++ a source is written in: nvcc takes C++17 unless told otherwise, and no source says what that is."""

from __future__ import annotations

import re
from collections.abc import Iterable

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
_OF_20 = re.compile(
    r"^[ \t]*#[ \t]*include[ \t]*<(?:bit|compare|concepts|numbers|ranges|source_location|span)>"
    r"|\b(?:concept|consteval|constinit)\s+\w|\brequires\b",
    re.M,
)


def standard(texts: Iterable[str]) -> str:
    """`c++20` where one of `texts` has what no earlier C++ has; else `c++17`, in which some of C++20 is no error."""
    return "c++20" if any(_OF_20.search(_COMMENT.sub("", text)) for text in texts) else "c++17"

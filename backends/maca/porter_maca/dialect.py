"""Describes MACA as the executor compiles it: its headers, its spelling, and its compiler's predefined macros."""

from __future__ import annotations

from pathlib import Path

from porter.dialect import Dialect

# As `include/dialect/compiler.h` has them for the executor.
_PREDEFINED = (
    "__MACA__=1",
    "__MACACC__=1",
    "__MXCC__=1",
    "__MACA_ARCH__=1000",
    "__MACA_DEVICE_COMPILE__=1",
    "MACART_VERSION=3000",
)
MACA = Dialect("maca", Path(__file__).parent / "include", _PREDEFINED)

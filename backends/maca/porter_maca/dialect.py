"""MACA as the executor compiles it: its headers, its spelling, and what its compiler predefines."""

from __future__ import annotations

from pathlib import Path

from porter.dialect import Dialect

MACA = Dialect("maca", Path(__file__).parent / "include", ("__MACA_ARCH__=1000",))

"""Keeps code written for 32-lane warps right on waves of 64 lanes (docs/design/wave.md)."""

from porter_maca.wave.rewrite import WaveResult, rewrite

__all__ = ["WaveResult", "rewrite"]

"""What a candidate costs by a model of its target: it ranks where no device can, and is no time."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cost:
    """`units` are the model's: about microseconds on the device it was made after. `said` tells what they are made of.

    `built` is the digest of what the compiler made, empty where that is not known.
    """

    units: float
    said: str
    built: str = ""

"""Defines how much of a result is shown, and how wide."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Detail(StrEnum):
    """`QUIET` is the verdict alone; `NORMAL` sums up what went well; `VERBOSE` shows every finding and comparison."""

    QUIET = "quiet"
    NORMAL = "normal"
    VERBOSE = "verbose"


@dataclass(frozen=True, slots=True)
class View:
    """The look of a report for people: its detail, and how many columns its lines may take (0: any number)."""

    detail: Detail = Detail.NORMAL
    width: int = 0

    @property
    def is_verbose(self) -> bool:
        """Returns whether everything is shown."""
        return self.detail is Detail.VERBOSE


EVERYTHING = View(Detail.VERBOSE)

"""Tells a model what is wrong with its reply. None of these complaints is ever taken for "no change"."""

from __future__ import annotations


class ReplyError(Exception):
    """The reply makes no candidate; `told` says why, and what would."""

    def __init__(self, told: str) -> None:
        super().__init__(told)
        self.told = told


class NoCodeError(ReplyError):
    """It holds no block, no edit and no fenced code."""


class CutOffError(ReplyError):
    """It ends before its code does."""


class MarkerError(ReplyError):
    """Its markers do not fit together."""


class UnknownFileError(ReplyError):
    """It changes a file that the candidate does not have, or does not say which."""


class UnmatchedSearchError(ReplyError):
    """A SEARCH stands nowhere in the file."""


class AmbiguousSearchError(ReplyError):
    """A SEARCH stands there more than once."""


class OverlapError(ReplyError):
    """Two edits claim the same lines."""


class OutsideBlockError(ReplyError):
    """An edit lies outside what may evolve."""


class NothingNewError(ReplyError):
    """It makes what was there already, or was tried before."""

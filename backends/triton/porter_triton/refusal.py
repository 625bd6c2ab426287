"""The one way in which the port says no."""

from __future__ import annotations


class Refusal(Exception):  # noqa: N818 - a refusal is an answer, not a failure of porter
    """Raised with the `reason` why the code on `line` of the source cannot be written in Triton.

    `file` is the name of the file that has the line, empty until it is known.
    """

    def __init__(self, line: int, reason: str, file: str = "") -> None:
        super().__init__(f"line {line}: {reason}")
        self.line = line
        self.reason = reason
        self.file = file

    def within(self, file: str) -> Refusal:
        """Returns the same, in `file` unless another one was named."""
        self.file = self.file or file
        return self

"""The one way the lowering says no."""

from __future__ import annotations


class Refusal(Exception):  # noqa: N818 - a refusal is an answer, not a failure of porter
    """`reason` says why what stands on `line` of the source cannot be said in Triton."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"line {line}: {reason}")
        self.line = line
        self.reason = reason

"""Names the stages of a source that can be looked at by themselves."""

from __future__ import annotations

from enum import StrEnum


class Stage(StrEnum):
    """A stage of a migration, what each thread does, or the operators as tensor programs.

    Only the last takes an execution.
    """

    PROGRAM = "program"
    CONTRACT = "contract"
    FINDINGS = "findings"
    CANDIDATE = "candidate"
    SIMT = "simt"
    TENSOR = "tensor"

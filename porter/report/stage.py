"""What of a source can be looked at by itself."""

from __future__ import annotations

from enum import StrEnum


class Stage(StrEnum):
    """A stage of a migration, or the operators as tensor programs; nothing but these takes an execution."""

    PROGRAM = "program"
    CONTRACT = "contract"
    FINDINGS = "findings"
    CANDIDATE = "candidate"
    TENSOR = "tensor"

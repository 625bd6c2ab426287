"""The stages of a migration that can be looked at by themselves."""

from __future__ import annotations

from enum import StrEnum


class Stage(StrEnum):
    """What there is before anything is executed."""

    PROGRAM = "program"
    CONTRACT = "contract"
    FINDINGS = "findings"
    CANDIDATE = "candidate"

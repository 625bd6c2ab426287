"""Defines the verdict on a candidate that was compared with a standard."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from porter.backend import Target
from porter.diagnostics.findings import Finding
from porter.evaluate.model.migration import EntryOutcome
from porter.evaluate.model.outcome import Fidelity, Outcome
from porter.source_text import Source

# Rules of what a candidate may do: read from its text by a backend, or seen while it ran.
_RULES = ("PORT119", "PORT19", "PORT6")


@dataclass(frozen=True)
class Verdict:
    """`outcome` is the worst of `entries`, or the reason why there are none.

    `findings` without a source of their own are about the `standard`. `seed` repeats the judgement, `environment` says
    where it was made.
    """

    candidate: Source
    standard: Source
    target: Target
    outcome: Outcome
    entries: tuple[EntryOutcome, ...]
    findings: tuple[Finding, ...]
    warp_sizes: tuple[int, ...]
    seed: int
    environment: Mapping[str, str]
    seconds: float
    fidelity: Fidelity = Fidelity.EMULATED

    @property
    def rules(self) -> tuple[Finding, ...]:
        """The rules that the candidate broke."""
        return broken_rules(self.findings)


def broken_rules(findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Returns those of `findings` that are about a rule."""
    return tuple(f for f in findings if f.code.startswith(_RULES))

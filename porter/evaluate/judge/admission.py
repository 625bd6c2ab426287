"""Decides whether a candidate is run: it has to be of its language, and break no rule that its text shows."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from pathlib import Path

from porter.backend import Backend, Port, Target
from porter.diagnostics.findings import Finding
from porter.evaluate.model.outcome import NotBuilt, Outcome, Refused
from porter.evaluate.model.verdict import broken_rules


def not_admitted(found: Iterable[Finding], port: Port, backend: Backend, target: Target) -> Outcome | None:
    """Returns why the candidate is not run: the first rule among what was `found` in its text, or what its compiler
    says.
    """
    if rules := broken_rules(tuple(found)):
        first = rules[0]
        line = f" line {first.span.line}" if first.span else ""
        file = f"{first.source.path.name}{line}: " if first.source else ""
        return Refused(f"{first.code}: {file}{first.message}")
    with tempfile.TemporaryDirectory(prefix="porter-") as workdir:
        error = backend.compile(port, target, Path(workdir))
    return None if error is None else NotBuilt(error.message, error.message)

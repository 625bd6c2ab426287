"""Names arguments in what is said of an entry: the executor knows only their places."""

from __future__ import annotations

import re
from dataclasses import replace

from porter.diagnostics.findings import Finding
from porter.evaluate.judge.prove import Proof
from porter.evaluate.model.outcome import Equal

_ARGUMENT = re.compile(r"`argument (\d+)`")


def with_names(proof: Proof) -> Proof:
    """Returns the proof, and those of single choices, with `argument 1` called what the source calls it."""
    names = [argument.name for argument in proof.entry.contract.arguments]

    def named(text: str) -> str:
        return _ARGUMENT.sub(lambda m: f"`{names[int(m[1])]}`" if int(m[1]) < len(names) else m[0], text)

    def told(finding: Finding) -> Finding:
        return replace(finding, message=named(finding.message), hint=named(finding.hint))

    outcome = proof.entry.outcome
    if not isinstance(outcome, Equal):
        outcome = replace(outcome, because=named(outcome.because))
    findings, apart = tuple(map(told, proof.findings)), tuple(map(with_names, proof.apart))
    return replace(proof, entry=replace(proof.entry, outcome=outcome), findings=findings, apart=apart)

"""Shows what was recorded, to people and to programs."""

from __future__ import annotations

from pathlib import Path

from rich.text import Text

from porter.oracle.golden_record import Golden
from porter.writing.document import Json


def recording_text(recorded: Golden, path: Path) -> Text:
    """Returns a line for each entry, and the place of the files."""
    text = Text()
    for reference in recorded.references:
        text.append(reference.contract.name, "bold").append(f": {len(reference.expected)} workloads\n")
    if recorded.left_out:
        text.append(f"left out: {recorded.left_out}\n", "yellow")
    return text.append("wrote ", "dim").append(f"{path} ({recorded.fidelity}, seed {recorded.seed})")


def recording_document(recorded: Golden, path: Path) -> dict[str, Json]:
    """Returns one recording. Scripts rely on these names; they stay stable."""
    return {
        "source": recorded.original,
        "output": str(path),
        "fidelity": recorded.fidelity,
        "seed": recorded.seed,
        "entries": [
            {"name": r.contract.name, "workloads": [expected.workload.name for expected in r.expected]}
            for r in recorded.references
        ],
        "left_out": recorded.left_out,
        "environment": dict(recorded.environment),
    }

"""What was kept of steps, for people and for programs."""

from __future__ import annotations

from pathlib import Path

from rich.text import Text

from porter.learn.sieve import Sieved
from porter.report.document import Json


def sieve_text(kept: Sieved, file: Path) -> Text:
    """A line for each filter, with what was left after it."""
    lines = [f"{count:>6}  {what}" for what, count in kept.counts.items()]
    lines += [f"left out: {run}, which is about {operator}" for run, operator in kept.left_out.items()]
    return Text("\n".join((*lines, f"wrote {file}")))


def sieve_document(kept: Sieved, file: Path) -> Json:
    """The same for programs."""
    return {"written": str(file), "counts": dict(kept.counts), "left_out": dict(kept.left_out)}

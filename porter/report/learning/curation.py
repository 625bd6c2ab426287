"""Reports how many classes a curation left after each stage, for people and for programs."""

from __future__ import annotations

from collections.abc import Mapping

from rich.text import Text

from porter.learn.curation.curate import Curation
from porter.writing.document import Json

_MOST_REASONS = 8


def curation_text(found: Curation) -> Text:
    """Returns a line for each stage with what was left, then tasks by family and the most frequent reasons for none."""
    lines = [
        *_lines("", found.counts),
        *_lines("tasks by family:", found.families),
        *_lines("not alone, since a class", found.refusals),
        *_lines("ran and is no task, since", found.misfits),
    ]
    return Text("\n".join((*lines, f"wrote {found.suite}")))


def _lines(title: str, counts: Mapping[str, int]) -> list[str]:
    shown = list(counts.items()) if not title or title.startswith("tasks") else list(counts.items())[:_MOST_REASONS]
    rest = sum(counts.values()) - sum(count for _, count in shown)
    others = [f"{rest:>6}  for other reasons"] if rest and title else []
    return [*([title] if title and counts else []), *(f"{count:>6}  {what}" for what, count in shown), *others]


def curation_document(found: Curation) -> Json:
    """Returns the same for programs, with all reasons."""
    return {
        "suite": str(found.suite),
        "counts": dict(found.counts),
        "families": dict(found.families),
        "refusals": dict(found.refusals),
        "misfits": dict(found.misfits),
    }

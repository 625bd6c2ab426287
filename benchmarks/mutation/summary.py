"""The counts of a measurement, and its survivors for a person to look at."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

from benchmarks.mutation.journal import Entry
from porter.evaluate.outcome import NotBuilt, Verified

_SAID = ("verdict", "retried")
_SHOWN = ("operator", "target", "kind", "digest", "shown", "caveat", "porter")


def write_summary(entries: Sequence[Entry], path: Path) -> None:
    """Writes counts and survivors to `path`; what a person said of a survivor there is kept, and how it was retried."""
    survivors = [entry for entry in entries if entry.outcome == Verified.label]
    before = json.loads(path.read_text())["survivors"] if path.exists() else []
    said = {
        (one["operator"], one["target"], one["digest"]): {key: one[key] for key in _SAID if key in one}
        for one in before
    }
    document = {
        "porter": sorted({entry.porter for entry in entries}),
        "mutants": len(entries),
        "operators": {
            t: len({e.operator for e in entries if e.target == t}) for t in sorted({e.target for e in entries})
        },
        "not_verified": len(entries) - len(survivors),
        "not_built": sum(entry.outcome == NotBuilt.label for entry in entries),
        "outcomes": counts(entries, lambda entry: entry.target),
        "kinds": counts(entries, lambda entry: entry.kind),
        "survivors": [
            {**{k: v for k, v in asdict(one).items() if k in _SHOWN}, "verdict": "", **said.get(one.key, {})}
            for one in sorted(survivors, key=lambda entry: entry.key)
        ],
    }
    path.write_text(json.dumps(document, indent=1) + "\n")


def counts(entries: Sequence[Entry], key: Callable[[Entry], str]) -> dict[str, dict[str, int]]:
    """Returns how many mutants of each group ended in which outcome."""
    groups = sorted({key(entry) for entry in entries})
    return {group: dict(Counter(e.outcome for e in entries if key(e) == group).most_common()) for group in groups}

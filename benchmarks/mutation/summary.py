"""The counts of a measurement, and its survivors for a person to look at."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from benchmarks.mutation.journal import Entry
from porter.evaluate.model.outcome import NotBuilt

_SAID = ("verdict", "retried")
_SHOWN = ("operator", "target", "kind", "digest", "shown", "caveat", "porter")


def write_summary(entries: Sequence[Entry], path: Path, judged: Iterable[Path] = ()) -> None:
    """Writes counts and survivors to `path`.

    What a person said of a survivor there is kept, and how it was retried. Where nobody did, the verdict is what was
    said of the same change of the same operator in the earlier summaries `judged`; else that it is named, where the
    caveat has the line that was changed.
    """
    survivors = sorted((entry for entry in entries if entry.is_survivor), key=lambda entry: entry.key)
    here = {(one["operator"], one["target"], one["digest"]): one for one in _survivors(path)}
    earlier = {
        _change(one["operator"], one["target"], one["shown"]): one["verdict"]
        for file in judged
        for one in _survivors(file)
        if one["verdict"]
    }
    shown = [_survivor(one, here.get(one.key, {}), earlier) for one in survivors]
    document = {
        "porter": sorted({entry.porter for entry in entries}),
        "seeds": sorted({entry.seed for entry in entries}),
        "mutants": len(entries),
        "operators": {
            t: len({e.operator for e in entries if e.target == t}) for t in sorted({e.target for e in entries})
        },
        "not_verified": len(entries) - len(survivors),
        "not_built": sum(entry.outcome == NotBuilt.label for entry in entries),
        "verdicts": dict(Counter(one["verdict"].split(":")[0] or "not looked at" for one in shown)),
        "outcomes": counts(entries, lambda entry: entry.target),
        "kinds": counts(entries, lambda entry: entry.kind),
        "survivors": shown,
    }
    path.write_text(json.dumps(document, indent=1) + "\n")


def counts(entries: Sequence[Entry], key: Callable[[Entry], str]) -> dict[str, dict[str, int]]:
    """Returns how many mutants of each group ended in which outcome."""
    groups = sorted({key(entry) for entry in entries})
    return {group: dict(Counter(e.outcome for e in entries if key(e) == group).most_common()) for group in groups}


def _survivors(path: Path) -> list[dict[str, str]]:
    """The survivors of the summary at `path`; none where there is none."""
    return json.loads(path.read_text())["survivors"] if path.exists() else []


def _survivor(one: Entry, before: Mapping[str, str], earlier: Mapping[tuple[str, str, str], str]) -> dict[str, str]:
    """The survivor as the summary shows it, with what is known of it."""
    said = {key: before[key] for key in _SAID if before.get(key)}
    known = earlier.get(_change(one.operator, one.target, one.shown)) or _named(one)
    return {**{k: v for k, v in asdict(one).items() if k in _SHOWN}, "verdict": known, **said}


def _change(operator: str, target: str, shown: str) -> tuple[str, str, str]:
    """Returns what a change has in common with the same one in a port whose lines stand elsewhere."""
    return operator, target, shown.split("\n", 1)[-1]


def _named(one: Entry) -> str:
    """Returns the verdict on a survivor whose caveat has the line that was changed, else nothing."""
    line = re.match(r"@@ line (\d+)", one.shown)
    places = re.findall(r"\.(?:py|maca\.cu):(\d+):", one.caveat)
    return f"named: the verdict names line {line[1]} as not executed" if line and line[1] in places else ""

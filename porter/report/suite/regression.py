"""Shows what became of a run's ports: as text, JSON, and JUnit XML."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rich.text import Text

from porter.suite.regress import LOST, Change, Compared
from porter.writing.columns import columns
from porter.writing.document import Json, as_record
from porter.writing.junit import Case, Ending, junit_text

_STYLES = {
    **dict.fromkeys(LOST, "bold red"),
    Change.KNOWN: "yellow",
    Change.FIXED: "bold yellow",
    Change.FASTER: "green",
    Change.SAME: "green",
}


def regression_text(compared: Sequence[Compared]) -> Text:
    """Returns a line for each port to mention, the worst first, and how many of each kind there are."""
    rows = [(Text(one.change, _STYLES[one.change]), one.now.key, one.text) for one in worth_telling(compared)]
    return columns(rows).append(changes_counted(compared) or "the run has no ports", "bold")


def worth_telling(compared: Sequence[Compared]) -> list[Compared]:
    """Returns the ports to mention, the worst first."""
    order = list(Change)
    return sorted((one for one in compared if one.text or one.is_lost), key=lambda one: order.index(one.change))


def changes_counted(compared: Sequence[Compared]) -> str:
    """Returns how many ports there are of each kind of change, the worst first."""
    counts = Counter(one.change for one in compared)
    return ", ".join(f"{counts[change]} {change}" for change in Change if counts[change])


def regression_document(compared: Sequence[Compared], target: str) -> dict[str, Json]:
    """Returns every port; `lost` decides the exit code."""
    return {
        "target": target,
        "lost": sum(one.is_lost for one in compared),
        "operators": [
            {
                "key": one.now.key,
                "change": one.change.name.lower(),
                "text": one.text,
                "before": as_record(one.before),
                "now": as_record(one.now),
            }
            for one in compared
        ],
    }


def regression_junit(compared: Sequence[Compared], target: str) -> str:
    """Returns the same as JUnit XML: a loss is a failure, a known failure is skipped."""
    return junit_text(f"porter regress {target}", [_case(one) for one in compared])


def _case(one: Compared) -> Case:
    group, name, seconds = f"{one.now.suite}.{one.now.category}", one.now.name, one.now.seconds
    if one.is_lost:
        return Case(group, name, seconds, Ending.FAILED, str(one.change), one.text)
    if one.change is Change.KNOWN:
        return Case(group, name, seconds, Ending.SKIPPED, one.text)
    return Case(group, name, seconds, Ending.PASSED, text=one.text)

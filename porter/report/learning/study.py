"""Shows the study of arms, to people, to programs, and as a file of raw results."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from rich.text import Text

from porter.errors import unwritable
from porter.learn.records import plain
from porter.learn.study import Estimate, Study
from porter.whole_file import whole_file
from porter.writing.columns import markdown_table
from porter.writing.document import Json

_SHOWN = (1, 3, 10, 30)  # evaluations after which the worth is shown


def study_text(study: Study) -> Text:
    """Returns a row for each arm: its area with an interval, its worth on the way, and its area in each family."""
    shown = [count for count in _SHOWN if count <= study.evaluations]
    families = study.families()
    heads = ("arm", "area, 95 %", *(f"after {count}" for count in shown), "known already", *families)
    table = markdown_table(heads, [_row(study, arm, shown) for arm in study.played])
    return Text("\n".join((_head(study), "", table.rstrip(), "", *_differences(study))))


def _head(study: Study) -> str:
    operators = len({one.landscape for played in study.played.values() for one in played})
    apart = "each held out with its family" if study.held_out == "family" else "each held out by itself"
    return (
        f"{operators} operators, {apart}, {study.evaluations} evaluations, {study.seeds} seeds; "
        "1 is the best schedule of all"
    )


def _row(study: Study, arm: str, shown: list[int]) -> tuple[str, ...]:
    curve = study.curve(arm)
    return (
        arm,
        _told(study.area(arm)),
        *(f"{curve[count - 1]:.3f}" for count in shown),
        f"{study.duplicates(arm):.0%}",
        *(f"{study.area(arm, family).mean:.3f}" for family in study.families()),
    )


def _differences(study: Study) -> Iterator[str]:
    """Yields by how much the last arm is above each other."""
    *others, last = study.played
    for other in others:
        yield f"{last} less {other}: {_told(study.difference(last, other), sign='+')}"


def _told(estimate: Estimate, sign: str = "") -> str:
    return f"{estimate.mean:{sign}.3f} [{estimate.low:{sign}.3f}, {estimate.high:{sign}.3f}]"


def study_document(study: Study, about: Mapping[str, str]) -> Mapping[str, Json]:
    """Returns the study as one document."""
    arms = {
        arm: {
            "area": plain(study.area(arm)),
            "curve": list(study.curve(arm)),
            "areas_by_seed": list(study.seed_areas(arm)),
            "known_already": study.duplicates(arm),
            "families": {family: plain(study.area(arm, family)) for family in study.families()},
            "less": {other: plain(study.difference(arm, other)) for other in study.played if other != arm},
        }
        for arm in study.played
    }
    return {
        "about": dict(about),
        "held_out": study.held_out,
        "evaluations": study.evaluations,
        "seeds": study.seeds,
        "arms": arms,
    }


def write_study(study: Study, about: Mapping[str, str], file: Path) -> Path:
    """Writes the document and the results of each arm on each operator. Raises `InputError` where that fails."""
    raw = {arm: [plain(one) for one in played] for arm, played in study.played.items()}
    try:
        with whole_file(file) as fresh:
            fresh.write_text(
                json.dumps({**study_document(study, about), "played": raw}, separators=(",", ":")) + "\n", "utf-8"
            )
    except OSError as error:
        raise unwritable(file, error) from error
    return file

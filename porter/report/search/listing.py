"""Lists the searches below a folder, a line for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.text import Text

from porter.errors import InputError
from porter.evolve.journal import NAME
from porter.report.search.course import Course, course
from porter.report.search.document import run_document
from porter.report.search.words import factor, visible
from porter.writing.columns import columns
from porter.writing.document import Json

_HEADS = ("run", "name", "target", "rounds", "best factor", "measure", "ended")


@dataclass(frozen=True, slots=True)
class Broken:
    """A folder with a journal that cannot be read, and why."""

    folder: Path
    because: str


def found_runs(folder: Path) -> tuple[Course | Broken, ...]:
    """Returns the runs in `folder` and below, by path, and those that cannot be read."""
    places = sorted(journal.parent for journal in folder.rglob(NAME))
    # A run's own folder holds candidates, whose files may be called anything.
    return tuple(_read(place) for place in places if not any(other in place.parents for other in places))


def runs_text(runs: Sequence[Course | Broken], folder: Path) -> Text:
    """Returns a line for each run below `folder`."""
    if not runs:
        return Text(f"there are no searches below {folder}")
    text = columns([_HEADS, *(_row(run) for run in runs)])
    text.rstrip()
    return text


def runs_document(runs: Sequence[Course | Broken]) -> dict[str, Json]:
    """Returns the runs that can be read, and those that cannot."""
    return {
        "runs": [run_document(run) for run in runs if isinstance(run, Course)],
        "broken": [{"run": str(run.folder), "because": run.because} for run in runs if isinstance(run, Broken)],
    }


def _read(folder: Path) -> Course | Broken:
    try:
        return course(folder)
    except InputError as error:
        return Broken(folder, error.message)


def _row(run: Course | Broken) -> tuple[str, ...]:
    if isinstance(run, Broken):
        return (str(run.folder), "-", "-", "-", "-", "-", f"cannot be read: {visible(run.because)}")
    champion, measure = run.champion, run.measure
    return (
        *(str(run.folder), run.name, run.about.get("target", "-"), str(run.state.progress.rounds)),
        *(factor(champion[1]) if champion else "-", measure.value if measure else "-"),
        run.state.ended or "not ended",
    )

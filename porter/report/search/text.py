"""Shows a search on a terminal, as Markdown, and as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from rich.text import Text

from porter.report.search.course import Course, Trial
from porter.report.search.lineage import Step, lineage
from porter.report.search.tables import (
    Table,
    budget_table,
    cost_tables,
    improvements,
    lineage_table,
    outcomes,
    payoff_tables,
    rule_table,
)
from porter.report.search.words import best_words, ending, meaning, title, visible
from porter.writing.columns import columns, markdown_table

_MOST_ROWS = 20  # of a table on a terminal; a journal may have hundreds of notes
_MOST_LETTERS = 60  # of a cell there
_CSV = (
    *("digest", "round", "island", "proposer", "note", "parents", "outcome", "because", "measure", "factor", "low"),
    *("high", "cell", "added", "decision", "elite_of", "seconds"),
)


def search_text(course: Course) -> Text:
    """Returns the result of the search, and its tables, each of which says how its numbers were obtained."""
    text = Text(f"{title(course)}\n", "bold")
    text.append(f"{best_words(course)}\n{ending(course)}\n{meaning(course)}\n")
    for table in _tables(course, lineage(course)):
        if table.rows:
            text.append(f"\n{table.title}\n", "bold")
            text.append_text(columns([table.heads, *map(_short, table.rows[:_MOST_ROWS])], indent="  "))
            if len(table.rows) > _MOST_ROWS:
                text.append(f"  and {len(table.rows) - _MOST_ROWS} more: --format markdown has all\n")
    text.rstrip()
    return text


def search_markdown(course: Course) -> str:
    """Returns the tables, and the diff of each step of the lineage."""
    steps = lineage(course)
    parts = [f"# {title(course)}", f"{best_words(course)}; {ending(course)}.", meaning(course)]
    for table in _tables(course, steps):
        if table.rows:
            parts += [f"## {table.title}", table.caption, markdown_table(table.heads, table.rows)]
    return "\n\n".join([*parts, *_diffs(steps)]) + "\n"


def search_csv(course: Course) -> str:
    """Returns a line for each candidate; `elite_of` names the islands on which it owns a cell."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_CSV)
    writer.writerows(_line(course, digest, trial) for digest, trial in course.trials.items())
    return text.getvalue()


def _tables(course: Course, steps: tuple[Step, ...]) -> tuple[Table, ...]:
    proposers, notes = payoff_tables(course)
    return (
        *(improvements(course), lineage_table(course, steps), proposers, rule_table(course), notes),
        *(outcomes(course), *cost_tables(course), budget_table(course)),
    )


def _short(row: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(cell if len(cell) <= _MOST_LETTERS else f"{cell[: _MOST_LETTERS - 3]}..." for cell in row)


def _diffs(steps: tuple[Step, ...]) -> Iterator[str]:
    for step in steps:
        if step.diff:
            fence = "`" * max(3, 1 + _longest_run("\n".join(step.diff)))
            yield f"### {step.member.scored.digest}: {step.note}"
            yield "\n".join((f"{fence}diff", *step.diff, fence))


def _longest_run(text: str) -> int:
    """Returns the longest run of backquotes: the fence around it must be longer."""
    return max((len(run) for run in "".join(c if c == "`" else " " for c in text).split()), default=0)


def _line(course: Course, digest: str, trial: Trial) -> tuple[object, ...]:
    origin, member = trial.candidate.origin, course.member(digest)
    scored = member.scored if member else None
    score = scored.score if scored else None
    islands = course.state.islands.archives
    owned = [n for n, archive in enumerate(islands) if any(e.scored.digest == digest for e in archive.elites.values())]
    return (
        *(digest, trial.proposed.round, trial.proposed.island, origin.proposer, visible(origin.note)),
        " ".join(origin.parents),
        *((scored.outcome, visible(scored.because)) if scored else ("", "")),
        *((score.measure.value, score.factor, score.low, score.high) if score else ("", "", "", "")),
        " ".join(map(str, scored.cell)) if scored else "",
        *((trial.told.added.name.lower(), trial.told.because) if trial.told else ("", "")),
        " ".join(map(str, owned)),
        trial.seconds if trial.told else "",
    )

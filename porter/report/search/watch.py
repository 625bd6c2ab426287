"""Shows a running search: as a picture that is redrawn, and as lines, one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from rich.text import Text

from porter.evaluate.model.outcome import outcome_words
from porter.evolve.events import Closed, Ended, Event, Granted, Proposed, Told
from porter.evolve.payoff import by_proposer
from porter.evolve.proposer import Account
from porter.report.search.course import Course
from porter.report.search.words import (
    best_words,
    ending,
    factor,
    factor_head,
    meaning,
    number,
    spent,
    title,
    visible,
)
from porter.writing.columns import columns

_BARS = "▁▂▃▄▅▆▇█"
_MOST_BARS = 60  # the last rounds
_MOST_TOLD = 8  # the last candidates
_MOST_LETTERS = 40


def picture(course: Course) -> Text:
    """Returns the state of the search: the best, what is spent, the last candidates, and who paid."""
    text = Text.assemble((f"{title(course)}\n", "bold"), f"{best_words(course)}\n", (f"{meaning(course)}\n", "dim"))
    levels = [one.score.factor for one in course.rounds if one.score]
    if bars := _bars(levels):
        text.append(f"{bars}  best so far, from {number(min(levels))} to {number(max(levels))}\n", "green")
    now = "" if course.state.ended else f"round {course.state.round.number}; "
    text.append(f"{now}{_spent(course)}\n")
    text.append(f"elites by island: {' '.join(str(len(a.elites)) for a in course.state.islands.archives)}\n\n")
    text.append_text(columns([("candidate", "outcome", "factor", "proposer", "what was done"), *_latest(course)]))
    rows = by_proposer(course.state.ledger.rows)
    paid = [(row.proposer, *map(str, (row.proposed, row.verified, row.added, row.paid))) for row in rows]
    text.append("\n").append_text(columns([("proposer", "proposed", "verified", "added", "paid"), *paid]))
    if course.state.ended:
        text.append(f"\n{ending(course)}", "bold")
    text.rstrip()
    return text


def told(course: Course, events: Sequence[Event]) -> Iterator[str]:
    """Yields what happened, each thing worth knowing on a line of its own."""
    for event in events:
        match event:
            case Granted(budget):
                yield f"{title(course)}: at most {budget.rounds} rounds"
            case Told(scored):
                again = "measured again: " if event.again else ""
                worth = f" {factor(scored.score)}" if scored.score else ""
                because = visible(event.because)
                yield f"  {scored.digest} {again}{outcome_words(scored.outcome)}{worth}; {_decision(event)}{because}"
            case Proposed(account=Account(over=over)) if over:
                yield f"  {event.proposer} has nothing more to give: {visible(over)}"
            case Closed():
                best = f"{event.best}: {number(event.factor)} {factor_head(course.measure)}" if event.best else "none"
                yield f"round {event.round}: {event.evaluated} evaluated; best {best}"
            case Ended(because):
                yield f"ended: {because}"


def _decision(event: Told) -> str:
    return "added: " if event.added else "not added: "


def _spent(course: Course) -> str:
    rows = spent(course.state.progress, course.state.budget)
    return ", ".join(f"{amount}{f' of {limit}' if limit != '-' else ''} {of}" for of, amount, limit in rows)


def _latest(course: Course) -> Iterator[tuple[str, ...]]:
    """Yields the candidates with the latest outcomes, the newest first."""
    known = [trial for trial in course.trials.values() if trial.told is not None]
    for trial in islice(reversed(known), _MOST_TOLD):
        assert trial.told is not None
        scored, origin = trial.told.scored, trial.candidate.origin
        note = visible(origin.note)[:_MOST_LETTERS]
        yield scored.digest, outcome_words(scored.outcome), factor(scored.score), origin.proposer, note


def _bars(levels: Sequence[float]) -> str:
    """Returns levels as bars of eight heights between the least and the greatest; nothing while all are the same."""
    low, high = min(levels, default=1.0), max(levels, default=1.0)
    if low == high:
        return ""
    return "".join(_BARS[round((level - low) / (high - low) * (len(_BARS) - 1))] for level in levels[-_MOST_BARS:])

"""Makes the tables of a search, which its text, its Markdown and its page share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from porter.evaluate.model.outcome import outcome_words
from porter.evolve.payoff import Payoff, by_proposer, by_rule
from porter.report.search.course import Course
from porter.report.search.lineage import Step
from porter.report.search.words import factor, factor_head, meaning, measured, number, spent, visible

_PAYOFF = ("proposed", "duplicates", "malformed", "verified", "added", "paid", "success", "champions", "gain")
_GAIN = (
    "A duplicate was known already, and a malformed candidate cannot be kept as files: neither was evaluated. Added "
    "candidates were taken into the archive; of these, those that paid were better than the best of their parents. "
    "Success is their share, gain how many doublings they make in sum. A champion was the best of all when it came."
)


_REMARK, _REMARKS = 160, 12  # characters of a remark, and how many there are


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under heads; `words` is the number of columns, from the left, that hold words: the others hold numbers."""

    title: str
    caption: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    words: int = 1


def improvements(course: Course) -> Table:
    """Returns the rounds after which another candidate was the best, and the last."""
    rounds = course.rounds
    kept = [
        after
        for before, after in zip([None, *rounds], rounds, strict=False)
        if after is rounds[-1] or before is None or before.closed.best != after.closed.best
    ]
    rows = tuple(
        (one.closed.best or "-", str(one.closed.round), str(one.progress.evaluations), factor(one.score))
        for one in kept
    )
    heads = ("best so far", "after round", "evaluations", factor_head(course.measure))
    return Table("Best so far", meaning(course), heads, rows)


def lineage_table(course: Course, steps: Sequence[Step]) -> Table:
    """Returns a row for each ancestor of the best, the oldest first."""
    rows = tuple((*_origin(step), str(step.round), factor(step.score), _gain(step)) for step in steps)
    caption = f"Gain is the factor over that of the best parent. Factors are {measured(course)}."
    heads = ("candidate", "proposer", "what was done", "round", factor_head(course.measure), "gain")
    return Table("Lineage of the best", caption, heads, rows, words=3)


def payoff_tables(course: Course) -> tuple[Table, Table]:
    """Returns the payoffs of proposers, and of each of their notes, those that gained most first."""
    rows = course.state.ledger.rows
    notes = sorted((row for row in rows if row.note), key=lambda row: (-row.gain, -row.added, -row.verified))
    caption = f"{_GAIN} Factors are {measured(course)}."
    proposers = tuple((row.proposer, *_payoff(row)) for row in by_proposer(rows))
    by_note = tuple((visible(row.note), row.proposer, *_payoff(row)) for row in notes)
    return (
        Table("Pay-off by proposer", caption, ("proposer", *_PAYOFF), proposers),
        Table("Pay-off by what was done", caption, ("what was done", "proposer", *_PAYOFF), by_note, words=2),
    )


def cost_tables(course: Course) -> tuple[Table, ...]:
    """Returns the requests to each proposer with their results, and failures of models, if there were any."""
    remarks = _remarks(course)
    return (_costs(course), remarks) if remarks.rows else (_costs(course),)


def _costs(course: Course) -> Table:
    rows = tuple(
        (
            row.proposer,
            *map(str, (row.requests, row.questions, row.proposed, row.verified, row.paid, row.tokens)),
            _cost(row),
        )
        for row in by_proposer(course.state.ledger.rows)
        if row.requests
    )
    caption = (
        "Answers are those of language models; usable ones made a candidate that was not known. Better ones were "
        "better than the best of their parents. The cost is by the prices that were given, in their currency. "
        f"Factors are {measured(course)}."
    )
    heads = ("proposer", "requests", "answers", "usable", "verified", "better", "tokens", "cost")
    return Table("Cost by proposer", caption, heads, rows)


def _remarks(course: Course) -> Table:
    """Returns the most frequent first."""
    counts = Counter[tuple[str, str]]()
    for (proposer, remark), count in course.state.ledger.remarks.items():
        counts[proposer, remark.split("\n", 1)[0][:_REMARK]] += count
    rows = tuple((visible(remark), proposer, str(count)) for (proposer, remark), count in counts.most_common(_REMARKS))
    caption = (
        "A try that failed was made again; an answer that was not used cost its tokens all the same. "
        f"Factors are {measured(course)}."
    )
    return Table("What models failed to do", caption, ("what", "proposer", "times"), rows, words=2)


def _cost(row: Payoff) -> str:
    return f"{row.cost:.4g}" if row.cost else "-"


def rule_table(course: Course) -> Table:
    """Returns the gain of each rule, whatever it was applied to, the largest first."""
    rules = sorted(by_rule(course.state.ledger.rows), key=lambda row: (-row.gain, -row.added, -row.verified))
    rows = tuple((visible(row.note) or "in its own words", row.proposer, *_payoff(row)) for row in rules)
    caption = f"Intents by their kind, rewrites, and knobs by what they turn. {_GAIN} Factors are {measured(course)}."
    return Table("Pay-off by rule", caption, ("rule", "proposer", *_PAYOFF), rows, words=2)


def outcomes(course: Course) -> Table:
    """Returns how many candidates came to what, and the most frequent reason of each outcome."""
    told = [member.scored for member in course.state.members.values()]
    counts = Counter(scored.outcome for scored in told)
    rows = tuple(
        (outcome_words(outcome), _usual(s.because for s in told if s.outcome == outcome), str(count))
        for outcome, count in counts.most_common()
    )
    caption = "Only verified candidates enter the archive. Of the reasons the most frequent stands here."
    return Table("Outcomes", caption, ("outcome", "reason", "candidates"), rows, words=2)


def budget_table(course: Course) -> Table:
    """Returns what was spent of what."""
    rows = tuple(spent(course.state.progress, course.state.budget))
    return Table("Budget", "Seconds are those in which the search ran.", ("of", "spent", "limit"), rows)


def _usual(reasons: Iterable[str]) -> str:
    """Returns the most frequent first line; nothing where that is empty."""
    ((line, _),) = Counter(reason.split("\n", 1)[0] for reason in reasons).most_common(1)
    return visible(line)


def _origin(step: Step) -> tuple[str, str, str]:
    others = f" (with {', '.join(step.others)})" if step.others else ""
    return step.member.scored.digest, step.member.candidate.origin.proposer, f"{step.note}{others}".strip()


def _gain(step: Step) -> str:
    return "-" if step.gain is None else number(step.gain)


def _payoff(row: Payoff) -> tuple[str, ...]:
    counts = (row.proposed, row.duplicates, row.malformed, row.verified, row.added, row.paid)
    success = f"{row.paid / row.proposed:.0%}" if row.proposed else "-"
    return (*map(str, counts), success, str(row.champions), f"{row.gain:.2f}")

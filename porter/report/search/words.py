"""Names a search's numbers. A modelled cost ranks candidates and is not a time: it never makes one fast."""

from __future__ import annotations

from collections.abc import Iterator

from porter.evolve.budget import Budget, Progress
from porter.evolve.scored import Measure, Score
from porter.evolve.settings import SEED
from porter.report.search.course import Course

_HEADS = {
    Measure.NATIVE: "times as fast as the seed",
    Measure.PROXY: "times as fast as the seed, by proxy",
    Measure.MODELLED: "times as good as the seed by modelled cost",
    None: "factor over the seed",
}


def factor_head(measure: Measure | None) -> str:
    """Returns what a factor is, for the head of its column."""
    return _HEADS[measure]


def measured(course: Course) -> str:
    """Returns a caption for a factor and how it was obtained: `times as fast as the seed: native on NVIDIA H200`."""
    device = course.about.get("device", "")
    on = f" on {device}" if device else ""
    head = factor_head(course.measure)
    match course.measure:
        case Measure.NATIVE:
            return f"{head}: native{on}"
        case Measure.PROXY:
            return f"{head}: proxy{on}, which is not the target's device"
        case Measure.MODELLED:
            return f"{head}: modelled, a static ranking; nothing was timed, and no speed is claimed"
        case None:
            return "nothing has a score"


def meaning(course: Course) -> str:
    """Returns `measured` as a sentence, and what the interval is, if there is one."""
    timed = course.measure in (Measure.NATIVE, Measure.PROXY)
    interval = ". In parentheses lies the interval that holds the true one with 95 %" if timed else ""
    return f"Factors are {measured(course)}{interval}." if course.measure else "Nothing has a score."


def number(value: float) -> str:
    """Returns a factor, with as many digits as are of interest."""
    return f"{value:.3f}" if value < 10 else f"{value:.4g}"


def factor(score: Score | None) -> str:
    """Returns `1.420 (1.380 to 1.460)`: the factor, and its interval if it has one."""
    if score is None:
        return "-"
    if score.low == score.high:
        return number(score.factor)
    return f"{number(score.factor)} ({number(score.low)} to {number(score.high)})"


def title(course: Course) -> str:
    """Returns what was improved, and for what."""
    target = " ".join(filter(None, (course.about.get("target", ""), course.about.get("arch", ""))))
    return visible(f"{course.name} for {target}" if target else course.name)


def ending(course: Course) -> str:
    """Returns how it ended, as its journal says; empty for a search that goes on, or that was killed."""
    return f"ended: {course.state.ended}" if course.state.ended else "not ended: it goes on, or was killed"


def best_words(course: Course) -> str:
    """Returns the best candidate and what it is worth."""
    champion = course.champion
    if champion is None:
        return "nothing was verified"
    member, score = champion
    seed = " (the seed itself: nothing better was found)" if member.candidate.origin.proposer == SEED else ""
    doubt = "" if course.state.best_is_confirmed else "; to be measured again"
    return f"best {member.scored.digest}{seed}: {factor(score)} {factor_head(score.measure)}{doubt}"


def spent(progress: Progress, budget: Budget | None) -> Iterator[tuple[str, str, str]]:
    """Yields each limit, how much of it was spent, and how much there is; `-` without a limit."""
    limits = budget or Budget()
    yield "rounds", str(progress.rounds), _limit(limits.rounds if budget else None)
    yield "evaluations", str(progress.evaluations), _limit(limits.evaluations)
    yield "seconds", f"{progress.seconds:.0f}", _limit(limits.seconds)
    yield "tokens", str(progress.tokens), _limit(limits.tokens)
    yield "rounds without anything better", str(progress.stale_rounds), _limit(limits.stale_rounds)


def _limit(limit: float | None) -> str:
    return "-" if limit is None else f"{limit:g}"


def visible(text: str) -> str:
    """Returns `text` on one line, without characters that upset terminals or encodings: a model may have written it."""
    return "".join(c if c.isprintable() else " " if c.isspace() else "?" for c in " ".join(text.split()))

"""Proposes candidates from a source's formula: the schedules worth a try in order, then some around the best so far.

It keeps no state: the request says what was tried, and each note is a schedule in words, of which no two are alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import log2

from porter.evaluate.formula.scheduled import Formula
from porter.evolve.candidate import Candidate, Origin
from porter.evolve.proposer import Member, Request
from porter.evolve.scoring.evaluator import files_of
from porter.schedule.polynomial import NotSchedulableError
from porter.schedule.schedule import Schedule

NAME = "formula"
_BEFORE_STEPS = 8  # schedules of the order that are tried before any around the best


class FormulaProposer:
    """Writes the source of a search anew with one schedule after the other."""

    name = NAME

    def __init__(self, formula: Formula) -> None:
        self._formula = formula
        self._words = {str(schedule): schedule for schedule in formula.all_schedules}

    def propose(self, request: Request) -> Sequence[Candidate]:
        """Returns at most `count` candidates that the search has not seen; none once all have been tried."""
        own = [member for member in request.history if member.candidate.origin.proposer == NAME]
        tried = {member.candidate.origin.note for member in own}
        found: dict[str, Candidate] = {}
        for schedule in self._in_order(own):
            if len(found) == request.count:
                break
            candidate = None if str(schedule) in tried else self._candidate(schedule)
            if candidate and candidate.digest not in request.seen:
                found.setdefault(candidate.digest, candidate)
        return tuple(found.values())

    def _in_order(self, own: Sequence[Member]) -> Iterator[Schedule]:
        promising = self._formula.schedules
        yield from promising[:_BEFORE_STEPS]
        scored = [member for member in own if member.scored.score is not None]
        if scored:
            best = max(scored, key=lambda member: member.scored.score.rank if member.scored.score else (0.0, 0.0))
            at = self._words.get(best.candidate.origin.note)
            if at is not None:
                yield from sorted(self._formula.all_schedules, key=lambda other: _distance(at, other))
        yield from promising[_BEFORE_STEPS:]

    def _candidate(self, schedule: Schedule) -> Candidate | None:
        try:
            port = self._formula.port(schedule)
        except NotSchedulableError:
            return None
        return Candidate(files_of(port), Origin(NAME, (), str(schedule)))


def _distance(one: Schedule, other: Schedule) -> float:
    """Returns how many steps lie between two schedules: each doubled extent or different choice is a step."""
    if one.algorithm is not other.algorithm:
        return float("inf")
    extents = (
        (one.rows, other.rows),
        (one.columns, other.columns),
        (one.parts, other.parts),
        (one.warps, other.warps),
        (one.unrolled, other.unrolled),
    )
    choices = (
        (one.stages, other.stages),
        (one.in_one_pass, other.in_one_pass),
        (one.evict_first, other.evict_first),
        (one.backwards, other.backwards),
    )
    return sum(abs(log2(a / b)) for a, b in extents) + sum(a != b for a, b in choices)

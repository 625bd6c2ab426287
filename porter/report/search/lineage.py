"""Tells where the best candidate of a search comes from: what each step changed, and what it gained."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import unified_diff

from porter.evolve.candidate import Candidate, File
from porter.evolve.proposer import Member
from porter.evolve.scored import Score
from porter.report.search.course import Course
from porter.report.search.words import visible


@dataclass(frozen=True, slots=True)
class Step:
    """A candidate and its parents.

    `parent` is the best of its parents, `others` are the rest, by digest; None for a candidate without parents. `gain`
    is its score over the parent's; None where one of them has none. `diff` leads from the parent's files to its.
    """

    member: Member
    round: int
    parent: Member | None
    others: tuple[str, ...]
    gain: float | None
    diff: tuple[str, ...]

    @property
    def score(self) -> Score | None:
        """The score of the candidate."""
        return self.member.scored.score

    @property
    def note(self) -> str:
        """Returns what was done to its parents, on one line."""
        return visible(self.member.candidate.origin.note)


def lineage(course: Course) -> tuple[Step, ...]:
    """Returns the steps from the first ancestor to the best candidate; none while there is no best."""
    steps = list(_upwards(course))
    return tuple(reversed(steps))


def _upwards(course: Course) -> Iterator[Step]:
    member, seen = course.state.best, set[str]()
    while member is not None and member.scored.digest not in seen:
        seen.add(member.scored.digest)  # a proposer may name as parent what came later: that must not go round
        parents = member.candidate.origin.parents
        known = (course.member(digest) for digest in parents)
        parent = max((one for one in known if one is not None), key=_worth, default=None)
        yield Step(
            member=member,
            round=course.trials[member.scored.digest].proposed.round,
            parent=parent,
            others=tuple(digest for digest in parents if parent is None or digest != parent.scored.digest),
            gain=_gain(member, parent),
            diff=tuple(candidate_diff(parent.candidate, member.candidate)) if parent else (),
        )
        member = parent


def _worth(member: Member) -> tuple[float, float]:
    """Returns the key that orders parents; one without a score comes last."""
    score = member.scored.score
    return score.rank if score is not None else (0.0, 0.0)


def _gain(member: Member, parent: Member | None) -> float | None:
    own, before = member.scored.score, parent.scored.score if parent else None
    return own.factor / before.factor if own is not None and before is not None else None


def candidate_diff(before: Candidate, after: Candidate) -> Iterator[str]:
    """Yields the diff from one candidate's files to another's; a file that one of them lacks counts as empty there."""
    names = dict.fromkeys(file.name for candidate in (after, before) for file in candidate.files)
    for name in names:
        old, new = _lines(before.files, name), _lines(after.files, name)
        yield from unified_diff(old, new, f"{before.digest}/{name}", f"{after.digest}/{name}", lineterm="")


def _lines(files: Sequence[File], name: str) -> list[str]:
    return next((file.text.splitlines() for file in files if file.name == name), [])

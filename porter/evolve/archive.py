"""An archive of the best candidate found of each kind (MAP-Elites), on axes that never move."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from types import MappingProxyType

from porter.evolve.axis import Axis, Cell, inside
from porter.evolve.proposer import Member
from porter.evolve.scored import Score, Scored

_MOST_FAILURES = 16


class Added(IntEnum):
    """The answer of an archive to a candidate; it is false where the archive did not take it."""

    NO = 0
    BETTER = 1  # in place of the elite of its cell
    NEW = 2  # the first of its cell


@dataclass(frozen=True, slots=True)
class Decision:
    """The decision whether a candidate was taken, and why."""

    added: Added
    because: str


def rank(member: Member) -> tuple[float, float]:
    """Returns what elites are ordered by, greatest first."""
    assert member.scored.score is not None
    return member.scored.score.rank


class Archive:
    """Elites by cell, and the failures from which most can be learned.

    Only a verified candidate with a score owns a cell. It gives way only to one whose interval lies above its own, and
    never to one of the same binary, which would win by noise alone.
    """

    def __init__(self, axes: Sequence[Axis]) -> None:
        self.axes = tuple(axes)
        self._elites: dict[Cell, Member] = {}  # in order of arrival
        self._known: set[str] = set()
        self._built: dict[str, str] = {}  # the first candidate of each binary
        self._failures: dict[tuple[str, str], Member] = {}
        self._best: Member | None = None

    @property
    def elites(self) -> Mapping[Cell, Member]:
        """The owners of cells."""
        return MappingProxyType(self._elites)

    @property
    def failures(self) -> tuple[Member, ...]:
        """The newest of each kind of failure, the newest first: at most 16."""
        return tuple(reversed(self._failures.values()))

    @property
    def best(self) -> Member | None:
        """The best elite; of equals, the one that came first."""
        if self._best is None:
            self._best = max(self._elites.values(), key=rank, default=None)
        return self._best

    def ranked(self) -> list[Member]:
        """Returns the elites, the best first; of equals, the one that came first."""
        return sorted(self._elites.values(), key=rank, reverse=True)

    def judge(self, member: Member) -> Decision:
        """Returns what `add` would decide.

        Raises:
            ValueError: the score is of another measure than those of the elites, or the cell outside of the axes.
        """
        scored, score = member.scored, member.scored.score
        if scored.digest in self._known:
            return Decision(Added.NO, "known already")
        if scored.outcome != "verified":
            return Decision(Added.NO, scored.outcome)
        if score is None or not score.sound:
            return Decision(Added.NO, "verified, but without a score")
        if twin := self._built.get(scored.built):
            return Decision(Added.NO, f"the same binary as {twin}")
        return self._placed(scored, score)

    def add(self, member: Member) -> Decision:
        """Takes a candidate where it is better than what is there.

        Raises:
            ValueError: as in `judge`.
        """
        decision = self.judge(member)
        scored = member.scored
        if scored.digest in self._known:
            return decision
        self._known.add(scored.digest)
        if scored.outcome != "verified":
            self._learn(member)
        elif scored.score is not None and scored.score.sound:
            if scored.built:
                self._built.setdefault(scored.built, scored.digest)
            self._settle(member, decision)
        return decision

    def measured_again(self, member: Member) -> Decision:
        """Replaces an elite's outcome by its new one, wherever that now belongs.

        Raises:
            ValueError: as in `judge`.
        """
        scored, score = member.scored, member.scored.score
        held = [cell for cell, elite in self._elites.items() if elite.scored.digest == scored.digest]
        if not held:
            return Decision(Added.NO, "no elite")
        if scored.outcome == "verified" and score is not None and score.sound:
            self._check(scored, score)
        del self._elites[held[0]]
        self._best = None
        if scored.outcome != "verified" or score is None or not score.sound:
            self._learn(member)
            return Decision(Added.NO, f"no longer an elite: {scored.outcome}")
        decision = self._placed(scored, score)
        self._settle(member, decision)
        return decision

    def _placed(self, scored: Scored, score: Score) -> Decision:
        self._check(scored, score)
        elite = self._elites.get(scored.cell)
        if elite is None:
            return Decision(Added.NEW, "the first of its cell")
        assert elite.scored.score is not None
        if score.beats(elite.scored.score):
            return Decision(Added.BETTER, f"beats {elite.scored.digest}")
        return Decision(Added.NO, f"does not beat {elite.scored.digest}")

    def _settle(self, member: Member, decision: Decision) -> None:
        if decision.added:
            self._best = None
            self._elites.pop(member.scored.cell, None)  # so that the order is that of arrival
            self._elites[member.scored.cell] = member

    def _check(self, scored: Scored, score: Score) -> None:
        if not inside(scored.cell, self.axes):
            raise ValueError(f"{scored.digest} lies in {scored.cell}, outside of {[axis.name for axis in self.axes]}")
        for elite in self._elites.values():
            other = elite.scored.score
            if other is not None and other.measure is not score.measure:
                raise ValueError(f"{scored.digest} has a score that is {score.measure}, elites have {other.measure}")

    def _learn(self, member: Member) -> None:
        """Keeps a failure. One of each reason is enough: twenty times the same error would hide the others."""
        reason = member.scored.outcome, member.scored.because
        self._failures.pop(reason, None)
        self._failures[reason] = member
        while len(self._failures) > _MOST_FAILURES:
            del self._failures[next(iter(self._failures))]

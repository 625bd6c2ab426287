"""Defines the state of a search: a fold over events, which also says what has to happen next."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice

from porter.evolve.bandit import Bandit
from porter.evolve.budget import Budget, Progress
from porter.evolve.candidate import Candidate
from porter.evolve.events import (
    INTERRUPTED,
    Asked,
    Closed,
    Doubted,
    Ended,
    Event,
    Granted,
    Migrated,
    Opened,
    Proposed,
    Told,
    Waited,
)
from porter.evolve.islands import Islands
from porter.evolve.payoff import Ledger
from porter.evolve.proposer import Member, Request
from porter.evolve.scored import Score
from porter.evolve.select import parents
from porter.evolve.settings import SEED, Settings
from porter.evolve.stream import stream
from porter.evolve.turn import Round, Waiting


@dataclass(frozen=True, slots=True)
class Asking:
    """The next thing to happen is that a proposer is asked."""

    proposer: str
    request: Request


class State:
    """Only `apply` changes it; the same events make the same state.

    `members` are all that were evaluated, by digest, in the order in which they count. `out` are the requests, by their
    steps, that slow proposers have not answered yet; `over` says why proposers have nothing more to propose.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.budget: Budget | None = None
        self.islands = Islands(settings.axes, settings.islands)
        self.bandit = Bandit(settings.proposers, settings.priors)
        self.ledger = Ledger()
        self.members: dict[str, Member] = {}
        self.progress = Progress()
        self.ended = ""
        self.round = Round(0)
        self.step = 0
        self.out: dict[int, Asking] = {}
        self.over: dict[str, str] = {}
        self._seen: set[str] = set()
        self._confirmed: set[str] = set()
        self._measure_to_beat: Score | None = None
        self._standing, self._stood = "", 0  # the best at the end of the last round, and of how many before
        self._exhausted = False
        self._memory: dict[str, str] = {}
        self._news: defaultdict[str, list[str]] = defaultdict(list)

    @property
    def best(self) -> Member | None:
        """The best elite of all islands; None while nothing is verified."""
        return self.islands.best

    def knows(self, candidate: Candidate) -> bool:
        """Returns whether it was proposed before."""
        return candidate.digest in self._seen

    @property
    def best_is_confirmed(self) -> bool:
        """Returns whether the best was measured twice, or need not be: a modelled cost is the same each time."""
        return self.best is None or not self._doubtful(self.best)

    def due(self) -> Asking | Event | None:
        """Returns what follows: a request, or an event; None while candidates are waited for, or after the end."""
        if self.ended or self.budget is None:
            return None
        if reason := self.budget.out_of_time(self.progress):
            return Ended(reason)
        if reason := self._over(self.budget):
            return self._doubt() or (None if self.round.waiting or self.out else Ended(reason))
        if asking := self._asking(self.budget):
            return asking
        if self._waits():
            return None
        if self._has_stood(self.best) and (doubt := self._doubt()):
            return doubt
        if self.round.number and self.round.number % self.settings.migrate_every == 0 and not self.round.migrated:
            return Migrated()
        return Closed(self.round.number)

    def apply(self, event: Event, seconds: float) -> Event:
        """Applies an event at its seconds after the beginning; returns it with all that follows from it filled in.

        Raises:
            ValueError: it cannot happen now.
        """
        due = self.due()  # by the seconds of the event before
        self.progress = replace(self.progress, seconds=seconds)
        match event:
            case Granted(budget):
                self.budget, self.ended, self._exhausted = budget, "", False
                self.over.clear()
            case Proposed():
                self._propose(event, due)
            case Waited() if self.out:
                pass
            case Told():
                return self._tell(event, due)
            case Ended(because) if because == INTERRUPTED:
                self.ended = because
            case Opened():
                raise ValueError("a search is opened once")
            case _:
                return self._follow(event, due)
        return event

    def _has_stood(self, best: Member | None) -> bool:
        """Returns whether it has been the best for long: most champions are soon beaten, and need no second look."""
        standing = best is not None and best.scored.digest == self._standing
        return standing and self._stood >= self.settings.measure_after

    def _doubt(self) -> Doubted | None:
        """Returns the best, if it is yet to be measured again."""
        best = self.best
        if best is None or any(one.again for one in self.round.waiting.values()) or not self._doubtful(best):
            return None
        return Doubted(best.scored.digest)

    def _over(self, budget: Budget) -> str:
        """Returns why the next round does not begin; the seeds' round always does."""
        if self.round.number == 0 or self.round.begun:
            return ""
        return budget.spent(self.progress) or ("no proposer had anything new" if self._exhausted else "")

    def _asking(self, budget: Budget) -> Asking | Asked | None:
        seeds = self.round.number == 0
        if (seeds and self.round.begun) or budget.out_of_tokens(self.progress) or self._is_full:
            return None
        waiting = len(self.round.waiting) + sum(asking.request.count for asking in self.out.values())
        arms, islands = ((SEED,), 1) if seeds else (self._free(), self.settings.islands)
        wanted = self.round.wanted(arms, islands, self.settings.batch, budget.left(self.progress, waiting))
        if wanted is None or not wanted.proposers:
            return None
        place = wanted.island, self.step
        arm = SEED if seeds else self.bandit.choose(wanted.proposers, stream(self.settings.seed, *place, "proposer"))
        if arm in self.settings.slow:
            return Asked(self.step, self.round.number, wanted.island, arm, wanted.count)
        return Asking(arm, self._request(arm, wanted.island, wanted.count))

    @property
    def _is_full(self) -> bool:
        """Returns whether enough candidates wait to keep all places in flight filled.

        If not, a whole batch is asked for, and some of it waits here: a proposer that models all evaluations takes as
        long for one candidate as for many.
        """
        return 0 < self.settings.in_flight <= len(self.round.waiting)

    def _waits(self) -> bool:
        """Returns whether the round, with no proposer left to ask now, waits for an outcome or an answer.

        Where candidates are kept in flight a round with all of its own does not wait: the next one goes on beside it.
        """
        if self.settings.in_flight and self.round.number:
            whole = self.round.offered >= self.settings.batch * self.settings.islands
            return self._is_full or (not whole and bool(self.round.waiting or self.out))
        return bool(self.round.waiting or (self.out and not self.round.evaluated))

    def heard(self, digests: Collection[str]) -> Waiting | None:
        """Returns which of the known outcomes, `digests`, counts next; None where another one has to come first."""
        waiting = self.round.waiting
        expected = digests if self.settings.in_flight else tuple(islice(waiting, 1))
        return next((waiting[one] for one in expected if one in waiting and one in digests), None)

    def _free(self) -> tuple[str, ...]:
        """Returns who may be asked: no proposer that is done, and no slow one with enough requests out."""
        out = Counter(asking.proposer for asking in self.out.values())
        slow = self.settings.slow
        able = (name for name in self.settings.proposers if name not in self.over)
        return tuple(name for name in able if name not in slow or out[name] < slow[name])

    def _ask(self, event: Asked) -> None:
        """Sends a request: its content is settled now, whenever it is answered."""
        self.out[event.step] = Asking(event.proposer, self._request(event.proposer, event.island, event.count))
        self.step += 1
        only_slow = self.settings.slow.keys() >= set(self.settings.proposers)
        self.round.asked(event.island, event.count if only_slow else 0)
        self._news[event.proposer].clear()

    def _request(self, proposer: str, island: int, count: int) -> Request:
        settings, archive = self.settings, self.islands.archives[island]
        draw = stream(settings.seed, island, self.step, "parents")
        return Request(
            count=count,
            round=self.round.number,
            island=island,
            seed=stream(settings.seed, island, self.step, "request").getrandbits(63),
            parents=parents(archive, draw, settings.parents, settings.exploit),
            failures=archive.failures[: settings.failures],
            told=tuple(self.members[digest] for digest in self._news[proposer]),
            history=tuple(self.members.values()),
            seen=frozenset(self._seen),
            memory=self._memory.get(proposer, ""),
        )

    def _propose(self, event: Proposed, asking: Asking | Event | None) -> None:
        is_answer = event.step in self.out
        asking, step = (self.out[event.step], event.step) if is_answer else (asking, self.step)
        if not isinstance(asking, Asking) or self.ended:
            raise ValueError("nobody is asked now")
        expected = asking.proposer, step, asking.request.round, asking.request.island
        if (event.proposer, event.step, event.round, event.island) != expected:
            raise ValueError(f"(proposer, step, round, island) are {expected} now")
        digests = [candidate.digest for candidate in event.candidates]
        if len(set(digests)) != len(digests) or not self._seen.isdisjoint(digests):
            raise ValueError("a candidate that is known already is proposed")
        self._seen.update(digests)
        to_beat = max((_factor(parent) for parent in asking.request.parents[:1]), default=1.0)
        if is_answer:
            del self.out[event.step]
            self.round.arrived(event, to_beat)
        else:
            self.step += 1
            self.round.proposed(event, to_beat, for_all=self.round.number == 0)
            self._news[event.proposer].clear()
        self._memory[event.proposer] = event.account.memory
        if event.account.over:
            self.over[event.proposer] = event.account.over
        if event.proposer != SEED:
            self.bandit.learn_request(event.proposer, bool(event.candidates))
            if not event.candidates:
                self.bandit.learn(event.proposer, paid=False)
        self.progress = replace(self.progress, tokens=self.progress.tokens + event.account.tokens)
        notes = [candidate.origin.note for candidate in event.candidates]
        self.ledger.proposed(event.proposer, notes, event.duplicates, event.malformed, event.account)

    def _tell(self, event: Told, due: Asking | Event | None) -> Told:
        if due is not None or self.ended or not self.round.waiting:
            raise ValueError("nothing is waited for now")
        waiting = self.heard((event.scored.digest,))
        if waiting is None or event.again is not waiting.again:
            raise ValueError(f"{next(iter(self.round.waiting))} is waited for")
        self.round.take(waiting)
        if self.settings.in_flight:
            self.round.ask_again(self.settings.islands, self.settings.batch)
        member = Member(waiting.candidate, event.scored)
        self.members[event.scored.digest] = member
        add = self.islands.measured_again if waiting.again else partial(self.islands.add, island=waiting.island)
        decision = add(member)
        told = replace(event, added=decision.added, because=decision.because)
        if waiting.again:
            self._confirmed.add(event.scored.digest)
        else:
            self._count(waiting, told)
        return told

    def _count(self, waiting: Waiting, told: Told) -> None:
        """Learns from an outcome: which proposer pays, and how much was spent."""
        self.round.evaluated += 1
        self.progress = replace(self.progress, evaluations=self.progress.evaluations + 1)
        member = self.members[told.scored.digest]
        factor = _factor(member) / self._to_beat(waiting)
        self.ledger.told(
            waiting.proposer,
            waiting.candidate.origin.note,
            verified=told.scored.outcome == "verified",
            added=told.added,
            factor=factor,
            champion=self.best is not None and self.best.scored.digest == told.scored.digest,
        )
        self._news[waiting.proposer].append(told.scored.digest)
        if waiting.proposer != SEED:
            self.bandit.learn(waiting.proposer, paid=bool(told.added) and factor > 1)

    def _to_beat(self, waiting: Waiting) -> float:
        """Returns the factor of a candidate's best parent, or of the one it was to improve, where it was made anew."""
        known = (self.members.get(parent) for parent in waiting.candidate.origin.parents)
        return max((_factor(parent) for parent in known if parent), default=0.0) or waiting.to_beat

    def _doubtful(self, best: Member) -> bool:
        score = best.scored.score
        measured = score is not None and score.low < score.high
        return self.settings.measure_after > 0 and measured and best.scored.digest not in self._confirmed

    def _follow(self, event: Asked | Waited | Doubted | Migrated | Closed | Ended, due: Asking | Event | None) -> Event:
        """Returns events that are due, and no others."""
        if type(due) is not type(event):
            raise ValueError(f"{type(due).__name__.lower()} is due")
        match due:
            case Asked():
                self._ask(due)
                return due
            case Doubted(digest):
                self.round.wait_for(Waiting(self.members[digest].candidate, "", None, again=True))
            case Migrated():
                self.round.migrated = True
                return Migrated(self.islands.migrate(self.settings.migrate_share))
            case Closed():
                return self._close(due)
            case Ended(because):
                self.ended = because
        assert isinstance(due, Doubted | Ended)
        return due

    def _close(self, event: Closed) -> Closed:
        round_, best, progress = self.round, self.best, self.progress
        score = best.scored.score if best else None
        stale = not self._improved(score)
        self.progress = replace(
            progress,
            rounds=progress.rounds + (round_.number > 0),
            stale_rounds=progress.stale_rounds + 1 if stale and round_.number else 0,
            stale_evaluations=progress.stale_evaluations + round_.evaluated if stale and round_.number else 0,
        )
        self._exhausted = round_.number > 0 and not (round_.offered or round_.evaluated or round_.questions)
        digest = best.scored.digest if best else ""
        self._standing, self._stood = digest, self._stood + 1 if digest == self._standing else 0
        self.round = Round(round_.number + 1, waiting=round_.waiting)
        return Closed(
            event.round,
            round_.evaluated,
            best.scored.digest if best else "",
            score.factor if score else 0.0,
            score.low if score else 0.0,
            tuple(len(archive.elites) for archive in self.islands.archives),
        )

    def _improved(self, score: Score | None) -> bool:
        """Returns whether the best is better, beyond noise, than the one that was last found better."""
        if score is None or (self._measure_to_beat and not score.beats(self._measure_to_beat)):
            return False
        self._measure_to_beat = score
        return True


def _factor(member: Member) -> float:
    """Returns how many times as good as the seed it is; 0 without a score."""
    return member.scored.score.factor if member.scored.score else 0.0

"""Defines the events of a search, in the order in which they count. The state of a search is a fold over them.

    Opened Granted                          what is declared, and what may be spent
    Asked                                   a request went to a proposer that takes its time: others go on meanwhile
    Proposed                                what came of a request: the only word of a proposer
    Waited                                  time passed while nothing but answers was waited for
    Told                                    what came of a candidate: the only word of an evaluator
    Doubted Migrated Closed                 what follows from these, once a round is complete
    Ended                                   why it is over; a new Granted makes it go on

Fields that follow from the state (a decision, a move) are filled in when an event is applied, and compared on replay.
"""

from __future__ import annotations

from dataclasses import dataclass

from porter.evolve.archive import Added
from porter.evolve.budget import Budget
from porter.evolve.candidate import Candidate
from porter.evolve.islands import Move
from porter.evolve.proposer import Account
from porter.evolve.scored import Scored
from porter.evolve.settings import Settings

FORMAT = "porter search"
VERSION = 5  # of the form of lines: a test knows which belongs to it
INTERRUPTED = "interrupted"
NOTHING_SAID = Account()


@dataclass(frozen=True, slots=True)
class Opened:
    """The journal's first line."""

    settings: Settings
    format: str = FORMAT
    version: int = VERSION


@dataclass(frozen=True, slots=True)
class Granted:
    """The budget that may be spent, counted from the beginning of the search."""

    budget: Budget


@dataclass(frozen=True, slots=True)
class Asked:
    """Request `step` went out; its answer is the event Proposed of the same step, whenever that comes."""

    step: int
    round: int
    island: int
    proposer: str
    count: int


@dataclass(frozen=True, slots=True)
class Waited:
    """So much time has passed: nothing else happened, but this may end the search."""


@dataclass(frozen=True, slots=True)
class Proposed:
    """The answer to request `step`, without candidates that were known or cannot be kept as files."""

    step: int
    round: int
    island: int
    proposer: str
    candidates: tuple[Candidate, ...]
    duplicates: int = 0
    malformed: int = 0
    account: Account = NOTHING_SAID


@dataclass(frozen=True, slots=True)
class Told:
    """The outcome of a candidate that was proposed or doubted.

    Outcomes come in the order of proposals, except where a search keeps candidates in flight.
    """

    scored: Scored
    again: bool = False
    added: Added = Added.NO
    because: str = ""


@dataclass(frozen=True, slots=True)
class Doubted:
    """The best of all is new, and will be measured again: the best of many measurements was lucky, too."""

    digest: str


@dataclass(frozen=True, slots=True)
class Migrated:
    """Elites were shown to the next island."""

    moves: tuple[Move, ...] = ()


@dataclass(frozen=True, slots=True)
class Closed:
    """A round is complete: `evaluated` candidates belong to it, and `best` is the best of all, worth `factor`."""

    round: int
    evaluated: int = 0
    best: str = ""
    factor: float = 0.0
    low: float = 0.0
    cells: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Ended:
    """The search is over: the budget is spent, nothing more is proposed, or it was interrupted."""

    because: str


Event = Opened | Granted | Asked | Proposed | Waited | Told | Doubted | Migrated | Closed | Ended
_KINDS = (Opened, Granted, Asked, Proposed, Waited, Told, Doubted, Migrated, Closed, Ended)
EVENTS: dict[str, type[Event]] = {kind.__name__.lower(): kind for kind in _KINDS}

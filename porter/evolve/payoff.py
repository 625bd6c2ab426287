"""Counts what proposers, and each of their rules, achieved with their requests."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

from porter.evolve.archive import Added
from porter.evolve.bandit import Prior
from porter.evolve.proposer import Account

_MOST_PRIOR = 20.0  # candidates: what other runs taught is soon outweighed by what this one shows
_INTENT = re.compile(r"intent \d+, ([^:]+): ")
_TURNED = re.compile(r"(?:^|, )(\S+): .+? -> ")


@dataclass(frozen=True, slots=True)
class Payoff:
    """The candidates of one proposer and note: how many there were, and what they gained.

    `duplicates` were known already and `malformed` ones cannot be kept as files: neither was evaluated or has a note. A
    language model answered `questions` for it, with `tokens` read and written, which cost `cost` by the given prices.
    `paid` were taken and better than the best of their parents; `gain` is the sum of the binary logarithms of these
    factors. `champions` were the best of all at their time.
    """

    proposer: str
    note: str
    requests: int = 0
    questions: int = 0
    tokens: int = 0
    cost: float = 0.0
    proposed: int = 0
    duplicates: int = 0
    malformed: int = 0
    verified: int = 0
    added: int = 0
    paid: int = 0
    champions: int = 0
    gain: float = 0.0


class Ledger:
    """Payoffs by proposer and note, in the order in which they first appear.

    `remarks` counts the other results of models: failed tries, useless replies, refusals, each with its proposer.
    """

    def __init__(self) -> None:
        self._rows: dict[tuple[str, str], Payoff] = {}
        self.remarks: Counter[tuple[str, str]] = Counter()

    @property
    def rows(self) -> tuple[Payoff, ...]:
        """The payoffs, one for each proposer and note."""
        return tuple(self._rows.values())

    def _row(self, proposer: str, note: str) -> Payoff:
        return self._rows.get((proposer, note)) or Payoff(proposer, note)

    def proposed(self, proposer: str, notes: Iterable[str], duplicates: int, malformed: int, account: Account) -> None:
        """Counts the answer to a request."""
        self.remarks.update((proposer, each.reply) for each in account.exchanges if not each.prompt)
        asked = self._row(proposer, "")
        self._rows[proposer, ""] = replace(
            asked,
            requests=asked.requests + 1,
            questions=asked.questions + account.questions,
            tokens=asked.tokens + account.tokens,
            cost=asked.cost + account.cost,
        )
        for note in notes:
            row = self._row(proposer, note)
            self._rows[proposer, note] = replace(row, proposed=row.proposed + 1)
        if duplicates or malformed:
            row = self._row(proposer, "")
            self._rows[proposer, ""] = replace(
                row, duplicates=row.duplicates + duplicates, malformed=row.malformed + malformed
            )

    def told(self, proposer: str, note: str, *, verified: bool, added: Added, factor: float, champion: bool) -> None:
        """Counts an outcome; `factor` is the score over that of the best parent, 0 where there is none."""
        row = self._row(proposer, note)
        paid = bool(added) and factor > 1
        self._rows[proposer, note] = replace(
            row,
            verified=row.verified + verified,
            added=row.added + bool(added),
            paid=row.paid + paid,
            champions=row.champions + champion,
            gain=row.gain + (math.log2(factor) if paid else 0.0),
        )


def by_proposer(rows: Iterable[Payoff]) -> tuple[Payoff, ...]:
    """Returns the payoffs summed over notes."""
    return _summed(replace(row, note="") for row in rows)


def by_rule(rows: Iterable[Payoff]) -> tuple[Payoff, ...]:
    """Returns the payoffs summed over everything one rule did: an intent's kind, a rewrite, a kind of knob."""
    return _summed(replace(row, note=rule_of(row.note)) for row in rows if row.note)


def rule_of(note: str) -> str:
    """Returns the rule that a note names; empty where it is free text.

    `intent 3, wider tiles: ...` is of an intent, `kernel.width: 64 -> 128, ...` of knobs, `division by reciprocal: ...`
    of a rewrite.
    """
    if intent := _INTENT.match(note):
        return intent.group(1)
    if knobs := {name.rpartition(".")[2] for name in _TURNED.findall(note)}:
        return knobs.pop() if len(knobs) == 1 else "several knobs"
    rule, colon, _ = note.partition(": ")
    return rule if colon else ""


def _summed(rows: Iterable[Payoff]) -> tuple[Payoff, ...]:
    """Returns one payoff for each proposer and note."""
    sums: dict[tuple[str, str], Payoff] = {}
    for row in rows:
        key = row.proposer, row.note
        total = sums.get(key) or Payoff(*key)
        sums[key] = Payoff(
            *key,
            total.requests + row.requests,
            total.questions + row.questions,
            total.tokens + row.tokens,
            total.cost + row.cost,
            total.proposed + row.proposed,
            total.duplicates + row.duplicates,
            total.malformed + row.malformed,
            total.verified + row.verified,
            total.added + row.added,
            total.paid + row.paid,
            total.champions + row.champions,
            total.gain + row.gain,
        )
    return tuple(sums.values())


def priors(rows: Iterable[Payoff]) -> tuple[Prior, ...]:
    """Returns what runs taught about their proposers, for a run of the same category: weighted as 20 candidates."""
    known = [row for row in by_proposer(rows) if row.proposed]
    weights = (min(1.0, _MOST_PRIOR / row.proposed) for row in known)
    return tuple(
        Prior(row.proposer, row.paid * weight, (row.proposed - row.paid) * weight)
        for row, weight in zip(known, weights, strict=True)
    )

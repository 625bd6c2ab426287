"""A run as what a model learns from: for each candidate the state that it came of, the action, and the outcome."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict

from porter.evolve.candidate import Candidate
from porter.evolve.events import Proposed, Told
from porter.evolve.lines import Line
from porter.evolve.proposer import Member


def trajectories(lines: Iterable[Line]) -> Iterator[str]:
    """A line of JSON for each candidate that was evaluated, in the order in which they count.

    `state` holds the candidates that it was made of with what was known of them then; `action` its files, who made them
    and how, and what a model was asked and answered for that request; `outcome` what came of it, and what the archive
    made of that. What was measured again appears in the states of later candidates.
    """
    known: dict[str, Member] = {}
    proposals: dict[str, tuple[Proposed, Candidate]] = {}
    for line in lines:
        event = line.event
        if isinstance(event, Proposed):
            proposals |= {candidate.digest: (event, candidate) for candidate in event.candidates}
        elif isinstance(event, Told):
            request, candidate = proposals[event.scored.digest]
            if not event.again:
                yield json.dumps(_step(request, candidate, event, known), sort_keys=True)
            known[candidate.digest] = Member(candidate, event.scored)


def _step(request: Proposed, candidate: Candidate, told: Told, known: Mapping[str, Member]) -> Mapping[str, object]:
    parents = [known[parent] for parent in candidate.origin.parents if parent in known]
    return {
        "state": {
            "round": request.round,
            "island": request.island,
            "parents": [{"files": _files(p.candidate), **asdict(p.scored)} for p in parents],
        },
        "action": {
            "proposer": request.proposer,
            "note": candidate.origin.note,
            "point": dict(candidate.point),
            "files": _files(candidate),
            "exchanges": [asdict(exchange) for exchange in request.account.exchanges],
        },
        "outcome": {**asdict(told.scored), "added": told.added.name.lower(), "decision": told.because},
    }


def _files(candidate: Candidate) -> Mapping[str, str]:
    return {file.name: file.text for file in candidate.files}

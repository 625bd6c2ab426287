"""Proposes candidates by rules over the text of others: each notes what it did and where, so that payoffs are known."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from random import Random

from porter.evolve.candidate import Candidate, File, Origin
from porter.evolve.proposer import Request

NAME = "rewrite"


@dataclass(frozen=True, slots=True)
class Rewritten:
    """Files after a `rule` was applied `where`: a kernel, a line."""

    rule: str
    where: str
    files: tuple[File, ...]


class RewriteProposer:
    """Applies one rule at a time; combinations take several rounds. It keeps no state."""

    name = NAME

    def __init__(self, rewritten: Callable[[Sequence[File]], Iterable[Rewritten]]) -> None:
        self._rewritten = rewritten

    def propose(self, request: Request) -> Sequence[Candidate]:
        """Returns at most `count` unseen candidates: from the first parent, or if that gives none, from the next."""
        random = Random(request.seed)
        found: dict[str, Candidate] = {}
        for parent in request.parents:
            made = list(self._rewritten(parent.candidate.files))
            random.shuffle(made)
            for one in made:
                origin = Origin(NAME, (parent.candidate.digest,), f"{one.rule}: {one.where}")
                candidate = Candidate(one.files, origin)
                if candidate.digest not in request.seen and candidate.digest != parent.candidate.digest:
                    found.setdefault(candidate.digest, candidate)
        return tuple(found.values())[: request.count]

"""The proposer that asks a language model: to make a right program faster, or to mend one that came to nothing."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from random import Random

from porter.agent.prompt import Material, told_member
from porter.agent.task import Task
from porter.agent.writer import Panel
from porter.evolve.candidate import Candidate
from porter.evolve.proposer import Account, Exchange, Member, Request

_SHOWN = 24  # attempts, the newest


class LlmProposer:
    """Asks a model for each candidate, and keeps nothing: what was tried is in the request.

    `repairs` is the share of candidates that are made of a failure, where there is one.
    """

    name = "llm"

    def __init__(self, panel: Panel, task: Task, repairs: float = 0.25) -> None:
        self._panel = panel
        self._task = task
        self._repairs = repairs
        self._account = Account()

    def propose(self, request: Request) -> Sequence[Candidate]:
        """As many candidates as the model's replies make; fewer where it does not answer, or not usably."""
        tried = attempts(request)
        made: list[Candidate] = []
        said: list[Exchange] = []
        over = ""
        for index in range(request.count):
            seed = seed_of(request, index)
            if not (current := self._chosen(request, Random(seed))):
                break
            seen = request.seen | {candidate.digest for candidate in made}
            draft = self._panel.chosen(seed).write(material(self._task, request, current, tried), self.name, seed, seen)
            said.extend(draft.exchanges)
            made.extend([draft.candidate] if draft.candidate else [])
            over = draft.over
            if not draft.answered:
                break
        self._account = Account(tuple(said), over=over)
        return made

    def account(self) -> Account:
        """Returns what was asked and answered in the last request."""
        return self._account

    def _chosen(self, request: Request, random: Random) -> Member | None:
        """A failure to mend, or the program the search drew to be made better."""
        if request.failures and (not request.parents or random.random() < self._repairs):
            return random.choice(request.failures)
        return next(iter(request.parents), None)


def material(task: Task, request: Request, current: Member, tried: Sequence[str], idea: str = "") -> Material:
    """All that a prompt about `current` can hold."""
    others = tuple(m for m in request.parents if m.candidate.digest != current.candidate.digest and m.scored.score)
    return Material(task, current, others, tuple(tried), idea, headers=task.headers, findings=task.findings)


def attempts(request: Request) -> tuple[str, ...]:
    """Returns what was tried of late, each once, the newest first: programs often get the same rewrites."""
    known = {member.scored.digest: member for member in request.history}
    told = []
    for member in reversed(request.history[-_SHOWN:]):
        parent = next((known[digest] for digest in member.candidate.origin.parents if digest in known), None)
        told.append(told_member(member, parent))
    return tuple(dict.fromkeys(told))


def seed_of(request: Request, index: int) -> int:
    """A seed for candidate `index` of a request; servers take 31 bits."""
    digest = hashlib.blake2b(f"{request.seed}:{index}".encode(), digest_size=4).digest()
    return int.from_bytes(digest) >> 1

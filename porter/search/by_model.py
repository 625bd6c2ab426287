"""Lets a language model write a port where porter has no right one: it counts only if it is verified.

    a migration that fell short ──▶ question ──▶ candidate ──▶ admitted, executed beside the original, compared
                                       ▲──────── what was wrong with it ────────┘

Each attempt mends the one before; the first mends what porter wrote.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from porter.agent.profile import Profile
from porter.agent.prompt import Material
from porter.agent.task import Task, task
from porter.agent.writer import Draft
from porter.backend import Backend, Port
from porter.diagnostics.findings import Finding, Severity
from porter.evaluate.judge.admission import not_admitted
from porter.evaluate.migrate import proven
from porter.evaluate.model.migration import EntryOutcome, MigrateOptions, Migration, Progress
from porter.evaluate.model.outcome import (
    Crashed,
    NotBuilt,
    NotVerified,
    Outcome,
    Refused,
    Verified,
    Wrong,
    outcome_words,
)
from porter.evaluate.module_port import proven_against_module
from porter.evaluate.problem.original import read_original
from porter.evolve.budget import Budget
from porter.evolve.candidate import Candidate, File, Origin
from porter.evolve.proposer import Member
from porter.evolve.scoring.evaluator import failed, files_of, port_of
from porter.evolve.scoring.subject import StandardKind
from porter.evolve.stream import stream
from porter.measure.deadline import Deadline, OutOfTime
from porter.registry import find_backend
from porter.search.agents import Agent
from porter.search.proposers import agent_of, closing

BY_MODEL = "PORT5005"
_WHOLE = "porter could not port this. Write the whole port, with every function that the operator is called by."
_NAME = "port"  # of who proposes, in the origins of candidates
_MENDABLE = (Refused, NotBuilt, Crashed, Wrong)  # with other outcomes no port can be judged


@dataclass(frozen=True, slots=True)
class Asking:
    """The `models` that are asked for a port, within that many `tokens`; `tell` hears at once when they fail."""

    models: Profile
    tokens: int | None
    tell: Callable[[str], None]


def needs_model(migration: Migration) -> bool:
    """Returns whether a model may be asked: there is no right port, and there is a standard to judge one by."""
    return isinstance(migration.outcome, _MENDABLE)


def ported_by_model(
    migration: Migration, options: MigrateOptions, asking: Asking, recording: Path, progress: Progress
) -> Migration:
    """Returns the migration with the first verified port of a model; else as it was, with a finding about that.

    Questions and answers are kept in the folder `recording`. Raises `MachineError` where a model cannot be asked.
    """
    agent = agent_of(asking.models, Budget(0, tokens=asking.tokens), options.environment, recording, asking.tell)
    assert agent is not None
    with closing(agent):
        return _Porting.of(migration, options, progress).asked(agent)


@dataclass(frozen=True)
class _Porting:
    """A source without a right port, what a model is told of it, and how its answers are judged."""

    migration: Migration
    options: MigrateOptions
    task: Task
    begin: Member
    judge: Callable[[Port, MigrateOptions], Migration]
    progress: Progress

    @classmethod
    def of(cls, migration: Migration, options: MigrateOptions, progress: Progress) -> _Porting:
        """Begins with `begin`, the port that porter wrote, whole or not."""
        made = cls._of_module if migration.of_module else cls._of_cuda
        return made(migration, options, find_backend(migration.target.backend), progress)

    @classmethod
    def _of_cuda(cls, migration: Migration, options: MigrateOptions, backend: Backend, progress: Progress) -> _Porting:
        original = read_original(migration.source, options)
        headers = tuple(header for _, header in original.headers)
        told = task(
            backend, migration.target, original.source, headers,
            contracts=migration.contracts, scored=(), findings=migration.findings,
        )  # fmt: skip

        def judge(port: Port, options: MigrateOptions) -> Migration:
            broken = backend.lint(port.files, original.own)
            if (refused := not_admitted(broken, port, backend, migration.target)) is not None:
                return replace(migration, outcome=refused)
            return proven(original, port, migration.target, options, progress)

        files = files_of(backend.port(original.program, headers, migration.target))
        return cls(migration, options, told, _begin(files, migration), judge, progress)

    @classmethod
    def _of_module(
        cls, migration: Migration, options: MigrateOptions, backend: Backend, progress: Progress
    ) -> _Porting:
        path = migration.source.path
        told = task(
            backend, migration.target, migration.source, (),
            contracts=migration.contracts, scored=(), findings=(), standard_kind=StandardKind.PYTHON,
        )  # fmt: skip

        def judge(port: Port, options: MigrateOptions) -> Migration:
            return proven_against_module(path, port, migration.target, options, progress)

        # The port of an empty source is a file of the right name in which nothing is written yet.
        written = migration.files or backend.port(migration.program, (), migration.target).files
        return cls(migration, options, told, _begin(files_of(Port(written, ())), migration), judge, progress)

    def asked(self, agent: Agent) -> Migration:
        """Returns the migration after the last attempt, or as soon as one is right."""
        current, seen = self.begin, {self.begin.candidate.digest}
        came: list[str] = []
        draw = stream(self.options.seed or 0, _NAME, self.migration.source.path.name)
        for number in range(1, agent.attempts + 1):
            self.progress(f"asking for a port of {self.migration.source.path.name}, attempt {number}")
            seed = draw.getrandbits(31)
            draft = agent.panel.chosen(seed).write(self._material(current), _NAME, seed, seen)
            if draft.candidate is None:
                came.append(_unusable(draft))
                if not draft.answered:
                    break
                continue
            found = self._judged(draft.candidate)
            if isinstance(found.outcome, Verified):
                return self._written_by(_model(draft), number, found)
            came.append(f"{outcome_words(found.outcome.label)}: {getattr(found.outcome, 'because', '')}")
            current = Member(draft.candidate, failed(draft.candidate, found.outcome))
            seen.add(draft.candidate.digest)
        return self._without(came)

    def _material(self, current: Member) -> Material:
        refused = current is self.begin and current.scored.outcome == Refused.label
        return Material(
            self.task, current, idea=_WHOLE if refused else "", headers=self.task.headers, findings=self.task.findings
        )

    def _judged(self, candidate: Candidate) -> Migration:
        """Judges the candidate as anybody's: by its text, then by its results, on inputs drawn anew."""
        port = port_of(candidate.files, self.migration.source.path.parent)
        deadline = Deadline(self.options.deadline.limit_s)
        options = replace(self.options, deadline=deadline, seed=self.options.seed or 0)
        try:
            with deadline.running():
                return self.judge(port, options)
        except OutOfTime:
            return replace(self.migration, outcome=NotVerified("the limit was over before it was proven (--limit)"))

    def _written_by(self, model: str, number: int, found: Migration) -> Migration:
        message = f"{model} wrote the port, in attempt {number}; porter's own was {_told(self.migration.outcome)}"
        noted = Finding(BY_MODEL, Severity.WARNING, message, None)
        return signed(replace(found, findings=(*found.findings, noted)), model)

    def _without(self, came: Sequence[str]) -> Migration:
        last = f"; the last: {came[-1]}" if came else ""
        message = f"no right port came of {len(came)} attempts by a language model{last}"
        return replace(
            self.migration,
            findings=(*self.migration.findings, Finding(BY_MODEL, Severity.WARNING, message, None)),
        )


def _begin(files: tuple[File, ...], migration: Migration) -> Member:
    candidate = Candidate(files, Origin(_NAME))
    return Member(candidate, failed(candidate, migration.outcome))


def signed(migration: Migration, model: str) -> Migration:
    """Returns the migration whose verdict names this model as the author; unchanged where the name is empty."""
    if not model:
        return migration
    said = f"written by the language model {model}"
    return replace(
        migration,
        outcome=_with_author(migration.outcome, said),
        entries=tuple(_entry_with_author(entry, said) for entry in migration.entries),
        written_by=model,
    )


def _model(draft: Draft) -> str:
    return next((said.model for said in reversed(draft.exchanges) if said.model), "")


def _unusable(draft: Draft) -> str:
    return draft.exchanges[-1].reply if draft.exchanges else "nothing was asked"


def _told(outcome: Outcome) -> str:
    return f"{outcome_words(outcome.label)}: {getattr(outcome, 'because', '')}"


def _with_author(outcome: Outcome, said: str) -> Outcome:
    if not isinstance(outcome, Verified):
        return outcome
    return replace(outcome, caveat="; ".join(filter(None, (said, outcome.caveat))))


def _entry_with_author(entry: EntryOutcome, said: str) -> EntryOutcome:
    return replace(entry, outcome=_with_author(entry.outcome, said))

"""Makes the proposers of a run: schedules, rules, a plan, and where some are named, language models."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from porter.agent.profile import Profile, profile_of_text
from porter.agent.secret import find_key
from porter.agent.task import Task, task
from porter.diagnostics.findings import Finding
from porter.evaluate.formula.scheduled import Formula
from porter.evaluate.problem.bench import Bench
from porter.evolve.axis import Axis
from porter.evolve.budget import Budget
from porter.evolve.candidate import File
from porter.evolve.proposer import Proposer
from porter.evolve.proposing.formula import FormulaProposer
from porter.evolve.proposing.kriging import KrigingProposer
from porter.evolve.proposing.ports import space_of_files
from porter.evolve.proposing.rewrite import RewriteProposer, Rewritten
from porter.evolve.proposing.schedule import ScheduleProposer
from porter.evolve.scoring.diagnosis import scored_sizes
from porter.evolve.scoring.evaluator import port_of
from porter.evolve.scoring.subject import StandardKind, Subject
from porter.evolve.space import Space
from porter.registry import find_backend
from porter.search.agents import Agent, open_agent, rule_plan
from porter.source.encoding import read_text
from porter.source_text import Source

_RECORDING, _MODELS = "model", "models"


def proposers_of(
    subject: Subject,
    space: Space,
    agent: Agent | None,
    planning: Bench,
    *,
    formula: Formula | None,
    axes: tuple[Axis, ...],
) -> tuple[Proposer, ...]:
    """Returns those on `space`: `schedule`, `kriging`, `rewrite`, `plan`; with an `agent` also `llm` and `model plan`.

    `formula` comes before them, where the original's formula is known. `axes` are those of the archive. The seed is
    planned by `planning`, for what models are told.
    """

    backend = find_backend(subject.target.backend)

    def around(files: Sequence[File]) -> Space:
        return space_of_files(backend, files, subject.target)

    def rewritten(files: Sequence[File]) -> tuple[Rewritten, ...]:
        return backend.rewrites(port_of(files, subject.path.parent).files)

    schedule, kriging, rewrite = ScheduleProposer(space, around), KrigingProposer(space), RewriteProposer(rewritten)
    of_rules: tuple[Proposer, ...] = (schedule, kriging, rewrite, rule_plan(space, around, axes))
    if formula is not None:
        of_rules = (FormulaProposer(formula), *of_rules)
    if agent is None:
        return of_rules
    asked = task_of(subject, axes, planning)
    return (*of_rules, agent.plan(asked), agent.llm(asked))


def task_of(subject: Subject, axes: tuple[Axis, ...], place: Bench) -> Task:
    """Returns what models are told of `subject`, whose seed `place` plans; `axes` are the traits of the archive."""
    backend = find_backend(subject.target.backend)
    original, headers = subject.original, tuple(header for _, header in subject.original.headers)
    findings: tuple[Finding, ...] = ()
    if subject.standard_kind is StandardKind.CUDA:
        # The seed is kept as files alone; porting is deterministic, so a resumed run asks the same questions.
        findings = backend.port(original.program, headers, subject.target).findings
    scored = scored_sizes(subject, backend, subject.workloads, place)
    return task(
        backend, subject.target, _shown(subject), headers,
        contracts=subject.contracts, scored=scored, findings=findings, axes=axes, standard_kind=subject.standard_kind,
    )  # fmt: skip


def _shown(subject: Subject) -> Source | None:
    """Returns the standard of candidates, as a model reads it; a recording holds nothing to read."""
    if subject.standard_kind is StandardKind.PYTHON:
        return Source(subject.path, read_text(subject.path))
    return subject.original.source if subject.standard_kind is StandardKind.CUDA else None


def agent_of(
    profile: Profile | None, budget: Budget, environment: Mapping[str, str], folder: Path, tell: Callable[[str], None]
) -> Agent | None:
    """Returns the agent that asks the models of `profile`, with keys of the `environment`, and records it in `folder`.

    It asks nothing that could exceed the tokens of `budget`, and waits for no answer longer than that lasts.
    """
    if profile is None:
        return None
    models = profile.models(budget.tokens)
    if budget.seconds is not None:
        each = (replace(one, timeout_s=min(one.timeout_s, budget.seconds)) for one in models.each)
        models = replace(models, each=tuple(each))
    kept = replace(models, recording=models.recording or folder / _RECORDING)
    return open_agent(kept, lambda url: find_key(url, environment), tell)


@contextmanager
def closing(agent: Agent | None) -> Iterator[None]:
    """Keeps the agent open during a search; after that it asks nothing more."""
    try:
        yield
    finally:
        if agent is not None:
            agent.closed.set()


def about_models(profile: Profile | None) -> Mapping[str, str]:
    """Returns what a journal says of the models of its search."""
    return {} if profile is None else {_MODELS: profile.text}


def models_about(about: Mapping[str, str]) -> Profile | None:
    """Returns the models that a journal names; None where its search had none."""
    return profile_of_text(about[_MODELS]) if _MODELS in about else None

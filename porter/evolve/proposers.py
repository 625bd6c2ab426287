"""Who proposes in a run: schedules, rules, a plan, and where one is named a language model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from porter.agent.build import Agent, open_agent, rule_plan
from porter.agent.options import ModelOptions
from porter.agent.secret import find_key
from porter.agent.task import task
from porter.backend import Backend
from porter.evaluate.migration import Progress
from porter.evolve.candidate import File
from porter.evolve.diagnosis import scored_sizes
from porter.evolve.evaluator import Scorer, port_of
from porter.evolve.kriging import KrigingProposer
from porter.evolve.ports import space_of_files
from porter.evolve.proposer import Proposer
from porter.evolve.rewrite import RewriteProposer, Rewritten
from porter.evolve.schedule import ScheduleProposer
from porter.evolve.space import Space
from porter.evolve.subject import Subject

_RECORDING = "model"


def proposers_of(
    subject: Subject, backend: Backend, space: Space, agent: Agent | None, scorer: Scorer
) -> tuple[Proposer, ...]:
    """Those on `space`: `schedule`, `kriging`, `rewrite`, `plan`; with an `agent`, who then plans, also `llm`."""

    def around(files: Sequence[File]) -> Space:
        return space_of_files(backend, files, subject.target)

    def rewritten(files: Sequence[File]) -> tuple[Rewritten, ...]:
        return backend.rewrites(port_of(files, subject.original.source.path.parent).files)

    schedule, kriging, rewrite = ScheduleProposer(space, around), KrigingProposer(space), RewriteProposer(rewritten)
    if agent is None:
        return (schedule, kriging, rewrite, rule_plan(space, around, backend.axes()))
    original, headers = subject.original, tuple(header for _, header in subject.original.headers)
    # The seed is kept as files alone; porting is deterministic, so a resumed run asks the same questions.
    findings = backend.port(original.program, headers, subject.target).findings
    scored = scored_sizes(subject, backend, scorer.workloads, scorer.planning)
    asked = task(
        backend, subject.target, original.source, headers,
        contracts=subject.contracts, scored=scored, findings=findings,
    )  # fmt: skip
    return (schedule, kriging, rewrite, agent.plan(asked), agent.llm(asked))


def agent_of(
    model: ModelOptions | None, tokens: int | None, subject: Subject, folder: Path, progress: Progress
) -> Agent | None:
    """The agent that asks `model`; what it is asked and answers is recorded in the run's `folder`.

    Nothing is asked that could take it over so many `tokens`.
    """
    if model is None:
        return None
    kept = replace(model, recording=model.recording or folder / _RECORDING, budget=replace(model.budget, tokens=tokens))
    return open_agent(kept, find_key(model.base_url, subject.options.environment), progress)


def about_model(model: ModelOptions | None) -> Mapping[str, str]:
    """Returns what a journal says of the model of its search."""
    if model is None:
        return {}
    return {"model": model.model, "base_url": "" if model.local else model.base_url, "local": str(model.local)}


def model_about(about: Mapping[str, str]) -> ModelOptions | None:
    """The model that a journal names; None where its search had none."""
    if "model" not in about:
        return None
    local = about["local"] == str(True)
    return ModelOptions(about["model"], local=True) if local else ModelOptions(about["model"], about["base_url"])

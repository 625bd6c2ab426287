"""The folder of a search as steps: what it is about, and how a model would have been asked in it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from porter.agent.llm import material
from porter.agent.model import UnansweredError
from porter.agent.prompt import written
from porter.agent.question import Message
from porter.agent.task import Task
from porter.contract.model.reader import load_contracts
from porter.evaluate.model.migration import MigrateOptions
from porter.evaluate.problem.bench import bench
from porter.evolve.journal import NAME
from porter.evolve.proposer import Member, Request
from porter.evolve.replay import replayed
from porter.evolve.scoring.evaluator import port_of
from porter.evolve.scoring.subject import CONTRACT, ORIGINAL, StandardKind, kept, standard_kind_of
from porter.evolve.settings import Settings
from porter.evolve.state import State
from porter.learn.steps import Prompt, Step, Work, no_prompt, steps
from porter.search.proposers import task_of
from porter.search.run import seed_of
from porter.source.encoding import read_text


@dataclass(frozen=True, slots=True)
class Asked:
    """Writes the messages that ask a model about a program, as the proposer `llm` asks, within `context_tokens`."""

    task: Task
    context_tokens: int = 32_768

    def __call__(self, request: Request, current: Member, tried: tuple[str, ...]) -> tuple[Message, ...]:
        """Returns the messages; none where they would be too long, so that no model would be asked."""
        try:
            return written(material(self.task, request, current, tried), self.context_tokens).messages
        except UnansweredError:
            return ()


def steps_of_run(folder: Path, options: MigrateOptions, *, with_prompts: bool = True) -> Iterator[Step]:
    """Yields the steps of the search in `folder`, which is replayed first; nothing is evaluated.

    For prompts what the search began with is planned, and a CUDA source is ported once more. `options` hold the cache
    and the limit for that. Raises `InputError` where the folder holds no search, or not what that was about.
    """
    read = replayed(folder)
    settings = read.state.settings
    prompt: Prompt = Asked(_task(folder, read.state, options)) if with_prompts else no_prompt
    return steps(read.lines, _work(folder, settings), prompt)


def runs_below(folder: Path) -> dict[str, Path]:
    """Returns the folders of all searches in `folder` and below by what steps call them (`Work.run`)."""
    return {_name(journal.parent): journal.parent for journal in sorted(folder.rglob(NAME))}


def _name(folder: Path) -> str:
    return f"{folder.name} {hashlib.blake2b((folder / NAME).read_bytes(), digest_size=4).hexdigest()}"


def _work(folder: Path, settings: Settings) -> Work:
    about, original, contract = settings.about, folder / ORIGINAL, folder / ORIGINAL / CONTRACT
    category = settings.category
    if not category and contract.exists():
        category = load_contracts(contract)[0].category
    name = about.get("source", folder.name)
    is_text = standard_kind_of(about) is not StandardKind.RECORDING and (original / name).is_file()
    text = read_text(original / name) if is_text else ""
    return Work(_name(folder), name, category, about.get("target", ""), about.get("arch", ""), text)


def _task(folder: Path, state: State, options: MigrateOptions) -> Task:
    settings, files = state.settings, seed_of(state)
    seed = port_of(files, folder / ORIGINAL) if files else None
    subject = kept(folder, settings.about, seed, options)
    with bench(options.cache, options.time_limit_s) as place:
        return task_of(subject, settings.axes, place)

"""Models and proposers from options: the one place that knows which layer goes around which."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from porter.agent.ledger import Ledger, Metered
from porter.agent.llm import LlmProposer
from porter.agent.model import Model
from porter.agent.options import ModelOptions
from porter.agent.patience import Paced, Retried
from porter.agent.plan.proposer import PlanProposer
from porter.agent.plan.rules import KnobMaker, RulePlanner
from porter.agent.plan.thinking import IntentWriter, ThinkingPlanner
from porter.agent.question import Usage
from porter.agent.recording import Recorded, recorded_usage
from porter.agent.secret import Secret
from porter.agent.task import Task
from porter.agent.writer import Writer, Writing
from porter.errors import MachineError
from porter.evolve.axis import Axis
from porter.evolve.candidate import File
from porter.evolve.space import Space


@dataclass(frozen=True, slots=True)
class Agent:
    """A model made ready for a run, and what it has cost so far; the proposers of a run share it."""

    writer: Writer
    ledger: Ledger

    def llm(self, task: Task) -> LlmProposer:
        """Asks for programs."""
        return LlmProposer(self.writer, task)

    def plan(self, task: Task, tries: int = 3) -> PlanProposer:
        """Asks for a plan, then for the programs of its intents, each made `tries` times before it is judged."""
        return PlanProposer(ThinkingPlanner(self.writer, task), IntentWriter(self.writer, task), tries)


def rule_plan(
    space: Space, space_of: Callable[[Sequence[File]], Space], axes: tuple[Axis, ...], tries: int = 3
) -> PlanProposer:
    """A plan without a model, on the spaces that the schedule proposer walks through and the axes of the archive."""
    return PlanProposer(RulePlanner(axes), KnobMaker(space, space_of), tries)


def open_agent(options: ModelOptions, key: Secret, tell: Callable[[str], None]) -> Agent:
    """The agent that `options` ask for. Nothing is asked yet; `tell` will hear of tries that fail.

    What a recording holds was spent already. Raises `MachineError` where a package is missing, `InputError` for a
    folder without a model.
    """
    spent = recorded_usage(options.recording) if options.recording else Usage()
    ledger = Ledger(options.prices, options.budget, spent)
    model: Model | None = None if options.replay else _asked(options, key, ledger, tell)
    if options.recording:
        model = Recorded(model, options.recording)
    assert model is not None, "a replay has a recording"
    writing = Writing(options.model, options.sampling, options.context_tokens, options.corrections)
    return Agent(Writer(model, writing), ledger)


def _asked(options: ModelOptions, key: Secret, ledger: Ledger, tell: Callable[[str], None]) -> Model:
    """The model itself, its tries booked and repeated."""
    if options.local:
        from porter.agent.local import Local  # noqa: PLC0415 - seconds to import

        return Metered(Local.load(Path(options.model)), ledger)
    try:
        from porter.agent.endpoint import Endpoint  # noqa: PLC0415 - optional, and half a second to import
    except ImportError:
        raise MachineError("the package 'openai' is not installed", "pip install 'porter[llm]'") from None
    endpoint = Endpoint(options.base_url, key, options.timeout_s, options.limit)
    return Retried(Paced(Metered(endpoint, ledger), options.requests_per_minute), options.backoff, tell)

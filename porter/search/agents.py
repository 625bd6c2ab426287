"""Models and proposers from options: the one place that knows which layer goes around which."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Event

from porter.agent.ledger import Ledger, Metered
from porter.agent.llm import LlmProposer
from porter.agent.model import Model
from porter.agent.options import ModelOptions, Models
from porter.agent.patience import Paced, Retried
from porter.agent.plan.proposer import MODEL_PLAN, PlanProposer
from porter.agent.plan.rules import KnobMaker, RulePlanner
from porter.agent.plan.thinking import IntentWriter, ThinkingPlanner
from porter.agent.plan.world import World
from porter.agent.recording import Recorded, recorded_usage
from porter.agent.secret import Secret
from porter.agent.task import Task
from porter.agent.writer import Panel, Writer, Writing
from porter.errors import MachineError
from porter.evolve.axis import Axis
from porter.evolve.candidate import File
from porter.evolve.space import Space


@dataclass(frozen=True, slots=True)
class Agent:
    """Models made ready for a run, and what they have cost so far; the proposers of a run share them.

    `at_once` says of each of these how many requests it may have out, `attempts` after how many without a gain an
    intent of the plan is abandoned. Once `closed`, nothing is asked any more.
    """

    panel: Panel
    ledger: Ledger
    at_once: Mapping[str, int]
    attempts: int
    closed: Event

    def llm(self, task: Task) -> LlmProposer:
        """Asks for programs."""
        return LlmProposer(self.panel, task)

    def plan(self, task: Task) -> PlanProposer:
        """Asks for a plan, then for the programs of its intents, each abandoned after `attempts` without a gain."""
        begin = World(self.attempts, goes_on=True)
        return PlanProposer(ThinkingPlanner(self.panel, task), IntentWriter(self.panel, task), begin, MODEL_PLAN)


def rule_plan(
    space: Space, space_of: Callable[[Sequence[File]], Space], axes: tuple[Axis, ...], tries: int = 3
) -> PlanProposer:
    """A plan without a model, on the spaces that the schedule proposer walks through and the axes of the archive."""
    return PlanProposer(RulePlanner(axes), KnobMaker(space, space_of), World(tries))


def open_agent(models: Models, key_of: Callable[[str], Secret], tell: Callable[[str], None]) -> Agent:
    """The agent that `models` make, with a key for each endpoint. Nothing is asked yet; `tell` will hear of what fails.

    What a recording holds was spent already. Raises `MachineError` where a package is missing, `InputError` for a
    folder without a model.
    """
    ledger, closed = Ledger(models.budget), Event()
    writers = tuple(_writer(one, models, key_of, ledger, tell, closed) for one in models.each)
    at_once = {LlmProposer.name: sum(one.at_once for one in models.each), MODEL_PLAN: 1}
    panel = Panel(writers, tuple(one.weight for one in models.each))
    return Agent(panel, ledger, at_once, models.attempts, closed)


def _writer(  # noqa: PLR0917 - a model, and what all of them share
    one: ModelOptions,
    models: Models,
    key_of: Callable[[str], Secret],
    ledger: Ledger,
    tell: Callable[[str], None],
    closed: Event,
) -> Writer:
    model: Model | None = None if models.replay else _asked(one, key_of, ledger, tell, closed)
    if models.recording:
        spent = recorded_usage(models.recording, one.model)
        ledger.book(spent, one.prices.of(spent))
        model = Recorded(model, models.recording)
    assert model is not None, "a replay has a recording"
    writing = Writing(one.model, one.sampling, one.context_tokens, one.corrections, one.prices)
    return Writer(model, writing, tell)


def _asked(
    one: ModelOptions, key_of: Callable[[str], Secret], ledger: Ledger, tell: Callable[[str], None], closed: Event
) -> Model:
    """The model itself, its tries booked and repeated."""
    if one.local:
        from porter.agent.local import Local  # noqa: PLC0415 - seconds to import

        return Metered(Local.load(Path(one.model)), one.prices, ledger)
    try:
        from porter.agent.endpoint import Endpoint  # noqa: PLC0415 - optional, and half a second to import
    except ImportError:
        raise MachineError("the package 'openai' is not installed", "pip install 'porter[llm]'") from None
    endpoint = Endpoint(one.base_url, key_of(one.base_url), one.timeout_s, one.limit)
    paced = Paced(Metered(endpoint, one.prices, ledger), one.requests_per_minute)
    return Retried(paced, one.backoff, lambda text: tell(f"{one.model}: {text}"), closed)

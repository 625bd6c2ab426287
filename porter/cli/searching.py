"""The options of the commands that search, as one group: what a search may spend, whom it asks, where it evaluates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from porter.cli.console import Console
from porter.cli.options import cores
from porter.cli.search import (
    AxesOption,
    BaseUrlOption,
    EvaluationsOption,
    EvaluatorOption,
    InFlightOption,
    JobsOption,
    ModelOption,
    ModelSetOption,
    ModelsOption,
    PatienceOption,
    RecordingOption,
    ResumeFlag,
    SecondsOption,
    Spending,
    TokensOption,
    asking_of,
    model_of,
    refuse_without_rounds,
)

if TYPE_CHECKING:
    from porter.agent.profile import Profile
    from porter.search.by_model import Asking
    from porter.search.run import SearchOptions


@dataclass(frozen=True)
class Searching:
    """The options of a search; how many rounds it has, and its seed, each command says itself."""

    evaluations: EvaluationsOption = None
    seconds: SecondsOption = None
    tokens: TokensOption = None
    patience: PatienceOption = 15
    jobs: JobsOption = 0
    model: ModelOption = None
    base_url: BaseUrlOption = ""
    models: ModelsOption = None
    model_set: ModelSetOption = None
    recording: RecordingOption = None
    axes: AxesOption = ""
    evaluator: EvaluatorOption = None
    in_flight: InFlightOption = 0
    resume: ResumeFlag = False

    @property
    def workers(self) -> int:
        """Returns how many candidates are evaluated at once."""
        return self.jobs or cores()

    def profile(self) -> Profile | None:
        """Returns the models that are asked; None where none is named. Raises `UsageError` for what makes no sense."""
        return model_of(self.model, self.base_url, self.models, self.model_set, self.recording)

    def asking(self, profile: Profile | None, console: Console) -> Asking | None:
        """Returns what asks a model for a port where porter has none that is right."""
        return asking_of(profile, self.tokens, console)

    def refuse(self) -> None:
        """Raises `UsageError` for an option that is about a search, where there is none."""
        refuse_without_rounds(
            evaluations=self.evaluations, seconds=self.seconds, resume=self.resume, axes=self.axes,
            evaluator=self.evaluator, in_flight=self.in_flight,
        )  # fmt: skip

    def options(self, rounds: int, seed: int | None, profile: Profile | None, console: Console) -> SearchOptions:
        """A search of so many rounds; another seed leads it elsewhere.

        Raises `UsageError` for axes that there are not, and `MachineError` where no server answers.
        """
        from porter.cli.serve import evaluators_at
        from porter.evolve.traits import MECHANISM, checked_preset
        from porter.search.run import SearchOptions

        if profile is not None:
            profile.models(self.tokens)  # raises at once what would be raised when the port is proven
        apart = checked_preset(self.axes or MECHANISM)
        budget = Spending(rounds, self.evaluations, self.seconds, self.tokens, self.patience).budget()
        return SearchOptions(
            budget,
            seed or 0,
            jobs=self.workers,
            model=profile,
            again=self.resume,
            axes=apart,
            tell=console.warn,
            evaluators=evaluators_at(self.evaluator or ()),
            in_flight=self.in_flight,
        )

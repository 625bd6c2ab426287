"""`porter resume`, `porter replay`: a search that goes on, and one that is read again."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from porter.cache_folder import cache_folder
from porter.cli.console import Console
from porter.cli.options import (
    LONGEST_S,
    DebugFlag,
    JsonFlag,
    RunArgument,
    TimeLimitOption,
    cores,
    named_path,
)
from porter.errors import DONE, FELL_SHORT, UsageError

if TYPE_CHECKING:
    from porter.agent.profile import Profile
    from porter.evolve.budget import Budget
    from porter.search.by_model import Asking

RoundsOption = Annotated[
    int, typer.Option("--rounds", metavar="N", min=0, help="Search for a faster port for N rounds; 0 means no search.")
]
EvaluationsOption = Annotated[
    int | None, typer.Option("--evaluations", metavar="N", min=1, help="Stop after this many candidates.")
]
SecondsOption = Annotated[
    float | None,
    typer.Option("--seconds", metavar="S", min=1, max=LONGEST_S, help="Stop the search after this many seconds."),
]
PatienceOption = Annotated[
    int | None,
    typer.Option("--patience", metavar="N", min=1, help="Stop after N rounds without improvement."),
]
TokensOption = Annotated[
    int | None,
    typer.Option("--tokens", metavar="N", min=1, help="Stop after the model has read and written this many tokens."),
]
ModelOption = Annotated[
    list[str] | None,
    typer.Option(
        "--model",
        metavar="NAME",
        help="A language model that ports what porter cannot, and proposes candidates in a search: its name at the "
        "endpoint, or a local folder; repeatable.",
    ),
]
ModelsOption = Annotated[
    Path | None,
    typer.Option("--models", metavar="FILE", parser=named_path, help="A TOML file that describes such models."),
]
ModelSetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--model-set", metavar="KEY=VALUE", help="Change how models are asked, such as temperature=0.2; repeatable."
    ),
]
BaseUrlOption = Annotated[
    str,
    typer.Option(
        "--base-url",
        metavar="URL",
        help="The endpoint of the model, if it is not OpenAI's; the key is read from PORTER_API_KEY.",
    ),
]
RecordingOption = Annotated[
    Path | None,
    typer.Option(
        "--recording",
        metavar="DIR",
        parser=named_path,
        help="Use the answers recorded in an earlier run instead of asking the model.",
    ),
]
AxesOption = Annotated[
    str,
    typer.Option(
        "--axes",
        metavar="NAME",
        help="The traits by which a search sorts programs: mechanism (how they work) or kernel-smith (length, score).",
    ),
]
ResumeFlag = Annotated[bool, typer.Option("--resume", help="Continue the search in the output folder.")]
EvaluatorOption = Annotated[
    list[str] | None,
    typer.Option(
        "--evaluator",
        metavar="URL",
        help="Evaluate candidates on another machine, where `porter serve` runs; its token is read from "
        "PORTER_EVALUATOR_TOKEN. Repeatable: work goes to the least busy, and away from one that is lost. Or on a Ray "
        "cluster: ray://HOST:10001, ray://auto, ray://local.",
    ),
]
InFlightOption = Annotated[
    int,
    typer.Option(
        "--in-flight",
        metavar="N",
        min=0,
        help="Keep N candidates in evaluation, and count outcomes as they come: for many devices. Without it a search "
        "goes round by round, and the same seed leads to the same candidates.",
    ),
]
JobsOption = Annotated[
    int,
    typer.Option(
        "--jobs", metavar="N", min=0, help="Number of candidates evaluated at once; 0 means one for each core."
    ),
]


@dataclass(frozen=True, slots=True)
class Spending:
    """The limits on what a search may spend, as the command line says them."""

    rounds: int
    evaluations: int | None
    seconds: float | None
    tokens: int | None
    patience: int | None

    def budget(self) -> Budget:
        """Returns the limits as a search takes them."""
        from porter.evolve.budget import Budget

        return Budget(self.rounds, self.evaluations, self.seconds, self.tokens, self.patience)


def check_tokens(model: Profile | None, tokens: int | None) -> None:
    """Raises `UsageError` for tokens that belong to no model."""
    if model is None and tokens:
        raise UsageError("--tokens limits a language model, and none is named", "add --model NAME")


def model_words(
    names: list[str] | None, base_url: str, file: Path | None, changes: list[str] | None, tokens: int | None
) -> tuple[str, ...]:
    """The words of a command line that name the same models. Raises `UsageError` for what makes no sense."""
    profile = model_of(names, base_url, file, changes, None)
    if profile is None:
        check_tokens(profile, tokens)
        return ()
    profile.models(tokens)
    repeated = [
        word
        for option, values in (("--model", names), ("--model-set", changes))
        for value in values or ()
        for word in (option, value)
    ]
    single = {
        "--base-url": base_url,
        "--models": "" if file is None else str(file.absolute()),
        "--tokens": tokens or "",
    }
    return (*repeated, *(word for option, value in single.items() if value for word in (option, str(value))))


def asking_of(model: Profile | None, tokens: int | None, console: Console) -> Asking | None:
    """Returns what asks a model for a port where porter has none that is right; None where no model is named.

    Raises `UsageError` for tokens that belong to no model, or within which nothing could be asked.
    """
    check_tokens(model, tokens)
    if model is None:
        return None
    from porter.search.by_model import Asking

    model.models(tokens)
    return Asking(model, tokens, console.warn)


def refuse_without_rounds(**given: object) -> None:
    """Raises `UsageError` for the first option that is `given`: all of these are about a search, and there is none."""
    for name, value in given.items():
        if value:
            raise UsageError(
                f"--{name.replace('_', '-')} applies to a search, and none was asked for", "add --rounds N"
            )


def model_of(
    names: list[str] | None, base_url: str, file: Path | None, changes: list[str] | None, recording: Path | None
) -> Profile | None:
    """The models that are asked: folders of `transformers`, or what an endpoint calls so; none where none is named.

    `recording` alone answers where it is given: nothing goes over the network.
    """
    from dataclasses import replace

    from porter.agent.profile import named_profile

    profile = named_profile(names or (), base_url, file, changes or ())
    if profile is None and recording is not None:
        raise UsageError("--recording replaces the answers of a language model, and none is named", "add --model NAME")
    return profile and replace(profile, recording=recording)


def resume(
    context: typer.Context,
    run: RunArgument,
    rounds: RoundsOption = 40,
    evaluations: EvaluationsOption = None,
    seconds: SecondsOption = None,
    tokens: TokensOption = None,
    patience: PatienceOption = 15,
    jobs: JobsOption = 0,
    model: ModelOption = None,
    base_url: BaseUrlOption = "",
    models: ModelsOption = None,
    model_set: ModelSetOption = None,
    time_limit: TimeLimitOption = 20.0,
    evaluator: EvaluatorOption = None,
    json: JsonFlag = False,
    debug: DebugFlag = False,
) -> int:
    """Continue a search; --model and --base-url ask another model."""
    from porter.cli.serve import evaluators_at
    from porter.evaluate.model.migration import MigrateOptions
    from porter.report.search.improved import improved_document, improved_text
    from porter.search.run import resume as go_on

    console: Console = context.obj
    options = MigrateOptions(
        target="", cache=cache_folder(), time_limit_s=time_limit, seed=0, environment=dict(os.environ)
    )
    budget = Spending(rounds, evaluations, seconds, tokens, patience).budget()
    profile = model_of(model, base_url, models, model_set, None)
    place = evaluators_at(evaluator or ())
    with console.progress() as step:
        improved = go_on(run, options, budget, jobs or cores(), step, profile, console.warn, place)
    console.document(improved_document(improved)) if json else console.show(improved_text(improved))
    return DONE if improved.best is not None else FELL_SHORT


def replay(context: typer.Context, run: RunArgument, json: JsonFlag = False, debug: DebugFlag = False) -> int:
    """Check a search's journal: derive every decision again, without running anything."""
    from porter.report.search.improved import improved_document, improved_text
    from porter.search.run import read

    console: Console = context.obj
    improved = read(run)
    console.document(improved_document(improved)) if json else console.show(improved_text(improved))
    return DONE

"""`porter train`: models from what was measured."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from porter.cli.console import Console
from porter.cli.options import DebugFlag, JsonFlag, named_path
from porter.errors import DONE, UsageError

if TYPE_CHECKING:
    from porter.learn.rewards import Reward

train = typer.Typer(name="train", help="Train a model on what was measured.", no_args_is_help=True)

TableArgument = Annotated[
    Path, typer.Argument(metavar="TABLE", parser=named_path, help="A table of measured schedules.")
]
ModelOption = Annotated[
    Path, typer.Option("--out", "-o", metavar="MODEL", parser=named_path, help="Write the model to this file, as JSON.")
]
SeedOption = Annotated[int, typer.Option("--seed", metavar="N", min=0, help="Another seed makes another model.")]


@train.command()
def schedules(
    context: typer.Context,
    table: TableArgument,
    out: ModelOption,
    seed: SeedOption = 0,
    json: JsonFlag = False,
    debug: DebugFlag = False,
) -> int:
    """Train the small model that says which schedules to try first; seconds on a CPU."""
    from porter.learn.landscape import tabular
    from porter.learn.schedule_model import save, trained
    from porter.learn.table import read_table
    from porter.report.learning.steps import model_document, model_text

    console: Console = context.obj
    read = read_table(table)
    landscapes = tabular(read)
    model = trained(landscapes, seed, about={**read.about, "table": table.name, "seed": str(seed)})
    save(model, out)
    if console.json:
        console.document(model_document(model, landscapes, out))
    else:
        console.show(model_text(model, landscapes, out))
    return DONE


StepsArgument = Annotated[Path, typer.Argument(metavar="STEPS", parser=named_path, help="A file of `porter steps`.")]
BaseOption = Annotated[
    Path, typer.Option("--model", metavar="DIR", parser=named_path, help="A folder with a transformers model.")
]
FolderOption = Annotated[
    Path, typer.Option("--out", "-o", metavar="DIR", parser=named_path, help="Write the tuned model to this folder.")
]
EpochsOption = Annotated[float, typer.Option("--epochs", metavar="N", min=0, help="How often each step is seen.")]
RateOption = Annotated[float, typer.Option("--learning-rate", metavar="R", min=0, help="How far each update goes.")]
BatchOption = Annotated[int, typer.Option("--batch", metavar="N", min=1, help="Examples on the device at once.")]
TokensOption = Annotated[
    int, typer.Option("--most-tokens", metavar="N", min=1, help="Leave out steps that are longer.")
]
RankOption = Annotated[
    int, typer.Option("--lora-rank", metavar="N", min=0, help="Learn changes of this rank alone; 0: all weights.")
]


@train.command()
def sft(
    context: typer.Context,
    steps: StepsArgument,
    model: BaseOption,
    out: FolderOption,
    epochs: EpochsOption = 1.0,
    learning_rate: RateOption = 2e-5,
    batch: BatchOption = 1,
    most_tokens: TokensOption = 32_768,
    lora_rank: RankOption = 0,
    seed: SeedOption = 0,
    json: JsonFlag = False,
    debug: DebugFlag = False,
) -> int:
    """Fine-tune a language model on steps; the folder it writes goes back in as --model of a search."""
    from porter.learn.finetuning import Recipe, tune
    from porter.learn.step_files import read_steps
    from porter.report.learning.steps import tuned_document, tuned_text

    console: Console = context.obj
    recipe = Recipe(epochs, learning_rate, batch, most_tokens=most_tokens, lora_rank=lora_rank, seed=seed)
    tuned = tune(read_steps(steps), model, out, recipe)
    console.document(tuned_document(tuned)) if console.json else console.show(tuned_text(tuned))
    return DONE


RunsOption = Annotated[
    Path, typer.Option("--runs", metavar="DIR", parser=named_path, help="A folder below which the searches lie.")
]
RewardOption = Annotated[
    str,
    typer.Option("--reward", metavar="NAME", help="gain over the best program in the prompt, or ratio to the parent."),
]
UpdatesOption = Annotated[int, typer.Option("--updates", metavar="N", min=1, help="Updates of the weights.")]
RepliesOption = Annotated[int, typer.Option("--replies", metavar="N", min=2, help="Replies to each prompt.")]
ReplyTokensOption = Annotated[int, typer.Option("--reply-tokens", metavar="N", min=1, help="The longest reply.")]


@train.command()
def grpo(
    context: typer.Context,
    steps: StepsArgument,
    runs: RunsOption,
    model: BaseOption,
    out: FolderOption,
    reward: RewardOption = "gain",
    updates: UpdatesOption = 200,
    replies: RepliesOption = 8,
    reply_tokens: ReplyTokensOption = 8192,
    most_tokens: TokensOption = 32_768,
    learning_rate: RateOption = 1e-6,
    seed: SeedOption = 0,
    json: JsonFlag = False,
    debug: DebugFlag = False,
) -> int:
    """Let a language model practise on the prompts of steps: its replies are executed and judged."""
    from porter.cli.reward import compute_score
    from porter.learn.reinforcement import Practice, practise
    from porter.learn.runs import runs_below
    from porter.learn.step_files import read_steps
    from porter.report.learning.steps import practised_document, practised_text

    console: Console = context.obj
    practice = Practice(updates, replies, most_tokens, reply_tokens, learning_rate, seed=seed)
    practised = practise(
        read_steps(steps),
        runs_below(runs),
        model,
        out,
        kind=_reward(reward),
        practice=practice,
        score=lambda reply, asked: compute_score("porter", reply, asked),
    )
    console.document(practised_document(practised)) if console.json else console.show(practised_text(practised))
    return DONE


def _reward(name: str) -> Reward:
    from porter.learn.rewards import Reward

    try:
        return Reward(name)
    except ValueError:
        raise UsageError(f"--reward {name}: there is none", f"the rewards are {', '.join(Reward)}") from None

"""Supervised fine-tuning of a causal language model on steps: it learns the reply that made each of their programs.

TRL's `SFTTrainer` does the work (`pip install 'porter[train]'`). A prompt becomes the very tokens with which
`porter.agent.local` asks, and only the reply counts in the loss.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from porter.errors import InputError, MachineError
from porter.learn.steps import Step

_LOG = "training.json"
_NOT_LEARNT = -100  # the label of a token that does not count in the loss


@dataclass(frozen=True, slots=True)
class Recipe:
    """The way a model is tuned; the defaults are those of Kernel-Smith's kind, one device at a time.

    Examples longer than `most_tokens` are left out, never cut. With a `lora_rank` only low-rank changes are learnt
    (PEFT), and merged into the weights at the end. A training that was broken off goes on at its last epoch.
    """

    epochs: float = 1.0
    learning_rate: float = 2e-5
    batch: int = 1
    accumulate: int = 8
    most_tokens: int = 32_768
    lora_rank: int = 0
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Example:
    """The tokens of a prompt, and those of the reply."""

    prompt: tuple[int, ...]
    reply: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Tuned:
    """The result of a training: how many examples it saw, how many were left out and why, and the loss on the way."""

    examples: int
    left_out: Mapping[str, int]
    losses: tuple[float, ...]
    folder: Path


def tune(steps: Sequence[Step], model: Path, out: Path, recipe: Recipe) -> Tuned:
    """Write the model in the folder `model`, tuned on `steps`, to `out`, which `--model` takes.

    Raises `InputError` where `model` holds none or no step has a prompt and an edit, `MachineError` without TRL.
    """
    trl, datasets = library("trl"), library("datasets")
    network, tokenizer = loaded(model)
    found, left_out = examples(steps, tokenizer, recipe.most_tokens)
    if not found:
        because = ", ".join(f"{count} {why}" for why, count in left_out.items())
        raise InputError(f"none of {len(steps)} steps can be learnt from: {because or 'there are none'}")
    rows = [
        {"input_ids": [*one.prompt, *one.reply], "labels": [_NOT_LEARNT] * len(one.prompt) + list(one.reply)}
        for one in found
    ]
    trainer = trl.SFTTrainer(
        model=network,
        args=trl.SFTConfig(**_arguments(out, recipe)),
        train_dataset=datasets.Dataset.from_list(rows),
        processing_class=tokenizer,
        peft_config=_low_rank(recipe),
    )
    silence(trainer)
    trainer.train(resume_from_checkpoint=any(out.glob("checkpoint-*")))
    tuned = trainer.model.merge_and_unload() if recipe.lora_rank else trainer.model
    tuned.save_pretrained(out)
    tokenizer.save_pretrained(out)
    losses = tuple(float(row["loss"]) for row in trainer.state.log_history if "loss" in row)
    log = {"examples": len(found), "left_out": dict(left_out), "losses": losses}
    (out / _LOG).write_text(json.dumps(log, indent=1) + "\n")
    return Tuned(len(found), left_out, losses, out)


def examples(steps: Sequence[Step], tokenizer: Any, most_tokens: int) -> tuple[list[Example], dict[str, int]]:  # noqa: ANN401
    """Returns the steps that can be learnt from as tokens of `tokenizer`, and how many cannot, by the reason."""
    from porter.agent.local import prompt_ids  # noqa: PLC0415 - seconds to import

    found: list[Example] = []
    left_out: dict[str, int] = {}
    for step in steps:
        reply = (*tokenizer(step.action.edit, add_special_tokens=False)["input_ids"], tokenizer.eos_token_id)
        prompt = tuple(prompt_ids(tokenizer, step.situation.prompt)) if step.situation.prompt else ()
        if because := _unfit(step, len(prompt) + len(reply), most_tokens):
            left_out[because] = left_out.get(because, 0) + 1
        else:
            found.append(Example(prompt, reply))
    return found, left_out


def _unfit(step: Step, tokens: int, most_tokens: int) -> str:
    if not step.situation.prompt:
        return "without a prompt"
    if not step.action.edit:
        return "without an edit"
    return f"longer than {most_tokens} tokens" if tokens > most_tokens else ""


def loaded(folder: Path) -> tuple[Any, Any]:
    """Returns the model and the tokenizer in `folder`, ready to be trained. Raises `InputError` where there is none."""
    from porter.agent.local import Local  # noqa: PLC0415 - seconds to import

    local = Local.load(folder)
    network, tokenizer = local.network, local.tokenizer
    network.to(dtype=import_module("torch").float32)
    padding, known = tokenizer.pad_token_id, network.get_input_embeddings().num_embeddings
    if not isinstance(padding, int) or padding >= known:  # some tokenizers bring one that the model was not made for
        tokenizer.pad_token = tokenizer.eos_token
    return network, tokenizer


def _arguments(out: Path, recipe: Recipe) -> Mapping[str, object]:
    """Returns what TRL is told; what it would do by itself on a GPU or for a hub is off."""
    has_gpu = import_module("torch").cuda.is_available()
    return {
        "output_dir": str(out),
        "num_train_epochs": recipe.epochs,
        "learning_rate": recipe.learning_rate,
        "per_device_train_batch_size": recipe.batch,
        "gradient_accumulation_steps": recipe.accumulate,
        "max_length": None,
        "seed": recipe.seed,
        "data_seed": recipe.seed,
        "logging_steps": 1,
        "save_strategy": "epoch",
        "save_total_limit": 1,
        "report_to": "none",
        "bf16": has_gpu,
        "use_cpu": not has_gpu,
        "dataloader_pin_memory": has_gpu,
        "disable_tqdm": True,
    }


def _low_rank(recipe: Recipe) -> object:
    if not recipe.lora_rank:
        return None
    peft = library("peft")
    return peft.LoraConfig(
        r=recipe.lora_rank, lora_alpha=2 * recipe.lora_rank, target_modules="all-linear", task_type="CAUSAL_LM"
    )


def silence(trainer: Any) -> None:  # noqa: ANN401 - TRL's
    """Keep a trainer from printing to standard output, which is the command's."""
    trainer.remove_callback(import_module("transformers.trainer_callback").PrinterCallback)


def library(name: str) -> ModuleType:
    """Returns a module that training needs. Raises `MachineError`, which says how it is installed."""
    try:
        return import_module(name)
    except ImportError:
        raise MachineError(f"the package '{name}' is not installed", "pip install 'porter[train]'") from None

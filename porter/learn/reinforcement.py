"""Reinforcement learning on steps: the model replies to their prompts, and what it wrote is judged (GRPO, by TRL).

Several replies to one prompt are compared with each other; one is worth what the judge of its search says. With all
rewards of a group equal nothing is learnt from it: begin with a model that was tuned on steps.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from porter.agent.question import Message
from porter.errors import InputError
from porter.learn.finetuning import library, loaded, silence
from porter.learn.judging import exam
from porter.learn.rewards import Reward
from porter.learn.steps import Step

_LOG = "training.json"
_MOST_SEED = 2**31


@dataclass(frozen=True, slots=True)
class Practice:
    """The way a model practises: `replies` to each prompt, each at most `reply_tokens`, for `updates` of its weights.

    Prompts longer than `prompt_tokens` are left out. `divergence` holds it near what it was (KL), 0 not at all.
    """

    updates: int = 200
    replies: int = 8
    prompt_tokens: int = 32_768
    reply_tokens: int = 8_192
    learning_rate: float = 1e-6
    temperature: float = 1.0
    divergence: float = 0.0
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Practised:
    """The result of practice: prompts, how many were left out, and the mean reward of each update."""

    prompts: int
    left_out: Mapping[str, int]
    rewards: tuple[float, ...]
    folder: Path


def practise(
    steps: Sequence[Step],
    runs: Mapping[str, Path],
    model: Path,
    out: Path,
    *,
    kind: Reward,
    practice: Practice,
    score: Callable[[str, str], float],
) -> Practised:
    """Write the model in the folder `model` to `out`, after it practised on the prompts of `steps`.

    `runs` has the folders of their searches by `Work.run`; `score` gives the reward of a reply by an exam. Raises
    `InputError` where there is no prompt whose search is there, `MachineError` without TRL.
    """
    trl, datasets = library("trl"), library("datasets")
    network, tokenizer = loaded(model)
    tokenizer.padding_side = "left"
    rows, left_out = _rows(steps, runs, kind, lambda text: len(tokenizer(text)["input_ids"]) <= practice.prompt_tokens)
    if not rows:
        because = ", ".join(f"{count} {why}" for why, count in left_out.items())
        raise InputError(f"none of {len(steps)} steps can be practised on: {because or 'there are none'}")

    def reward(completions: Sequence[object], ground_truth: Sequence[str], **_: object) -> list[float]:
        return [score(_text(one), asked) for one, asked in zip(completions, ground_truth, strict=True)]

    trainer = trl.GRPOTrainer(
        model=network,
        reward_funcs=[reward],
        args=trl.GRPOConfig(**_arguments(out, practice)),
        train_dataset=datasets.Dataset.from_list(rows),
        processing_class=tokenizer,
    )
    silence(trainer)
    trainer.train()
    trainer.model.save_pretrained(out)
    tokenizer.save_pretrained(out)
    rewards = tuple(float(row["reward"]) for row in trainer.state.log_history if "reward" in row)
    log = {"prompts": len(rows), "left_out": left_out, "rewards": rewards}
    (out / _LOG).write_text(json.dumps(log, indent=1) + "\n")
    return Practised(len(rows), left_out, rewards, out)


def _rows(
    steps: Sequence[Step], runs: Mapping[str, Path], kind: Reward, fits: Callable[[str], bool]
) -> tuple[list[dict[str, object]], dict[str, int]]:
    """Returns a row for each different prompt, and how many steps have none, by the reason."""
    rows: dict[tuple[Message, ...], dict[str, object]] = {}
    left_out: dict[str, int] = {}
    for step in steps:
        prompt = step.situation.prompt
        because = ""
        if not prompt or step.situation.parent is None:
            because = "without a prompt"
        elif step.work.run not in runs:
            because = "of a search that is not there"
        elif not fits("\n".join(message.text for message in prompt)):
            because = "with a prompt that is too long"
        if because:
            left_out[because] = left_out.get(because, 0) + 1
            continue
        turns = [{"role": message.role.value, "content": message.text} for message in prompt]
        rows.setdefault(prompt, {"prompt": turns, "ground_truth": exam(step, runs[step.work.run], kind)})
    return list(rows.values()), left_out


def _text(completion: object) -> str:
    """Returns what a model wrote: TRL hands over text, or the turns of a conversation."""
    if isinstance(completion, list):
        return "".join(str(turn["content"]) for turn in completion)
    return str(completion)


def _arguments(out: Path, practice: Practice) -> Mapping[str, object]:
    has_gpu = library("torch").cuda.is_available()
    return {
        "output_dir": str(out),
        "max_steps": practice.updates,
        "per_device_train_batch_size": practice.replies,
        "num_generations": practice.replies,
        "max_completion_length": practice.reply_tokens,
        "learning_rate": practice.learning_rate,
        "temperature": practice.temperature,
        "beta": practice.divergence,
        "seed": practice.seed,
        "data_seed": practice.seed,
        "logging_steps": 1,
        "save_strategy": "no",
        "report_to": "none",
        "bf16": has_gpu,
        "use_cpu": not has_gpu,
        "dataloader_pin_memory": has_gpu,
        "disable_tqdm": True,
    }

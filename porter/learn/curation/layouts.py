"""Tasks as rows in the layouts of two public data sets, Kernel-Smith's RL-2K and SFT-71K, and back.

The first asks a model to better a program by rewards, the second to write one. Nobody has answered yet: its messages
end with the question.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypedDict

from porter.learn.curation.record_files import write_records
from porter.learn.curation.writing import Task

RL_FILE, SFT_FILE = "rl.jsonl", "sft.jsonl"
_SOURCE = "kernel_rl"
_SYSTEM = (
    "You write GPU kernels in Triton. You are given a PyTorch module, and answer with a Python file that defines "
    "`ModelNew`, which is built and called as `Model` is, gives the same results within rounding, and is faster."
)
_QUESTION = "Replace the computation of this module by kernels in Triton:\n\n```python\n{code}```\n"


class Message(TypedDict):
    """One message of a chat."""

    role: str
    content: str


class Reward(TypedDict):
    """The reward of an answer; `ground_truth` is JSON with the module."""

    style: str
    ground_truth: str


class Extra(TypedDict):
    """Other facts of a task."""

    index: str
    entry_point: str
    parent_code: str
    family: str
    origin: str
    file: str


class RlRow(TypedDict):
    """A row of RL-2K's layout, which is verl's with `message` for `prompt`."""

    data_source: str
    message: list[Message]
    ability: str
    reward_model: Reward
    extra_info: Extra


class SftRow(TypedDict):
    """A row of SFT-71K's layout."""

    _id: str
    messages: list[Message]


def write_layouts(tasks: Sequence[Task], out: Path) -> None:
    """Writes both files below `out`."""
    write_records((rl_row(task) for task in tasks), out / RL_FILE)
    write_records((sft_row(task) for task in tasks), out / SFT_FILE)


def rl_row(task: Task) -> RlRow:
    """Returns a task as a row for rewards. There is no program to start from but the module itself."""
    truth = {"reference_code": task.text, "entry_point": "Model"}
    return RlRow(
        data_source=_SOURCE,
        message=_messages(task),
        ability="kernel",
        reward_model=Reward(style="rule", ground_truth=json.dumps(truth)),
        extra_info=Extra(
            index=task.key,
            entry_point="Model",
            parent_code=task.text,
            family=task.family,
            origin=task.origin,
            file=task.file,
        ),
    )


def task_of_rl(row: RlRow) -> Task:
    """Returns the task of which `rl_row` made a row. Raises `ValueError` where it is of another layout."""
    try:
        truth: Mapping[str, str] = json.loads(row["reward_model"]["ground_truth"])
        extra = row["extra_info"]
        return Task(extra["index"], extra["file"], truth["reference_code"], extra["family"], extra["origin"])
    except (KeyError, TypeError) as error:
        raise ValueError(f"no row of this layout: {error} is missing") from error


def sft_row(task: Task) -> SftRow:
    """Returns a task as a question to be answered."""
    return SftRow(_id=task.key, messages=_messages(task))


def code_of_sft(row: SftRow) -> str:
    """Returns the module that a row asks about. Raises `ValueError` where it is of another layout."""
    try:
        asked = row["messages"][1]["content"]
    except (KeyError, IndexError, TypeError) as error:
        raise ValueError(f"no row of this layout: {error}") from error
    before, _, after = _QUESTION.partition("{code}")
    return asked.removeprefix(before).removesuffix(after)


def _messages(task: Task) -> list[Message]:
    return [
        Message(role="system", content=_SYSTEM),
        Message(role="user", content=_QUESTION.format(code=task.text)),
    ]

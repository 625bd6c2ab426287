"""Steps put through one filter after the other, and how many are left after each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from porter.learn.selection import (
    Choice,
    balanced,
    difficulties,
    distinct,
    held_out,
    is_right_and_faster,
    select_steps,
)
from porter.learn.steps import Step


@dataclass(frozen=True, slots=True)
class Sieve:
    """The steps to keep: those of `choice`; with `better` those alone that are right and better than their parents.

    Of each category and difficulty at most `most` are kept, and none about an operator whose CUDA source is in
    `held_out`.
    """

    choice: Choice = Choice.ALL
    min_gain: float = 0.05
    better: bool = False
    most: int | None = None
    held_out: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Sieved:
    """The steps that are left, the number left after each filter, and the searches left out for an operator."""

    steps: Sequence[Step]
    counts: Mapping[str, int]
    left_out: Mapping[str, str]


def sieve(steps: Sequence[Step], wanted: Sieve) -> Sieved:
    """Returns what of all the `steps` of searches is left."""
    counts = {"steps": len(steps)}
    difficulty = difficulties(steps)
    kept, left_out = held_out(steps, wanted.held_out)
    if wanted.held_out:
        counts["of other operators than those held out"] = len(kept)
    kept = select_steps(kept, wanted.choice, wanted.min_gain)
    counts[f"chosen ({wanted.choice})"] = len(kept)
    if wanted.better:
        kept = [step for step in kept if is_right_and_faster(step)]
        counts["right and better than their parents"] = len(kept)
    kept = distinct(kept)
    counts["different programs"] = len(kept)
    if wanted.most is not None:
        kept = balanced(kept, wanted.most, difficulty)
        counts["after balancing"] = len(kept)
    return Sieved(kept, counts, left_out)

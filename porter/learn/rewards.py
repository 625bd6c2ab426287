"""Says what a step is worth to a model that learns from it. Nothing that is not verified is worth anything.

There are two rewards: the ratio to the parent, as Kernel-Smith has it (arXiv 2603.28342), and the gain over the best
program in the prompt, which a copy of that program does not earn. Scores are factors over the seed of one search, so
both are ratios of times, or of modelled costs.
"""

from __future__ import annotations

from enum import StrEnum

MOST_RATIO = 5.0  # above that an improvement is as good as any: a poor parent makes it no better


class Reward(StrEnum):
    """The kind of reward that is meant."""

    RATIO = "ratio"
    GAIN = "gain"


def ratio_to_parent(child: float, parent: float, most: float = MOST_RATIO) -> float:
    """Returns how many times as good as its parent a child is, at most `most`; a parent that is not right counts as
    the seed. All three are factors over the seed, 0 for what is not verified.
    """
    return min(child / (parent or 1.0), most)


def gain_over_best(child: float, best: float, most: float = MOST_RATIO) -> float:
    """Returns by what share a child is better than the best program in its prompt, at most `most`; else 0."""
    return min(max(0.0, child / best - 1.0), most)


def reward(kind: Reward, child: float, parent: float, best: float) -> float:
    """Returns the reward of a child that is worth `child`; 0 for one that is not verified."""
    if child <= 0:
        return 0.0
    return ratio_to_parent(child, parent) if kind is Reward.RATIO else gain_over_best(child, best)

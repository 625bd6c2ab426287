"""The reward as trainers call it in processes of their own: verl by `custom_reward_function.path`, which is this file.

`ground_truth` is what `porter.learn.judging.exam` makes of a step. Replies are executed beside the original, confined,
as candidates of a search are.
"""

from __future__ import annotations

import atexit
import os
from collections.abc import Mapping
from functools import cache

from porter.cache_folder import cache_folder
from porter.evaluate.model.migration import MigrateOptions
from porter.learn.judging import Judges


@cache
def _judges() -> Judges:
    """Returns the judges of this process, whose own processes end with it."""
    found = Judges(MigrateOptions(target="", cache=cache_folder(), seed=0, environment=dict(os.environ)))
    atexit.register(found.close)
    return found


def compute_score(
    data_source: str, solution_str: str, ground_truth: str, extra_info: Mapping[str, object] | None = None
) -> float:
    """Returns the reward of the reply `solution_str`; 0 where it makes no program that is verified.

    Raises `InputError` where `ground_truth` is no exam, or its search is not there.
    """
    return _judges().reward(solution_str, ground_truth)

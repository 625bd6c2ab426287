"""A run as it was before its ports were searched for better ones: by times that were sampled in turn with theirs."""

from __future__ import annotations

from dataclasses import replace

from porter.suite.result import Result, SuiteResult

SEED = "seed"  # what a search began with, as a baseline


def before(result: SuiteResult) -> SuiteResult | None:
    """With the speedups of the ports that searches began with; None where nothing was timed beside one."""
    if not any(SEED in one.speedups for one in result.results):
        return None
    return replace(result, results=tuple(_before(one) for one in result.results))


def _before(one: Result) -> Result:
    """Returns the result with the times of the first port; where there is no other, that is what was timed."""
    gain = one.speedups.get(SEED, 1.0)
    speedups = {name: speedup / gain for name, speedup in one.speedups.items() if name != SEED}
    return replace(one, speedups=speedups, share_of_limit=one.share_of_limit and one.share_of_limit / gain)

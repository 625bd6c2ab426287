"""Chooses among the schedules of a formula by times, where there is anything to gain by that."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from porter.errors import PorterError
from porter.evaluate.migration import MigrateOptions, Migration, Progress
from porter.evaluate.speed import Measured
from porter.evolve.finish import finished
from porter.evolve.run import Improved, SearchOptions, improve
from porter.evolve.subject import beginning_of
from porter.measure.stages import Stage, Stages

# Of a copy's bandwidth. The choice made 23 ports that reached it 0.4 % faster on the mean and 2.2 % at most, and 11
# others 1.4 % and 6 % (kernelbench, H200).
_ENOUGH = 0.95


def chosen(
    migration: Migration, options: MigrateOptions, wanted: SearchOptions, run: Path, progress: Progress
) -> tuple[Migration, Improved | None]:
    """Returns the migration timed, with a faster schedule if `wanted` found one in the folder `run`.

    A port that moves its tensors about as fast as a copy does keeps its schedule, and so does one of which the search
    fails; both say so.
    """
    timed, _ = finished(migration, None, options, progress)
    share = _share_of_limit(timed)
    if share is not None and share >= _ENOUGH:
        return _because(
            timed, f"no other schedule was timed: it moves its tensors at {share:.0%} of a copy's bandwidth"
        ), None
    within = replace(options, stages=Stages())
    try:
        with options.stages.of(Stage.SEARCH):
            found = improve(beginning_of(migration, within), within, wanted, run, progress)
    except PorterError as error:
        return _because(timed, f"the choice among its schedules failed: {error.message}"), None
    return finished(migration, found, options, progress) if found.is_better else (timed, found)


def _share_of_limit(migration: Migration) -> float | None:
    """Returns the least share of a copy's bandwidth that a timed workload reaches; None if an entry has no time."""
    speeds = [entry.speeds for entry in migration.entries]
    shares = [one.share_of_limit if isinstance(one, Measured) else 0.0 for some in speeds for one in some]
    return min(shares) if shares and all(speeds) else None


def _because(migration: Migration, why: str) -> Migration:
    """Returns the migration, which also says why its port keeps the schedule that was chosen without times."""
    assert migration.followed is not None
    because = f"{migration.followed.because}; {why}"
    return replace(migration, followed=replace(migration.followed, because=because))

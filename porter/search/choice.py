"""Chooses by times among the schedules of a formula and the source's own kernels, where anything is to be gained."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice

from porter.backend import Backend, Follow, Port, Target
from porter.diagnostics.findings import Severity
from porter.errors import PorterError
from porter.evaluate.formula.scheduled import Formula
from porter.evaluate.model.migration import Followed, MigrateOptions, Migration, Progress
from porter.evaluate.model.outcome import Equal, Verified
from porter.evaluate.model.speed import Measured
from porter.evolve.scored import Score
from porter.evolve.scoring.subject import Subject
from porter.evolve.scoring.timed import timed_scorer
from porter.registry import find_backend
from porter.schedule.polynomial import NotSchedulableError
from porter.search.finish import proven_again, with_times
from porter.search.run import formula_of_subject
from porter.translation_unit import TranslationUnit, original_unit
from porter.writing.counting import counted

# Of a copy's bandwidth. The choice made 23 ports that reached it 0.4 % faster on the mean and 2.2 % at most, and 11
# others 1.4 % and 6 % (kernelbench, H200).
_ENOUGH = 0.95
# The schedule that a port begins with is within 3 % of the best of a hundred for most operators (kernelbench, H100).
# Of 12 that were timed beside four others three got one that was 4, 6 and 32 % faster (kernelbench, H200).
_OTHERS = 4
_KERNELS = "the port that follows its kernels"
_SLOW = 0.5  # of a copy's bandwidth: above it the kernels' port was never faster where both were timed (H200)
_GAIN = 1.01  # what a schedule has to be faster by: it is proven for it, and timed once more beside all baselines


def chosen(migration: Migration, options: MigrateOptions, progress: Progress) -> Migration:
    """Returns the migration timed, with the fastest of up to four other schedules in its place if one is faster.

    Where it moves its tensors at less than half of a copy's bandwidth so is the port that follows the kernels: if no
    schedule suits, that may be several times as fast. A port about as fast as a copy keeps its schedule, and so does
    one for which the choice fails; the migration says why its port has the schedule it has.
    """
    timed = with_times(migration, None, options, progress)
    share = _share_of_limit(timed)
    if share is not None and share >= _ENOUGH:
        return _because(
            timed, f"nothing else was timed beside it: it moves its tensors at {share:.0%} of a copy's bandwidth"
        )
    try:
        ports, scores = _compared(timed, options, progress, is_slow=share is None or share < _SLOW)
    except PorterError as error:
        return _because(timed, f"the choice among its schedules failed: {error.message}")
    if not scores:
        return _because(timed, "nothing else could be timed beside it")
    words, best = max(scores.items(), key=lambda pair: pair[1].rank)
    if best.low < _GAIN:
        return _because(timed, _kept(scores))
    return _replaced(timed, words, ports[words], best, options, progress)


def _kept(scores: Mapping[str, Score]) -> str:
    """Returns why a port keeps its schedule, where none of `scores` is of a faster one."""
    count = len(scores.keys() - {_KERNELS})
    others = counted(count, "other schedule")
    said = [f"it was timed beside {others}, none 1 % faster"] if count else []
    if _KERNELS in scores:
        said.append(f"{_KERNELS} was {scores[_KERNELS].factor:.3f} times as fast")
    return "; ".join(said)


def _replaced(  # noqa: PLR0917 - what is replaced, by what, and why
    timed: Migration, words: str, port: Port, score: Score, options: MigrateOptions, progress: Progress
) -> Migration:
    """Returns the migration with `port` in its place, proven and timed beside the first, if it is found right."""
    better = proven_again(timed, port.files, options, progress)
    said = f"{words}, was {score.factor:.3f} times as fast as its first"
    if not isinstance(better.outcome, Verified):
        return _because(timed, f"another, {said}, but was {better.outcome.label} when proven")
    assert timed.followed is not None
    followed = Followed(Follow.FORMULA, f"{timed.followed.because}; its schedule, {said}")
    if words == _KERNELS:
        followed = Followed(Follow.KERNELS, f"that was {score.factor:.3f} times as fast as the port from its formula")
    judged = replace(options, seed=options.seed or 0)
    return with_times(replace(better, followed=followed), Port(timed.files, ()), judged, progress)


def _compared(
    migration: Migration, options: MigrateOptions, progress: Progress, *, is_slow: bool
) -> tuple[Mapping[str, Port], Mapping[str, Score]]:
    """Returns what is compared with the migration's port, in words, and how many times as fast each is.

    These are up to four ports with other schedules, and for one that `is_slow` the port that follows the kernels.
    Raises `PorterError` where nothing could be timed.
    """
    contracts = tuple(e.contract for e in migration.entries if isinstance(e.outcome, Equal) and not e.choice)
    original = original_unit(migration.program, options.include_dirs, options.defines)
    subject = Subject(original, Port(migration.files, ()), migration.target, contracts, options)
    backend = find_backend(migration.target.backend)
    ports = _following_kernels(original, migration.target, backend) if is_slow else {}
    formula = formula_of_subject(subject, progress)
    ports |= dict(islice(_others(formula, migration), _OTHERS)) if formula is not None else {}
    if not ports:
        return {}, {}
    progress("timing it beside other ports")
    with timed_scorer(subject, backend, own=True) as scorer:
        return ports, scorer.compared(ports)


def _following_kernels(original: TranslationUnit, target: Target, backend: Backend) -> dict[str, Port]:
    """Returns the port that follows the kernels, if it is whole."""
    port = backend.port(original.program, tuple(header for _, header in original.headers), target)
    is_whole = not port.is_empty and all(f.severity is not Severity.ERROR for f in port.findings)
    return {_KERNELS: port} if is_whole else {}


def _others(formula: Formula, migration: Migration) -> Iterator[tuple[str, Port]]:
    """Yields the ports with other schedules, each text once, the most promising first."""
    seen = [[file.text for file in migration.files]]
    for schedule in formula.schedules:
        try:
            port = formula.port(schedule)
        except NotSchedulableError:
            continue
        texts = [file.text for file in port.files]
        if texts not in seen:
            seen.append(texts)
            yield str(schedule), port


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

"""Replaces the port that a search began with by the one it found: proven as a port is, and timed beside the old one."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

from porter.backend import Follow, Port, PortedFile
from porter.contract.model.contract import Contract
from porter.evaluate.judge.calling import Called
from porter.evaluate.migrate import proven
from porter.evaluate.model.migration import Followed, MigrateOptions, Migration, Progress
from porter.evaluate.model.outcome import Verified
from porter.evaluate.timing.baselines import Baselines, of_cuda
from porter.evaluate.timing.speeds import Subject, timed_if_possible
from porter.evolve.proposer import Member
from porter.evolve.proposing.formula import NAME as FORMULA
from porter.evolve.settings import SEED
from porter.measure.stages import Stage
from porter.native.place import Place
from porter.native.session import Session
from porter.native.timed import Timed
from porter.registry import find_backend
from porter.search.by_model import signed
from porter.search.run import Improved
from porter.translation_unit import original_unit

_SEARCHED = "is the best that the search found"


def finished(
    migration: Migration, improved: Improved | None, options: MigrateOptions, progress: Progress
) -> tuple[Migration, Improved | None]:
    """Returns the migration with the best candidate as its port, proven and timed, and says how that went.

    The port stays where nothing is better, or where the best is not found right, which `improved` then says.
    """
    if improved is None or improved.best is None or not improved.is_better:
        return with_times(migration, None, options, progress), improved
    better = signed(_held(migration, improved.best, options, progress), migration.written_by)
    if not isinstance(better.outcome, Verified):
        because = f"its best, {improved.best.scored.digest}, was {better.outcome.label} when proven once more"
        kept = replace(improved, ended=f"{improved.ended}; {because}", best=improved.seed)
        return with_times(migration, None, options, progress), kept
    seed = Port(migration.files, ())
    return with_times(better, seed, replace(options, seed=options.seed or 0), progress), improved


def _held(migration: Migration, best: Member, options: MigrateOptions, progress: Progress) -> Migration:
    """Compares the best candidate with the original, as anybody's would be."""
    sources = {file.name: file.source for file in migration.files}
    files = tuple(
        PortedFile(file.name, file.text, sources.get(file.name, migration.source)) for file in best.candidate.files
    )
    better = proven_again(migration, files, options, progress)
    is_anew = best.candidate.origin.proposer == FORMULA
    return replace(better, followed=Followed(Follow.FORMULA, _SEARCHED) if is_anew else migration.followed)


def proven_again(
    migration: Migration, files: tuple[PortedFile, ...], options: MigrateOptions, progress: Progress
) -> Migration:
    """Returns the migration with `files` as its port, compared with the original as anybody's would be."""
    original = original_unit(migration.program, options.include_dirs, options.defines)
    judged = replace(options, seed=options.seed or 0)
    with options.stages.of(Stage.PROVE):
        return proven(original, Port(files, migration.findings), migration.target, judged, progress)


def with_times(migration: Migration, seed: Port | None, options: MigrateOptions, progress: Progress) -> Migration:
    """Returns it with times, where they are wanted: beside those of `seed`, where that is another port."""
    if not options.timed:
        return migration
    original = original_unit(migration.program, options.include_dirs, options.defines)
    port, meet = Port(migration.files, migration.findings), of_cuda(original, options.reference)
    with ExitStack() as kept:
        subject = Subject(port, original, migration.target, meet)
        beside = subject if seed is None else replace(subject, meet=_Beside(replace(subject, port=seed), options, kept))
        return replace(migration, entries=timed_if_possible(migration.entries, beside, options, progress))


@dataclass(frozen=True)
class _Beside:
    """Adds the port of `port` to the baselines that `port.meet` names; its files are there as long as `kept`."""

    port: Subject
    options: MigrateOptions
    kept: ExitStack

    def __call__(self, contracts: Sequence[Contract], place: Place, session: Session) -> list[Baselines | str]:
        port, met = self.port, self.port.meet(contracts, place, session)
        in_session = replace(place, one=session)
        backend = find_backend(port.target.backend)
        native = self.kept.enter_context(backend.on_device(port.port, port.original, port.target, in_session))
        found = Called(native, self.options.entry).candidates(contracts)
        timed = [one[0].timed if isinstance(one, tuple) else None for one in found]
        return [_joined(baselines, seed) for baselines, seed in zip(met, timed, strict=True)]


def _joined(baselines: Baselines | str, seed: Timed | None) -> Baselines | str:
    """Returns the baselines with the seed last: the first is the measure."""
    if isinstance(baselines, str) or seed is None:
        return baselines
    return replace(baselines, timed={**baselines.timed, SEED: seed})

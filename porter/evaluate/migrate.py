"""`op.cu` → a port that was executed and compared: the straight line from a source to a `Migration`."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from porter.backend import Follow, Port, Target
from porter.contract.model.contract import EntryKind
from porter.diagnostics.findings import Finding
from porter.errors import PorterError
from porter.evaluate.formula.following import instead_of, lesser, seconds_beside, without_formula
from porter.evaluate.formula.scheduled import Formula, formula_of
from porter.evaluate.judge.calling import Called
from porter.evaluate.judge.entries import Entries
from porter.evaluate.judge.ported import Ported
from porter.evaluate.judge.prove import Proof
from porter.evaluate.model.migration import EntryOutcome, Followed, MigrateOptions, Migration, Progress
from porter.evaluate.model.outcome import (
    Crashed,
    Fidelity,
    KernelsVerified,
    NotBuilt,
    NotVerified,
    Outcome,
    Refused,
    Verified,
    Wrong,
)
from porter.evaluate.model.time_shares import LEAST_S
from porter.evaluate.problem.bench import Bench, bench
from porter.evaluate.problem.original import read_original
from porter.evaluate.reference.judging import Judging
from porter.evaluate.timing.baselines import of_cuda
from porter.evaluate.timing.speeds import Subject, timed_if_possible
from porter.measure.deadline import Deadline, OutOfTime
from porter.measure.stages import Stage, Stages
from porter.native.place import place as device_place
from porter.registry import find_backend, find_target
from porter.schedule.polynomial import NotSchedulableError
from porter.simt.compiler import end_calls
from porter.source.findings import KERNELS_OF_LIBRARIES
from porter.source.load import load
from porter.source.program import Program
from porter.source_text import Source
from porter.translation_unit import TranslationUnit

_PART_FOR_FORMULA = 0.95  # of what the limit left: telling what came of it takes a moment, too
SEED = 20_021  # of what porter's own ports are asked for, so that a port has one verdict
# From bad to good: a source is what its worst entry is.
_WORST_FIRST: tuple[type[Outcome], ...] = (Wrong, Crashed, NotBuilt, Refused, NotVerified, KernelsVerified, Verified)


def migrate(path: Path, options: MigrateOptions, progress: Progress) -> tuple[Migration, ...]:
    """Ports every source in the file at `path` and proves the ports; only a Python file holds more than one.

    Raises `PorterError`s for what the user has to mend before anything can be tried: an unreadable file, an unknown
    target or kernel, a broken contract, no C++ compiler.
    """
    progress(f"reading {path.name}")
    loaded = load(path)
    asked = (replace(options, stages=Stages(), deadline=Deadline(options.deadline.limit_s)) for _ in loaded.sources)
    migrations = tuple(_migrated(source, own, progress) for source, own in zip(loaded.sources, asked, strict=True))
    first = replace(migrations[0], findings=(*loaded.findings, *migrations[0].findings))
    return (first, *migrations[1:])


def _migrated(source: Source, options: MigrateOptions, progress: Progress) -> Migration:
    try:
        with options.stages.of(Stage.PROVE), options.deadline.running():
            migration, subject = _proven(source, options, progress)
    except OutOfTime:
        message = f"{source.path}: the limit of {options.deadline.limit_s:g} s was over before there was a port"
        raise PorterError(message, "allow more with --limit S") from None
    entries = timed_if_possible(migration.entries, subject, options, progress) if options.timed else migration.entries
    return replace(migration, entries=entries, stages={stage.value: s for stage, s in options.stages.seconds.items()})


def _proven(source: Source, options: MigrateOptions, progress: Progress) -> tuple[Migration, Subject]:
    """Proves the port against its original, and times it where that was asked for."""
    begin = time.monotonic()
    target = find_target(find_backend(options.target), options.arch)
    original, followed = read_and_ported(source, target, options, progress)
    migration, port = _proven_and_compiled(original, followed, target, options, progress), followed
    if (options.follow or target.follow) is Follow.FORMULA:
        migration, port = _better(migration, followed, original, options, progress)
    else:
        migration = replace(migration, followed=Followed(Follow.KERNELS))
    migration = replace(migration, seconds=time.monotonic() - begin)
    return migration, Subject(port, original, target, of_cuda(original, options.reference))


def _better(
    followed: Migration, port: Port, original: TranslationUnit, options: MigrateOptions, progress: Progress
) -> tuple[Migration, Port]:
    """Returns the port from the formula, or else `port`, which follows the kernels, with the reason.

    The formula's port has to be verified, and compared wherever `port` is. It is tried in the time that the other one
    left, and beside a verified one in half of the limit.
    """
    because, allowed_s = without_formula(followed), _allowed_s(followed, options)
    if not because and allowed_s < LEAST_S:
        because = "nothing of the limit was left for the port from its formula (--limit)"
    if because:
        return _following_kernels(followed, because), port
    late = True  # until it came to an end
    with suppress(OutOfTime), options.deadline.span(allowed_s) as span:
        try:
            formula = formula_of(followed.source, followed.target, options, progress)
            anew = formula.port()
            asked = _as_anybodys(options, formula)
            migration = _proven_and_compiled(original, anew, followed.target, asked, progress)
            because = lesser(migration, followed)
            if not because:
                return replace(migration, followed=Followed(Follow.FORMULA, instead_of(followed))), anew
        except (NotSchedulableError, PorterError) as error:
            because = str(error)
        late = span.passed
    if late:
        end_calls()
        advice = "--limit" if options.follow is Follow.FORMULA else "--follow formula, --limit"
        because = f"the port from its formula was not proven in the {allowed_s:.0f} s that it had ({advice})"
    return _following_kernels(followed, because), port


def _allowed_s(followed: Migration, options: MigrateOptions) -> float:
    """Returns how long the port from the formula may take."""
    left_s, limit_s = _PART_FOR_FORMULA * options.deadline.left_s, options.deadline.limit_s
    if options.follow is Follow.FORMULA or limit_s is None:
        return left_s
    return seconds_beside(followed, left_s, limit_s)


def _following_kernels(followed: Migration, because: str) -> Migration:
    return replace(followed, followed=Followed(Follow.KERNELS, because))


def _proven_and_compiled(
    original: TranslationUnit, port: Port, target: Target, options: MigrateOptions, progress: Progress
) -> Migration:
    """Proves `port` against `original`, unless the vendor's own compiler refuses it."""
    migration = proven(original, port, target, options, progress)
    migration = replace(migration, files=()) if port.is_empty else migration
    with tempfile.TemporaryDirectory(prefix="porter-") as workdir:
        error = find_backend(target.backend).compile(port, target, Path(workdir))
    return migration if error is None else _not_compiled(migration, error)


def _as_anybodys(options: MigrateOptions, formula: Formula) -> MigrateOptions:
    """Returns how a candidate is judged that is for the element types of `formula`: the verdict names the others."""
    if options.fidelity is not Fidelity.EMULATED:
        return options
    return replace(options, seed=SEED if options.seed is None else options.seed, dtypes=formula.dtypes)


def read_and_ported(
    source: Source, target: Target, options: MigrateOptions, progress: Progress
) -> tuple[TranslationUnit, Port]:
    """Returns the original as it is built, and the port. Raises `PorterError` for a source that is cut off."""
    original = read_original(source, options)
    progress(f"porting {source.path.name}")
    headers = tuple(header for _, header in original.headers)
    return original, find_backend(target.backend).port(original.program, headers, target)


def _not_compiled(migration: Migration, error: Finding) -> Migration:
    """Returns the migration as not built, since the vendor's own compiler refuses the port."""
    return replace(migration, outcome=NotBuilt(error.message, error.message), findings=(*migration.findings, error))


def proven(
    original: TranslationUnit, port: Port, target: Target, options: MigrateOptions, progress: Progress
) -> Migration:
    """Proves `port` against `original`: returns a proof of every entry, and what was found on the way.

    Raises `MachineError` where a device is to execute it and none can.
    """
    begin = time.monotonic()
    program = original.program
    judging = (
        None if options.seed is None else Judging(options.seed, options.sizes, options.draws_edges, options.dtypes)
    )
    with (
        bench(options.cache, options.time_limit_s) as place,
        executed(original, port, target, options, place, is_trusted=judging is None) as ready,
    ):
        ported = Called(ready, options.entry) if judging else ready
        proofs = Entries(original, port, ported, place, options, judging).proofs(progress)
    entries = tuple(proof.entry for proof in proofs)
    return Migration(
        source=program.source,
        program=program,
        target=target,
        outcome=worst(entries) if entries else _nothing(program),
        entries=entries,
        files=port.files,
        findings=_findings(program, port, proofs),
        warp_sizes=ported.warp_sizes,
        seconds=time.monotonic() - begin,
        fidelity=ready.fidelity,
    )


@contextmanager
def executed(
    original: TranslationUnit, port: Port, target: Target, options: MigrateOptions, bench: Bench, *, is_trusted: bool
) -> Iterator[Ported]:
    """Yields the port as it is executed: on the CPU, or on a device that nobody is timing on meanwhile."""
    backend = find_backend(target.backend)
    if options.fidelity is Fidelity.EMULATED:
        with backend.ready(port, original, target, bench, is_trusted=is_trusted) as ready:
            yield ready
        return
    with (
        device_place(options.cache, options.time_limit_s, options.environment) as place,
        backend.on_device(port, original, target, place) as native,
        place.lock.shared(),
    ):
        yield native


def worst(entries: tuple[EntryOutcome, ...]) -> Outcome:
    """Returns what the worst of a source's entries is, but for launchers that their kernels stand for.

    Kernels are verified by themselves where the user asked for them alone.
    """
    stood_for = [e for e in entries if e.kernels_stand and isinstance(e.outcome, Refused)]
    others = [e for e in entries if e not in stood_for]
    found = min((e.outcome for e in others), key=lambda outcome: _WORST_FIRST.index(type(outcome)))
    if not stood_for or not isinstance(found, Verified | KernelsVerified):
        return found
    missing = (
        f"{e.name} itself was not ported: {e.outcome.because}" for e in stood_for if isinstance(e.outcome, Refused)
    )
    caveat = "; ".join(filter(None, (*missing, found.caveat)))
    if isinstance(found, Verified) and all(e.contract.entry.kind is EntryKind.KERNEL for e in others):
        return replace(found, caveat=caveat)
    return KernelsVerified(found.checked, caveat, found.compiled_for)


def _nothing(program: Program) -> NotVerified | Refused:
    """Returns why there is no entry. Kernels that a library makes cannot be ported."""
    if not program.kernels and (made := next((f for f in program.findings if f.code in KERNELS_OF_LIBRARIES), None)):
        line = f"line {made.span.line}: " if made.span else ""
        return Refused(f"{made.code}: {line}{made.message}: {made.hint}")
    found = (
        "no kernel"
        if not program.kernels
        else "no function that launches its kernels, and no kernel that could be called by itself"
    )
    if not program.kernels and any(f.code == "PORT2004" for f in program.findings):
        found = "kernels, none of which is compiled (--define)"
    return NotVerified(f"{program.source.path.name} has {found}")


def _findings(program: Program, port: Port, proofs: list[Proof]) -> tuple[Finding, ...]:
    """Returns what parsing, porting and running found, each once, in the order of the source."""
    every = dict.fromkeys((*program.findings, *port.findings, *(f for proof in proofs for f in proof.findings)))
    return tuple(sorted(every, key=lambda f: (f.span.start if f.span else -1, f.code)))

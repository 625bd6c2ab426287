"""`op.cu` → a port that was executed and compared: the straight line from a source to a `Migration`."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from porter.backend import Follow, Port, Target
from porter.contract.model.contract import EntryKind
from porter.diagnostics.findings import Finding
from porter.errors import PorterError
from porter.evaluate.formula.following import NOT_NEEDED, instead_of, lesser, short_of, without_formula
from porter.evaluate.formula.scheduled import Formula, formula_of
from porter.evaluate.judge.calling import Called
from porter.evaluate.judge.entries import Entries, contracts_of
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
from porter.evaluate.problem.bench import Bench, bench
from porter.evaluate.problem.original import read_original
from porter.evaluate.reference.judging import Judging
from porter.evaluate.timing.baselines import of_cuda
from porter.evaluate.timing.speeds import Subject, timed_if_possible
from porter.execution.known_runs import KnownRuns
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
from porter.worker.kinds import begin_all

# The share of a limit in which a port from the formula has to be proven. With 15 of 60 s 7 of 46 operators of
# kernelbench, 20 at once on 16 cores, lost one that is up to twice as fast.
_PART_FOR_FORMULA = 0.5
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
    asked = (
        replace(options, stages=Stages(), deadline=Deadline(options.deadline.limit_s), known=KnownRuns())
        for _ in loaded.sources
    )
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
    original = read_original(source, options)
    if original.program.kernels:
        begin_all(find_backend(target.backend).workers(options.cache))
    port = ported(original, target, progress)
    if (options.follow or target.follow) is Follow.FORMULA:
        migration, port = _from_formula_or_kernels(original, port, target, options, progress)
    else:
        migration = replace(
            _proven_and_compiled(original, port, target, options, progress), followed=Followed(Follow.KERNELS)
        )
    migration = replace(migration, seconds=time.monotonic() - begin)
    return migration, Subject(port, original, target, of_cuda(original, options.reference))


def _from_formula_or_kernels(
    original: TranslationUnit, port: Port, target: Target, options: MigrateOptions, progress: Progress
) -> tuple[Migration, Port]:
    """Returns the port from the formula, or else `port`, which follows the kernels, with the reason.

    The formula comes first: where its port is verified and leaves nothing out, no other is proven, which takes as long
    again. Else both are, and the formula's has to be compared wherever the other one is equal.
    """
    tried = _from_formula(original, target, options, progress)
    if isinstance(tried, _Written) and tried.is_whole:
        return tried.delivered(NOT_NEEDED)
    followed = _proven_and_compiled(original, port, target, options, progress)
    because = lesser(tried.migration, followed) if isinstance(tried, _Written) else tried
    if isinstance(tried, _Written) and not because:
        return tried.delivered(instead_of(followed))
    return replace(followed, followed=Followed(Follow.KERNELS, because)), port


@dataclass(frozen=True, slots=True)
class _Written:
    """A port that was written from the formula, and its judgement."""

    formula: Formula
    port: Port
    migration: Migration

    @property
    def is_whole(self) -> bool:
        """Returns whether the port is verified wherever the formula was found equal, which is all that is asked."""
        return not short_of(self.migration, self.formula.compared)

    def delivered(self, because: str) -> tuple[Migration, Port]:
        """Returns it as what is delivered, and says why no other port is."""
        return replace(self.migration, followed=Followed(Follow.FORMULA, because)), self.port


def _from_formula(
    original: TranslationUnit, target: Target, options: MigrateOptions, progress: Progress
) -> _Written | str:
    """Writes a port from the formula and judges it, in its part of the limit; returns why where there is none."""
    if because := without_formula(contracts_of(original, options, whole_program=False)):
        return because
    allowed_s = _PART_FOR_FORMULA * options.deadline.left_s
    with suppress(OutOfTime), options.deadline.span(allowed_s):
        try:
            formula = formula_of(original.program.source, target, options, progress)
            port = formula.port()
            asked = _as_anybodys(options, formula)
            return _Written(formula, port, _proven_and_compiled(original, port, target, asked, progress))
        except (NotSchedulableError, PorterError) as error:
            return str(error)
    end_calls()
    return f"the port from its formula was not proven in the {allowed_s:.0f} s that it had (--limit)"


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


def ported(original: TranslationUnit, target: Target, progress: Progress) -> Port:
    """Returns the port of `original`, which follows its kernels."""
    progress(f"porting {original.program.source.path.name}")
    headers = tuple(header for _, header in original.headers)
    return find_backend(target.backend).port(original.program, headers, target)


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
        bench(options.cache, options.time_limit_s, known=options.known) as place,
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

"""What one command line does with all of its sources: migrate, write, show; and the exit code of the whole."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.text import Text

from porter.cli.console import Console
from porter.cli.sources import NamedSource, named_sources
from porter.errors import DONE, FELL_SHORT, PorterError, UsageError, exhaustion
from porter.evaluate.migrate import migrate
from porter.evaluate.migration import MigrateOptions, Migration, Progress
from porter.evaluate.outcome import Verified
from porter.report.columns import Cell, columns
from porter.report.diff import port_diff
from porter.report.document import Json
from porter.report.machine import Machine, examine
from porter.report.migration import migration_text
from porter.report.migration_document import migration_document
from porter.report.outputs import output_texts, write_outputs
from porter.report.verdict import OUTCOME_STYLES, describe, reason


@dataclass(frozen=True, slots=True)
class Destination:
    """Where output goes, and whether it may replace files porter did not write."""

    folder: Path
    force: bool

    def check(self) -> None:
        """Raises `UsageError` for a folder that cannot be made or written to, before any work is done for it."""
        standing = next(place for place in (self.folder, *self.folder.absolute().parents) if place.exists())
        if not standing.is_dir():
            raise UsageError(f"--out-dir {self.folder}: {standing} is not a directory")
        if not os.access(standing, os.W_OK | os.X_OK):
            raise UsageError(f"--out-dir {self.folder}: {standing} cannot be written to", "choose another --out-dir")


@dataclass(frozen=True, slots=True)
class Migrated:
    """A source that was migrated, whatever came of it, and the files written."""

    migration: Migration
    outputs: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class Failed:
    """A source that could not be migrated at all."""

    path: Path
    error: PorterError


Attempt = Migrated | Failed


def attempt_all(
    paths: Sequence[Path], options: MigrateOptions, to: Destination, console: Console, *, diff: bool
) -> int:
    """Migrate every source under `paths`, show each as it is done, and give the exit code of the whole."""
    to.check()
    machine = examine(options.cache)
    several = len(paths) > 1 or paths[0].is_dir()
    attempts: list[Attempt] = []
    for source in named_sources(paths):
        with console.progress() as step:
            made = attempt(source, options, to, machine, step)
        attempts.extend(made)
        for one in made:
            if isinstance(one, Failed) and not several:
                raise one.error
            if not console.json:
                console.show(attempt_text(one, with_diff=diff))
    if console.json:
        console.document(attempts_document(attempts, several=several))
    elif len(attempts) > 1:
        console.show(summary_text(attempts))
    return exit_code(attempts)


def attempt(
    source: NamedSource, options: MigrateOptions, to: Destination, machine: Machine, step: Progress
) -> tuple[Attempt, ...]:
    """Migrate one file and write what came of it; each of several sources in it gets a folder of its own."""
    try:
        migrations = migrate(source.path, options, step)
        folder = to.folder / source.subfolder
        places = [folder, *(folder / f"{source.path.stem}-{n}" for n in range(2, len(migrations) + 1))]
        return tuple(_written(m, place, options, to, machine) for m, place in zip(migrations, places, strict=True))
    except PorterError as error:
        return (Failed(source.path, error),)
    except (OSError, MemoryError) as error:
        if failed := exhaustion(error):
            return (Failed(source.path, failed),)
        raise


def _written(
    migration: Migration, folder: Path, options: MigrateOptions, to: Destination, machine: Machine
) -> Migrated:
    texts = output_texts(migration, folder, machine, with_contract=options.contract is None)
    own = {migration.source.path, *(file.source.path for file in migration.files)}
    write_outputs(texts, to.folder, own if options.contract is None else {*own, options.contract}, force=to.force)
    return Migrated(migration, tuple(texts))


def exit_code(attempts: Sequence[Attempt]) -> int:
    """0 when all are verified; the error's own code when nothing could be migrated; else 1."""
    if all(isinstance(a, Migrated) and isinstance(a.migration.outcome, Verified) for a in attempts):
        return DONE
    codes = [a.error.exit_code for a in attempts if isinstance(a, Failed)]
    return max(codes) if len(codes) == len(attempts) else FELL_SHORT


def attempt_text(one: Attempt, *, with_diff: bool) -> Text:
    """One attempt on the terminal."""
    if isinstance(one, Failed):
        about = "" if str(one.path) in one.error.message else f"{one.path}: "
        return Text.assemble(("error: ", "bold red"), f"{about}{one.error}")
    diffs = [port_diff(file) for file in one.migration.files] if with_diff else []
    return Text("\n").join([*diffs, migration_text(one.migration, one.outputs)])


def summary_text(attempts: Sequence[Attempt]) -> Text:
    """A line for each of several sources, and how many are verified."""
    rows = [_summary_row(one) for one in attempts]
    verified = sum(exit_code([one]) == DONE for one in attempts)
    return Text("\n").append_text(columns(rows)).append(f"{verified} of {len(attempts)} verified", "bold")


def _summary_row(one: Attempt) -> tuple[Cell, ...]:
    if isinstance(one, Failed):
        return (str(one.path), Text("error", "bold red"), one.error.message)
    outcome = one.migration.outcome
    return (str(one.migration.source.path), Text(describe(outcome), OUTCOME_STYLES[outcome.label]), reason(outcome))


def attempts_document(attempts: Sequence[Attempt], *, several: bool) -> Json:
    """An object for one source; a list of them where `several` were named, or where one file held several."""
    documents = [attempt_document(one) for one in attempts]
    return {"migrations": documents} if several or len(documents) > 1 else documents[0]


def attempt_document(one: Attempt) -> Json:
    """One attempt as JSON."""
    if isinstance(one, Migrated):
        return migration_document(one.migration, one.outputs)
    error = one.error
    return {
        "source": str(one.path),
        "error": {"message": error.message, "hint": error.hint, "exit_code": error.exit_code},
    }

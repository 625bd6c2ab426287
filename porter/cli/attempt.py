"""Does what one command line asks of all its sources: migrates, writes, shows; and gives the exit code of the whole."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text

from porter.backend import Follow
from porter.cli.build import Build, built_for
from porter.cli.console import Console
from porter.cli.options import check_writable
from porter.cli.result_files import write_text
from porter.cli.sources import NamedSource
from porter.diagnostics.allowances import Allowance, allow
from porter.errors import DONE, FELL_SHORT, PorterError, UsageError, exhaustion
from porter.evaluate.migrate import migrate
from porter.evaluate.model.migration import MigrateOptions, Migration, Progress
from porter.evaluate.model.outcome import Verified
from porter.evaluate.problem.standards import is_reference
from porter.measure.stages import Stage, Stages
from porter.report.findings.full_catalogue import full_catalogue
from porter.report.findings.sarif import sarif_document
from porter.report.findings.view import View
from porter.report.migration.diff import port_diff
from porter.report.migration.document import migration_document
from porter.report.migration.outputs import output_texts, write_outputs
from porter.report.migration.software import Software, installed_software
from porter.report.migration.text import migration_text
from porter.report.migration.verdict import OUTCOME_STYLES, describe, reason
from porter.writing.columns import Cell, columns
from porter.writing.document import Json, encode_json
from porter.writing.junit import Case, Ending, junit_text

if TYPE_CHECKING:
    from porter.search.by_model import Asking
    from porter.search.run import Improved, SearchOptions


@dataclass(frozen=True, slots=True)
class Destination:
    """The folder where output goes, and whether it may replace files porter did not write."""

    folder: Path
    force: bool

    def check(self) -> None:
        """Raises `UsageError` for a folder that cannot be made or written to, before any work is done for it."""
        check_writable("--out", self.folder)


@dataclass(frozen=True, slots=True)
class Show:
    """The other things that are made of the results: the diff of each port on the terminal, files for other tools."""

    diff: bool = False
    sarif: Path | None = None
    junit: Path | None = None

    def write_files(self, attempts: Sequence[Attempt]) -> None:
        """Write the files that were asked for. Raises `PorterError` where that cannot be done."""
        if self.sarif is not None:
            found = [(one.migration.source, one.migration.findings) for one in attempts if isinstance(one, Migrated)]
            write_text(self.sarif, encode_json(sarif_document(found, full_catalogue())))
        if self.junit is not None:
            write_text(self.junit, junit_text("porter migrate", [case for one in attempts for case in _cases(one)]))


@dataclass(frozen=True, slots=True)
class Migrated:
    """A source that was migrated, whatever came of it, and the files written.

    `improved` is what a search came to, `unsearched` why there was none although it was wished for.
    """

    migration: Migration
    outputs: tuple[Path, ...]
    improved: Improved | None = None
    unsearched: PorterError | None = None


@dataclass(frozen=True, slots=True)
class Failed:
    """A source that could not be migrated at all."""

    path: Path
    target: str
    error: PorterError


Attempt = Migrated | Failed


@dataclass(frozen=True, slots=True)
class Wish:
    """The work on every source: it is migrated, and its port then searched for a better one, if so wished.

    `allowances` are the findings that the project accepts. A model is asked where porter has no right port.
    """

    options: MigrateOptions
    build: Build = field(default_factory=Build)
    allowances: tuple[Allowance, ...] = ()
    search: SearchOptions | None = None
    asking: Asking | None = None


@dataclass(frozen=True, slots=True)
class Task:
    """The work asked for on every source: the wishes, where results go, and what is shown of them.

    With `several` the results are a list, also where that has one item.
    """

    wishes: tuple[Wish, ...]
    to: Destination
    show: Show
    several: bool


def attempt_all(sources: Sequence[NamedSource], task: Task, console: Console) -> tuple[Attempt, ...]:
    """Migrate every source as each wish says, and show each as it is done.

    Raises the `PorterError` of a source that cannot be migrated at all where the task is not about several.
    """
    task.to.check()
    software = installed_software()
    asked = list(product(sources, task.wishes))
    attempts: list[Attempt] = []
    for number, (source, wish) in enumerate(asked):
        if len(asked) > 1:
            done = f"{number} of {len(asked)} ports are done and are in {task.to.folder}"
            console.how_to_go_on = f"{done}; name the sources that are left to go on with them"
        with console.progress() as step:
            about = f"{source.path} ({number + 1} of {len(asked)}): " if len(asked) > 1 else ""
            made = attempt(source, wish, task.to, software, _about(about, step))
        attempts.extend(made)
        for one in made:
            if isinstance(one, Failed) and not task.several:
                raise one.error
            if not console.json:
                shown = attempt_text(one, console.view, with_diff=task.show.diff)
                console.show(shown.append("\n") if task.several and not console.quiet else shown)
    return tuple(attempts)


def _about(subject: str, step: Progress) -> Progress:
    return lambda now: step(f"{subject}{now}")


def conclude(attempts: Sequence[Attempt], task: Task, console: Console) -> int:
    """Write the files that were asked for, show what came of all sources together, and give the exit code."""
    task.show.write_files(attempts)
    if console.json:
        console.document(attempts_document(attempts, several=task.several))
    elif len(attempts) > 1:
        console.show(summary_text(attempts))
    return exit_code(attempts)


def attempt(
    source: NamedSource, wish: Wish, to: Destination, software: Software, step: Progress
) -> tuple[Attempt, ...]:
    """Migrate one file and write what came of it; each of several sources in it gets a folder of its own."""
    try:
        built = wish.build.of(source.path)
        wish = replace(wish, options=built_for(wish.options, built))
        # What may get a better port is timed at the end, beside the one that it began with.
        later = wish.search is not None or not _is_module(source.path)
        first = replace(wish.options, timed=False) if later else wish.options
        made = [
            replace(m, findings=(*built.findings, *m.findings)) for m in _migrations(source.path, first, wish, step)
        ]
        folder = to.folder / source.subfolder
        migrations = [_allowing(_asked(one, folder, wish, step), wish.allowances) for one in made]
        places = [folder, *(folder / f"{source.path.stem}-{n}" for n in range(2, len(migrations) + 1))]
        pairs = zip(migrations, places, strict=True)
        written = [(_written(m, place, wish, to, software), place) for m, place in pairs]
        return tuple(_searched(m, place, wish, to, software, step) if later else m for m, place in written)
    except PorterError as error:
        return (Failed(source.path, wish.options.target, error),)
    except (OSError, MemoryError) as error:
        if failed := exhaustion(error):
            return (Failed(source.path, wish.options.target, failed),)
        raise


def _asked(migration: Migration, folder: Path, wish: Wish, step: Progress) -> Migration:
    """Returns the migration with the port of a model, where one was named, porter's is not right and the model's is."""
    if wish.asking is None:
        return migration
    from porter.search.by_model import needs_model, ported_by_model

    recording = folder / f"{migration.source.path.stem}.{wish.options.target}.asked"
    return (
        ported_by_model(migration, wish.options, wish.asking, recording, step) if needs_model(migration) else migration
    )


def _migrations(path: Path, options: MigrateOptions, wish: Wish, step: Progress) -> tuple[Migration, ...]:
    """Migrates a CUDA source, of which a Python file may hold several in strings, or a PyTorch module."""
    if _is_module(path):
        from porter.evaluate.module_port import migrate_module

        if wish.search is not None:
            hint = f"leave out --rounds, and search from its port: porter search PORT --against {path}"
            raise UsageError(f"{path}: a search cannot begin with a PyTorch module", hint)

        return (migrate_module(path, options, step),)
    return migrate(path, options, step)


def _is_module(path: Path) -> bool:
    return path.suffix == ".py" and is_reference(path)


def _allowing(migration: Migration, allowances: Sequence[Allowance]) -> Migration:
    return replace(migration, findings=allow(migration.findings, migration.source, allowances))


def _written(migration: Migration, folder: Path, wish: Wish, to: Destination, software: Software) -> Migrated:
    contract = wish.options.contract
    texts = output_texts(migration, folder, software, with_contract=contract is None)
    own = {migration.source.path, *(file.source.path for file in migration.files)}
    write_outputs(texts, to.folder, own if contract is None else {*own, contract}, force=to.force)
    return Migrated(migration, tuple(texts))


def _searched(
    made: Migrated, folder: Path, wish: Wish, to: Destination, software: Software, step: Progress
) -> Migrated:
    """Returns what was migrated, with the best that a search found in its place: the port was written before it
    began.
    """
    if wish.search is None and not wish.options.timed:
        return made
    migration, last = made.migration, Stages()
    run = folder / f"{migration.source.path.stem}.{wish.options.target}.search"
    better, found, unsearched = _improved(
        migration, replace(wish, options=replace(wish.options, stages=last)), run, step
    )
    better = replace(better, stages=_added(dict(migration.stages), last))
    return replace(_written(better, folder, wish, to, software), improved=found, unsearched=unsearched)


def _improved(
    migration: Migration, wish: Wish, run: Path, step: Progress
) -> tuple[Migration, Improved | None, PorterError | None]:
    """Returns the migration timed, with what was found in `run`, and the reason why no wanted search took place."""
    from porter.evolve.scoring.subject import beginning_of
    from porter.search.choice import chosen
    from porter.search.finish import finished
    from porter.search.run import improve

    options, found, unsearched = wish.options, None, None
    if isinstance(migration.outcome, Verified):
        is_anew = migration.followed is not None and migration.followed.what is Follow.FORMULA
        if wish.search is None and is_anew:
            return chosen(migration, options, step), None, None
        if wish.search is not None:
            try:
                with options.stages.of(Stage.SEARCH):
                    within = replace(options, stages=Stages())
                    found = improve(beginning_of(migration, within), within, wish.search, run, step)
            except PorterError as error:
                unsearched = error
    return *finished(migration, found, options, step), unsearched


def _added(stages: dict[str, float], last: Stages) -> dict[str, float]:
    """Returns the seconds of stages with those of the last ones."""
    return stages | {stage.value: stages.get(stage.value, 0.0) + seconds for stage, seconds in last.seconds.items()}


def exit_code(attempts: Sequence[Attempt]) -> int:
    """0 when all are verified; the error's own code when nothing could be migrated, or not searched; else 1."""
    unsearched = [a.unsearched.exit_code for a in attempts if isinstance(a, Migrated) and a.unsearched]
    if unsearched:
        return max(unsearched)
    if all(isinstance(a, Migrated) and isinstance(a.migration.outcome, Verified) for a in attempts):
        return DONE
    codes = [a.error.exit_code for a in attempts if isinstance(a, Failed)]
    return max(codes) if len(codes) == len(attempts) else FELL_SHORT


def attempt_text(one: Attempt, view: View, *, with_diff: bool) -> Text:
    """One attempt on the terminal."""
    if isinstance(one, Failed):
        about = "" if str(one.path) in one.error.message else f"{one.path}: "
        return Text.assemble(("error: ", "bold red"), f"{about}{one.error}")
    diffs = [port_diff(file) for file in one.migration.files] if with_diff else []
    found: list[Text] = []
    if one.improved is not None:
        from porter.report.search.improved import improved_text

        found = [improved_text(one.improved)]
    elif one.unsearched is not None:
        found = [Text.assemble(("error: ", "bold red"), f"no search: {one.unsearched}")]
    return Text("\n").join([*diffs, migration_text(one.migration, one.outputs, view), *found])


def _cases(one: Attempt) -> Iterator[Case]:
    """Yields each entry of a source as a case of its own, and the source where no entry has its outcome."""
    if isinstance(one, Failed):
        yield Case(f"{one.path} for {one.target}", one.path.name, 0.0, Ending.ERROR, one.error.message, one.error.hint)
        return
    migration = one.migration
    group = f"{migration.source.path} for {migration.target.backend}"
    named = [(entry.name, entry.outcome) for entry in migration.entries]
    if not any(outcome.label == migration.outcome.label for _, outcome in named):
        named.append((migration.source.path.name, migration.outcome))
    for name, outcome in named:
        ending = Ending.PASSED if isinstance(outcome, Verified) else Ending.FAILED
        yield Case(group, name, migration.seconds / len(named), ending, describe(outcome), reason(outcome))


def summary_text(attempts: Sequence[Attempt]) -> Text:
    """A line for each of several sources, with the reason where it is not verified, and how many are."""
    with_targets = len({_target(one) for one in attempts}) > 1
    rows = [_summary_row(one, with_target=with_targets) for one in attempts]
    verified = sum(exit_code([one]) == DONE for one in attempts)
    return columns(rows).append(f"{verified} of {len(attempts)} verified", "bold")


def _target(one: Attempt) -> str:
    return one.target if isinstance(one, Failed) else one.migration.target.backend


def _summary_row(one: Attempt, *, with_target: bool) -> tuple[Cell, ...]:
    target = (_target(one),) if with_target else ()
    if isinstance(one, Failed):
        return (str(one.path), *target, Text("error", "bold red"), one.error.message)
    outcome = one.migration.outcome
    because = "" if isinstance(outcome, Verified) else reason(outcome)
    said = (Text(describe(outcome), OUTCOME_STYLES[outcome.label]), because)
    return (str(one.migration.source.path), *target, *said)


def attempts_document(attempts: Sequence[Attempt], *, several: bool) -> Json:
    """An object for one source; a list of them where `several` were named, or where one file held several."""
    documents = [attempt_document(one) for one in attempts]
    return {"migrations": documents} if several or len(documents) > 1 else documents[0]


def attempt_document(one: Attempt) -> Json:
    """One attempt as JSON."""
    if isinstance(one, Migrated):
        document = migration_document(one.migration, one.outputs)
        if one.improved is not None:
            from porter.report.search.improved import improved_document

            document["search"] = improved_document(one.improved)
        elif one.unsearched is not None:
            document["search"] = {"error": _error_document(one.unsearched)}
        return document
    return {"source": str(one.path), "target": one.target, "error": _error_document(one.error)}


def _error_document(error: PorterError) -> Json:
    return {"message": error.message, "hint": error.hint, "exit_code": error.exit_code}

"""`porter search`: from a candidate that is right to a faster one, whoever wrote it and whatever answers for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from porter.cli.build import Build, Built, built_for
from porter.cli.console import Console
from porter.cli.groups import spread
from porter.cli.options import (
    ArchOption,
    DebugFlag,
    JsonFlag,
    LimitOption,
    OnlyTargetOption,
    Original,
    QuietFlag,
    SeedOption,
    VerboseFlag,
    check_writable,
    drawn_seed,
    named_path,
)
from porter.cli.search import check_tokens
from porter.cli.searching import Searching
from porter.cli.verify import AgainstOption, CandidateArgument, EntryOption, GoldenOption, allowing, shown, standard_of
from porter.errors import DONE, FELL_SHORT

if TYPE_CHECKING:
    from porter.search.given import Better, Given
    from porter.search.run import SearchOptions
    from porter.writing.document import Json

SearchRoundsOption = Annotated[int, typer.Option("--rounds", metavar="N", min=1, help="Search for N rounds.")]
SearchOutOption = Annotated[
    Path,
    typer.Option(
        "--out", "-o", metavar="DIR", parser=named_path, help="The folder for the best candidate and the run."
    ),
]


@spread
def search(
    context: typer.Context,
    *,
    candidate: CandidateArgument,
    against: AgainstOption = None,
    golden: GoldenOption = None,
    target: OnlyTargetOption = "",
    arch: ArchOption = "",
    original: Original,
    build: Build,
    entry: EntryOption = "",
    limit: LimitOption = 60.0,
    rounds: SearchRoundsOption = 40,
    searching: Searching,
    seed: SeedOption = None,
    out: SearchOutOption = Path("porter-out"),
    quiet: QuietFlag = False,
    verbose: VerboseFlag = False,
    json: JsonFlag = False,
    debug: DebugFlag = False,
) -> int:
    """Search for a faster candidate, from one that passes against a CUDA source, a reference or a recording."""
    from porter.evaluate.problem.standards import named_source
    from porter.measure.deadline import Deadline
    from porter.registry import backend_of, find_backend
    from porter.report.migration.outputs import check_outputs
    from porter.search.given import Given
    from porter.search.run import check_free

    console: Console = context.obj
    standard = standard_of(against, golden)
    check_writable("--out", out)
    asked = replace(
        original.options((find_backend(target) if target else backend_of(candidate)).name),
        arch=arch,
        entry=entry,
        seed=drawn_seed() if seed is None else seed,
        deadline=Deadline(limit),
    )
    built = build.of(named_source(standard))
    profile = searching.profile()
    check_tokens(profile, searching.tokens)
    wanted = searching.options(rounds, seed, profile, console)
    given = Given.read(candidate, standard, built_for(asked, built))
    own = (*(file.source.path for file in given.port.files), named_source(standard))
    check_outputs(given.paths(given.port.files, out), out, own, force=False)
    check_free(out / given.run, again=searching.resume)
    return _searched(given, wanted, Place(out, own), built, console)


@dataclass(frozen=True)
class Place:
    """The folder that the best candidate is written to, and the files that it may not overwrite."""

    out: Path
    own: tuple[Path, ...]


def _searched(given: Given, wanted: SearchOptions, place: Place, built: Built, console: Console) -> int:
    """Searches from a candidate that is right, and writes the best; the exit code."""
    from porter.evaluate.model.outcome import Verified
    from porter.report.migration.outputs import write_outputs

    with console.progress() as step:
        first = given.verdict(step)
    if not isinstance(first.outcome, Verified):
        return shown(first, built, console)
    with console.progress() as step:
        better = given.searched(first, wanted, place.out / given.run, step)
    is_right = isinstance(better.verdict.outcome, Verified)
    texts = given.paths(better.files, place.out) if is_right else {}
    write_outputs(texts, place.out, place.own, force=False)
    _show(better, tuple(texts), built, console)
    return DONE if is_right else FELL_SHORT


def _show(better: Better, written: Sequence[Path], built: Built, console: Console) -> None:
    """The best, how it was found, and the verdict on it."""
    from rich.text import Text

    from porter.report.migration.judgement import judgement_document, judgement_text
    from porter.report.search.improved import improved_document, improved_text

    verdict = allowing(better.verdict, built, console)
    if console.json:
        outputs: list[Json] = [str(path) for path in written]
        search_of_it = improved_document(better.improved)
        console.document({**judgement_document(verdict), "outputs": outputs, "search": search_of_it})
        return
    console.show(judgement_text(verdict, console.view))
    if written:
        console.show(Text("\n".join(f"wrote {path}" for path in written)))
    if not console.quiet:
        console.show(improved_text(better.improved))

"""`porter verify`: hold a candidate as it stands to a standard."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from porter.cli.build import Build, built_for
from porter.cli.console import Console
from porter.cli.groups import spread
from porter.cli.options import (
    ArchOption,
    DebugFlag,
    FidelityOption,
    JsonFlag,
    OnlyTargetOption,
    Original,
    QuietFlag,
    SeedOption,
    VerboseFlag,
    drawn_seed,
    named_path,
    parse_dtypes,
    parse_fidelity,
)
from porter.errors import DONE, FELL_SHORT, UsageError

if TYPE_CHECKING:
    from porter.evaluate.migration import MigrateOptions

CandidateArgument = Annotated[
    Path,
    typer.Argument(
        metavar="CANDIDATE", parser=named_path, help="The port to check, or any other candidate: a file or a folder."
    ),
]
AgainstOption = Annotated[
    Path | None,
    typer.Option(
        "--against",
        metavar="FILE",
        parser=named_path,
        help="A CUDA source, a contract that names one, or a Python reference.",
    ),
]
GoldenOption = Annotated[
    Path | None,
    typer.Option(
        "--golden", metavar="FILE", parser=named_path, help="A recording made by `porter record`, instead of --against."
    ),
]
EdgesFlag = Annotated[
    bool, typer.Option("--edges", help="Also try sizes 0 and 1, and other types, when the contract is given.")
]
DtypeOption = Annotated[
    list[str] | None,
    typer.Option("--dtype", metavar="NAME", help="Check only this element type; repeatable."),
]
EntryOption = Annotated[str, typer.Option("--entry", metavar="NAME", help="The function of the candidate to call.")]


@spread
def verify(
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
    seed: SeedOption = None,
    edges: EdgesFlag = False,
    dtype: DtypeOption = None,
    fidelity: FidelityOption = "emulated",
    quiet: QuietFlag = False,
    verbose: VerboseFlag = False,
    json: JsonFlag = False,
    debug: DebugFlag = False,
) -> int:
    """Check a port, or any other candidate, against a CUDA source, a reference or a recording."""
    from porter.oracle.golden import GOLDEN
    from porter.registry import backend_of, find_backend

    standard = against or golden
    if standard is None or (against and golden):
        raise UsageError("this needs one of --against and --golden", "for example --against softmax.cu")
    if golden and golden.suffix != GOLDEN:
        raise UsageError(f"--golden {golden}: a recording's name ends in {GOLDEN}", "use --against for a source")
    options = replace(
        original.options((find_backend(target) if target else backend_of(candidate)).name),
        arch=arch,
        entry=entry,
        seed=drawn_seed() if seed is None else seed,
        fidelity=parse_fidelity(fidelity),
        edges=edges,
        dtypes=parse_dtypes(dtype or ()),
    )
    return judged(candidate, standard, options, build, context.obj)


def judged(candidate: Path, against: Path, options: MigrateOptions, build: Build, console: Console) -> int:
    """Judge the candidate, show the verdict, and give the exit code; without a time it was asked for it fell short."""
    from porter.allowances import allow
    from porter.evaluate.outcome import Verified
    from porter.evaluate.speed import NotMeasured
    from porter.evaluate.standards import named_source
    from porter.evaluate.verify import verify as judge
    from porter.report.judgement import judgement_document, judgement_text

    built = build.of(named_source(against))
    with console.progress() as step:
        verdict = judge(candidate, against, built_for(options, built), step)
    verdict = replace(
        verdict, findings=allow((*built.findings, *verdict.findings), verdict.standard, console.allowances)
    )
    if console.json:
        console.document(judgement_document(verdict))
    else:
        console.show(judgement_text(verdict, console.view))
    untimed = any(isinstance(speed, NotMeasured) for entry in verdict.entries for speed in entry.speeds)
    return DONE if isinstance(verdict.outcome, Verified) and not untimed else FELL_SHORT

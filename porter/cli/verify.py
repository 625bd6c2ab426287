"""`porter verify`: hold a candidate as it stands to a standard."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from porter.cli.build import Build, Built, built_for
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
    from porter.evaluate.model.migration import MigrateOptions
    from porter.evaluate.model.verdict import Verdict

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
    from porter.registry import backend_of, find_backend

    standard = standard_of(against, golden)
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


def standard_of(against: Path | None, golden: Path | None) -> Path:
    """Returns what a candidate is checked against. Raises `UsageError` unless exactly one of two options says it."""
    from porter.oracle.golden import GOLDEN

    standard = against or golden
    if standard is None or (against and golden):
        raise UsageError("this needs one of --against and --golden", "for example --against softmax.cu")
    if golden and golden.suffix != GOLDEN:
        raise UsageError(f"--golden {golden}: a recording's name ends in {GOLDEN}", "use --against for a source")
    return standard


def judged(candidate: Path, against: Path, options: MigrateOptions, build: Build, console: Console) -> int:
    """Judge the candidate, show the verdict, and give the exit code; without a time it was asked for it fell short."""
    from porter.evaluate.problem.standards import named_source
    from porter.evaluate.verify import verify as judge

    built = build.of(named_source(against))
    with console.progress() as step:
        verdict = judge(candidate, against, built_for(options, built), step)
    return shown(verdict, built, console)


def shown(verdict: Verdict, built: Built, console: Console) -> int:
    """Show a verdict, and give the exit code."""
    from porter.evaluate.model.outcome import Verified
    from porter.evaluate.model.speed import NotMeasured
    from porter.report.migration.judgement import judgement_document, judgement_text

    verdict = allowing(verdict, built, console)
    if console.json:
        console.document(judgement_document(verdict))
    else:
        console.show(judgement_text(verdict, console.view))
    untimed = any(isinstance(speed, NotMeasured) for entry in verdict.entries for speed in entry.speeds)
    return DONE if isinstance(verdict.outcome, Verified) and not untimed else FELL_SHORT


def allowing(verdict: Verdict, built: Built, console: Console) -> Verdict:
    """Returns the verdict with the findings of the build, and those marked that the project accepts."""
    from porter.diagnostics.allowances import allow

    findings = (*built.findings, *verdict.findings)
    return replace(verdict, findings=allow(findings, verdict.standard, console.allowances))

"""`porter survey`: what is in a tree of CUDA sources, and what will be hard."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from porter.cli.build import Build, Built
from porter.cli.console import Console
from porter.cli.groups import spread
from porter.cli.options import (
    ArchOption,
    DebugFlag,
    JsonFlag,
    TargetsOption,
    VerboseFlag,
    named_path,
)
from porter.errors import DONE, PorterError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from porter.cli.sources import NamedSource
    from porter.report.source.survey import Survey, Surveyed

PathsArgument = Annotated[
    list[Path], typer.Argument(metavar="PATH", parser=named_path, help="CUDA sources, or directories of them.")
]


@spread
def survey(
    context: typer.Context,
    *,
    paths: PathsArgument,
    target: TargetsOption,
    arch: ArchOption = "",
    build: Build,
    verbose: VerboseFlag = False,
    json: JsonFlag = False,
    debug: DebugFlag = False,
) -> int:
    """Show what is in a tree of CUDA sources and what will be hard to port; nothing is run."""
    from rich.text import Text

    from porter.cli.sources import named_sources
    from porter.report.source.survey import survey_document, survey_text

    console: Console = context.obj
    build.check()
    sources = named_sources(paths)
    surveys = [_surveyed(sources, name, arch, build, console) for name in dict.fromkeys(target)]
    if json:
        documents = [survey_document(one) for one in surveys]
        console.document({"surveys": documents} if len(documents) > 1 else documents[0])
    else:
        console.show(Text("\n\n").join(survey_text(one, console.view) for one in surveys))
    return DONE


def _surveyed(
    sources: Sequence[NamedSource],
    target: str,
    arch: str,
    build: Build,
    console: Console,
) -> Survey:
    from porter.report.source.survey import Survey, Unreadable

    found: list[Surveyed] = []
    unreadable: list[Unreadable] = []
    with console.progress() as step:
        for number, named in enumerate(sources, start=1):
            step(f"reading {named.path} ({number} of {len(sources)})")
            try:
                found += _read(named.path, target, arch, build.of(named.path))
            except PorterError as error:
                unreadable.append(Unreadable(named.path, error.message))
    return Survey(target, tuple(found), tuple(unreadable))


def _read(path: Path, target: str, arch: str, built: Built) -> list[Surveyed]:
    from porter.report.source.inspection import Inspection
    from porter.report.source.survey import Surveyed
    from porter.source.load import load

    loaded = load(path)
    surveyed = []
    for at, source in enumerate(loaded.sources):
        one = Inspection(source, target, arch, include_dirs=built.include_dirs, defines=built.defines)
        findings = (*built.findings, *(loaded.findings if at == 0 else ()), *one.findings)
        form = one.program.form.value
        surveyed.append(Surveyed(path, form, len(one.program.kernels), len(one.program.launches), findings))
    return surveyed

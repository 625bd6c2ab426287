"""`porter inspect`: what porter sees in a source, printed."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from porter.cache_folder import cache_folder
from porter.cli.build import Build
from porter.cli.console import Console
from porter.cli.groups import spread
from porter.cli.options import (
    ArchOption,
    ContractOption,
    DebugFlag,
    JsonFlag,
    KernelOption,
    LimitOption,
    OnlyTargetOption,
    SizeOption,
    named_path,
    parse_sizes,
)
from porter.report.source.stage import Stage

if TYPE_CHECKING:
    from porter.report.source.inspection import Inspection


class Format(StrEnum):
    """The format in which a stage is printed."""

    TEXT = "text"
    JSON = "json"
    SARIF = "sarif"


PathArgument = Annotated[Path, typer.Argument(metavar="PATH", parser=named_path, help="A CUDA source.")]
StageOption = Annotated[Stage, typer.Option("--as", help="What to print.")]
FormatOption = Annotated[Format, typer.Option("--format", help="The output format; sarif is for findings.")]


@spread
def inspect(
    context: typer.Context,
    *,
    path: PathArgument,
    stage: StageOption = Stage.PROGRAM,
    format: FormatOption = Format.TEXT,
    target: OnlyTargetOption = "",
    arch: ArchOption = "",
    kernel: KernelOption = None,
    contract: ContractOption = None,
    size: SizeOption = None,
    build: Build,
    limit: LimitOption = 60.0,
    json: JsonFlag = False,
    debug: DebugFlag = False,
) -> int:
    """Show what porter sees in a source."""
    from porter.report.source.inspection import Inspection
    from porter.source.load import read_sources

    built = build.of(path)
    with context.obj.progress() as step:
        inspection = Inspection(
            source=read_sources(path)[0],
            target=target,
            arch=arch,
            kernels=tuple(kernel or ()),
            sizes=parse_sizes(size or ()),
            include_dirs=built.include_dirs,
            defines=built.defines,
            built=built.findings,
            contract=contract,
            limit_s=limit,
            cache=cache_folder(),
            progress=step,
        )
        if stage is Stage.TENSOR:
            inspection.lifted  # noqa: B018 - computed while progress is shown
    _print(context.obj, inspection, stage, Format.JSON if json else format)
    return 0


def _print(console: Console, inspection: Inspection, stage: Stage, format: Format) -> None:
    from porter.report.source.inspection import stage_document, stage_sarif, stage_text

    match format:
        case Format.TEXT:
            console.show(stage_text(inspection, stage))
        case Format.JSON:
            console.document(stage_document(inspection, stage))
        case Format.SARIF:
            console.document(stage_sarif(inspection, stage))

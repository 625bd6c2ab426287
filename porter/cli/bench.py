"""`porter bench`: judge a candidate, then time it on a device beside its standard."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from porter.cli.build import Build
from porter.cli.groups import spread
from porter.cli.options import (
    ArchOption,
    DebugFlag,
    FidelityOption,
    JsonFlag,
    OnlyTargetOption,
    Original,
    QuietFlag,
    ReferenceOption,
    SeedOption,
    VerboseFlag,
    checked_file,
    drawn_seed,
    named_path,
    parse_fidelity,
    parse_sizes,
)
from porter.cli.verify import CandidateArgument, EntryOption, judged

AgainstOption = Annotated[
    Path,
    typer.Option(
        "--against",
        metavar="FILE",
        parser=named_path,
        help="A CUDA source, a contract that names one, or a reference.",
    ),
]
AtOption = Annotated[list[str] | None, typer.Option("--at", metavar="NAME=N", help="A size to time it at; repeatable.")]


@spread
def bench(
    context: typer.Context,
    *,
    candidate: CandidateArgument,
    against: AgainstOption,
    target: OnlyTargetOption = "",
    arch: ArchOption = "",
    original: Original,
    build: Build,
    reference: ReferenceOption = None,
    entry: EntryOption = "",
    seed: SeedOption = None,
    fidelity: FidelityOption = "emulated",
    at: AtOption = None,
    quiet: QuietFlag = False,
    verbose: VerboseFlag = False,
    json: JsonFlag = False,
    debug: DebugFlag = False,
) -> int:
    """Check a candidate, then time it on an NVIDIA device beside its original."""
    from porter.native.place import require_device
    from porter.registry import backend_of, find_backend

    require_device()
    options = replace(
        original.options((find_backend(target) if target else backend_of(candidate)).name),
        arch=arch,
        entry=entry,
        seed=drawn_seed() if seed is None else seed,
        fidelity=parse_fidelity(fidelity),
        timed=True,
        timed_sizes=parse_sizes(at or ()),
        reference=checked_file(reference),
    )
    return judged(candidate, against, options, build, context.obj)

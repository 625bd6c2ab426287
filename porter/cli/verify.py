"""`porter verify`: hold a port as it stands to its original."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from porter.cli.console import Console
from porter.cli.options import (
    ArchOption,
    ContractOption,
    DebugFlag,
    DefineOption,
    IncludeOption,
    JsonFlag,
    KernelOption,
    OnlyTargetOption,
    SizeOption,
    TimeLimitOption,
    cache_folder,
    parse_sizes,
)
from porter.errors import DONE, FELL_SHORT

if TYPE_CHECKING:
    from porter.evaluate.migration import MigrateOptions

CandidateArgument = Annotated[Path, typer.Argument(metavar="CANDIDATE", help="The port, as it stands.")]
AgainstOption = Annotated[Path, typer.Option("--against", metavar="FILE", help="The CUDA source it is a port of.")]
EntryOption = Annotated[str, typer.Option("--entry", metavar="NAME", help="The candidate's function to call.")]
SeedOption = Annotated[
    int | None, typer.Option("--seed", metavar="N", min=0, help="Repeat the judgement that named this seed.")
]
_SEED_BITS = 48  # a number that every reader of JSON keeps exact


def verify(
    context: typer.Context,
    candidate: CandidateArgument,
    against: AgainstOption,
    target: OnlyTargetOption = "",
    arch: ArchOption = "",
    kernel: KernelOption = None,
    contract: ContractOption = None,
    size: SizeOption = None,
    include_dir: IncludeOption = None,
    define: DefineOption = None,
    time_limit: TimeLimitOption = 20.0,
    entry: EntryOption = "",
    seed: SeedOption = None,
    json: JsonFlag = False,
    debug: DebugFlag = False,
) -> int:
    """Execute a port and its CUDA original on the CPU, and compare them."""
    from porter.evaluate.migration import MigrateOptions
    from porter.registry import backend_of, find_backend

    options = MigrateOptions(
        target=(find_backend(target) if target else backend_of(candidate)).name,
        cache=cache_folder(),
        arch=arch,
        kernels=tuple(kernel or ()),
        contract=contract,
        sizes=parse_sizes(size or ()),
        include_dirs=tuple(include_dir or ()),
        defines=tuple(define or ()),
        time_limit_s=time_limit,
        entry=entry,
        seed=secrets.randbits(_SEED_BITS) if seed is None else seed,
    )
    return _show(candidate, against, options, context.obj)


def _show(candidate: Path, against: Path, options: MigrateOptions, console: Console) -> int:
    from porter.evaluate.outcome import Verified
    from porter.evaluate.verify import verify as verify_port
    from porter.report.migration import migration_text
    from porter.report.migration_document import migration_document

    with console.progress() as step:
        migration = verify_port(candidate, against, options, step)
    if console.json:
        console.document(migration_document(migration, ()))
    else:
        console.show(migration_text(migration, ()))
    return DONE if isinstance(migration.outcome, Verified) else FELL_SHORT

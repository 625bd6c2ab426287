"""An operator of a suite from a CUDA source: the source, what it includes, and the contract that running it settles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from porter.contract.infer.draft import draft
from porter.contract.model.contract import Contract
from porter.contract.model.toml import dumps
from porter.contract.probe.confirm import confirm
from porter.contract.workload.bench import bench_workload
from porter.errors import InputError, UsageError
from porter.evaluate.problem.bench import CUDA_WARP_SIZE, bench
from porter.execution.job import Executable
from porter.source.headers import DiskHeaders
from porter.source.load import load
from porter.source.parse import parse
from porter.source.program import Program
from porter.translation_unit import original_unit


@dataclass(frozen=True, slots=True)
class NewOperator:
    """An operator to make: `source` as the operator `name` below the folder `suite`; `category` is guessed where empty.

    `kernels`, `sizes`, `include_dirs` and `defines` are as in a migration; `cache` holds builds, `time_limit_s` bounds
    the processor time of one run.
    """

    source: Path
    suite: Path
    name: str
    category: str
    kernels: tuple[str, ...]
    sizes: Mapping[str, int]
    cache: Path
    time_limit_s: float
    include_dirs: tuple[Path, ...] = ()
    defines: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MadeOperator:
    """An operator in `folder`. Where its source is not `built` here, its contract is as the text alone drafts it."""

    folder: Path
    built: bool


def new_operator(wanted: NewOperator) -> MadeOperator:
    """The operator, which is made.

    Raises `InputError` where it exists or the source has no entry, `UsageError` for a name that is none of a folder.
    """
    for name in (wanted.name, wanted.category):
        _check_name(name)
    (source,) = load(wanted.source).sources[:1]
    program = parse(source, headers=DiskHeaders(wanted.include_dirs), defines=wanted.defines)
    contracts, built = _settled(program, wanted)
    if not contracts:
        raise InputError(f"{wanted.source}: has no kernel that could be called, and no function that launches one")
    category = wanted.category or contracts[0].category
    folder = wanted.suite / category / (wanted.name or wanted.source.stem)
    if folder.exists():
        raise InputError(f"{folder} exists already", "another --name")
    drafted = tuple(replace(_with_bench(c, wanted.sizes), category=category) for c in contracts)
    texts = {"kernel.cu": _with_macros(source.text, wanted.defines), "contract.toml": dumps(drafted)}
    for path, text in {**texts, **{name: header.text for name, header in program.headers}}.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, "utf-8")
    return MadeOperator(folder, built)


def _with_macros(text: str, defines: tuple[str, ...]) -> str:
    """The source with the macros of its build in front: an operator is built without it."""
    named = (define.partition("=") for define in defines)
    lines = [f"#define {name} {value if equals else 1}\n" for name, equals, value in named]
    return "".join([*lines, text])


def _check_name(name: str) -> None:
    if name in (".", "..") or "/" in name:
        raise UsageError(f"{name}: not a name for a folder in a suite", "for example --category norm --name layer_norm")


def _with_bench(contract: Contract, sizes: Mapping[str, int]) -> Contract:
    """With a size for devices as well: those that a CPU takes say nothing of speed."""
    bench = bench_workload(contract, sizes) if contract.symbols else None
    return contract if bench is None else replace(contract, workloads=(*contract.workloads, bench))


def _settled(program: Program, wanted: NewOperator) -> tuple[tuple[Contract, ...], bool]:
    """The drafted contracts with what running the original tells, and whether it builds: else they are as drafted."""
    headers = tuple(header for _, header in program.headers)
    drafted = draft(program, kernels=wanted.kernels, sizes=wanted.sizes, whole_program=False, headers=headers)
    original = original_unit(program, wanted.include_dirs, wanted.defines)
    with bench(wanted.cache, wanted.time_limit_s) as place:
        built = place.begin(original.request(drafted, CUDA_WARP_SIZE)).result() if drafted else ()
        settled = tuple(
            confirm(contract, place.execute(one), wanted.sizes).contract if isinstance(one, Executable) else contract
            for contract, one in zip(drafted, built, strict=True)
        )
    return settled, all(isinstance(one, Executable) for one in built)

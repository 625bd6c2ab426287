"""Keeps the subject of a search in its own folder: the search goes on from there, wherever the user's files have gone.

original/<source>, the local headers it includes, original/contract.toml

Candidates are compared with the source: CUDA that they are ports of, a Python reference, or recorded answers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path

from porter.backend import Backend, Port, Target
from porter.contract.model.contract import Contract, Workload
from porter.contract.model.reader import load_contracts
from porter.contract.model.toml import dumps
from porter.contract.workload.bench import timed_workloads
from porter.errors import InputError
from porter.evaluate.model.migration import MigrateOptions, Migration
from porter.evaluate.model.outcome import Equal
from porter.evaluate.problem.bench import Bench
from porter.evaluate.problem.original import no_original, read_original
from porter.evaluate.problem.standards import opened
from porter.evolve.scoring.cost import Cost
from porter.execution.job import Construction
from porter.oracle.golden import golden_standard
from porter.registry import find_backend, find_target
from porter.rules.original import NO_CODE, OwnCode
from porter.source.encoding import read_text
from porter.source.program import Program
from porter.source_text import Source
from porter.translation_unit import TranslationUnit

ORIGINAL, CONTRACT = "original", "contract.toml"
_STATED = {True: "user", False: "porter"}
_REFERENCE, _SEED, _GIVEN = "reference", "seed", "given"  # said in a journal only where they are not the usual


class StandardKind(StrEnum):
    """Names what candidates of a search are compared with."""

    CUDA = "cuda"
    PYTHON = "python"
    RECORDING = "recording"


@dataclass(frozen=True)
class Subject:
    """The subject of a search: `seed`, which was verified for the entries of `contracts`.

    It is a port of `original`, which only has a path where the standard is of another kind than CUDA. With `is_given`
    the seed was not made by porter from the source. `options` hold a contract only where the user wrote it.
    `constructions` say how a class is built at the workloads of these names.
    """

    original: TranslationUnit
    seed: Port
    target: Target
    contracts: tuple[Contract, ...]
    options: MigrateOptions
    standard_kind: StandardKind = StandardKind.CUDA
    is_given: bool = False
    constructions: Mapping[str, Construction] = field(default_factory=dict)

    @property
    def path(self) -> Path:
        """Returns the file that candidates are compared with."""
        return self.original.source.path

    @property
    def own(self) -> OwnCode:
        """Returns what candidates may have since their original has it, and the functions that they are called by."""
        called = filter(None, (self.options.entry,))
        return replace(self.original.own, functions=self.original.own.functions.union(called))

    @property
    def workloads(self) -> tuple[tuple[Contract, Workload], ...]:
        """Returns the workloads at which candidates are scored."""
        return tuple((contract, workload) for contract in self.contracts for workload in self.workloads_of(contract))

    def cost(self, backend: Backend, port: Port, contract: Contract, workload: Workload, place: Bench) -> Cost | str:
        """Returns what a candidate costs at a workload, by the model of `backend`, or why that is not known."""
        construction = self.constructions.get(workload.name)
        return backend.cost(port, self.original, contract, workload, self.target, place, construction=construction)

    def workloads_of(self, contract: Contract) -> tuple[Workload, ...]:
        """Returns those of one contract."""
        sizes = {**self.options.sizes, **self.options.timed_sizes}
        return timed_workloads(contract, sizes, stated=self.options.contract is not None)


@dataclass(frozen=True)
class Beginning:
    """The beginning of a search: `seed`, and the `files` it is compared with, by their names in the search's folder.

    `source` is the user's file; `about` is what a journal says of it.
    """

    source: Path
    files: Mapping[str, bytes]
    about: Mapping[str, str]
    seed: Port

    def keep(self, folder: Path) -> None:
        """Writes the subject of the search into its `folder`. Raises `InputError` where that cannot hold a header."""
        place = folder / ORIGINAL
        for name, content in self.files.items():
            path = place / name
            if not path.resolve().is_relative_to(place.resolve()):
                hint = "--include-dir names another"
                raise InputError(f"{self.source}: the header {name} lies outside its folder", hint)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)

    def is_kept(self, folder: Path) -> bool:
        """Returns whether the search in `folder` is about this source and these contracts."""
        files = {folder / ORIGINAL / name: content for name, content in self.files.items()}
        return all(path.is_file() and path.read_bytes() == content for path, content in files.items())


def beginning_of(migration: Migration, options: MigrateOptions) -> Beginning:
    """Returns the beginning of a search for a better port. Raises `InputError` where nothing is verified."""
    contracts = tuple(e.contract for e in migration.entries if isinstance(e.outcome, Equal) and not e.choice)
    source = migration.source
    if not contracts:
        raise InputError(f"{source.path}: nothing of its port is verified, so there is nothing to improve")
    about = about_of_port(
        source.path.name, migration.target.backend, migration.target.arch, options.defines, options.entry,
        is_stated=options.contract is not None,
    )  # fmt: skip
    return Beginning(source.path, cuda_files(migration.program, contracts), about, Port(migration.files, ()))


def about_of_port(  # noqa: PLR0917 - what a journal says of a search
    source: str,
    target: str,
    arch: str,
    defines: Iterable[str],
    entry: str,
    standard_kind: StandardKind = StandardKind.CUDA,
    *,
    is_stated: bool,
    is_given: bool = False,
) -> Mapping[str, str]:
    """Returns what a journal says of a search for a better port of the file `source`, or a better candidate.

    The user wrote the contract if it `is_stated`, and the candidate if it `is_given`.
    """
    unusual = {_REFERENCE: standard_kind.value} if standard_kind is not StandardKind.CUDA else {}
    return {
        "source": source,
        "target": target,
        "arch": arch,
        "contract": _STATED[is_stated],
        "defines": "\n".join(defines),
        "entry": entry,
        **unusual,
        **({_SEED: _GIVEN} if is_given else {}),
    }


def standard_kind_of(about: Mapping[str, str]) -> StandardKind:
    """Returns what the candidates of a search are compared with, by its journal."""
    return StandardKind(about.get(_REFERENCE, StandardKind.CUDA))


def cuda_files(program: Program, contracts: tuple[Contract, ...]) -> Mapping[str, bytes]:
    """Returns the files, by their names, of a search whose standard is CUDA, with pieces of other files."""
    headers = {name: header.text for name, header in program.headers}
    elsewhere = {piece.path.name: piece.text for piece in program.elsewhere}
    source = program.source
    texts = {**elsewhere, source.path.name: source.text, CONTRACT: dumps(contracts), **headers}
    return {name: text.encode() for name, text in texts.items()}


def kept(folder: Path, about: Mapping[str, str], seed: Port | None, options: MigrateOptions) -> Subject:
    """Returns the subject of the search in `folder`; without a `seed` what the backend makes of the source.

    Only the limits, the cache and the environment of `options` count. Raises `InputError` where a file is missing.
    """
    try:
        path, contract = folder / ORIGINAL / about["source"], folder / ORIGINAL / CONTRACT
        defines = tuple(filter(None, about["defines"].split("\n")))
        stated, backend = about["contract"] == _STATED[True], find_backend(about["target"])
        target, entry, standard_kind = find_target(backend, about["arch"]), about["entry"], standard_kind_of(about)
    except (KeyError, ValueError) as error:
        raise InputError(f"{folder}: its journal does not say what {error} is", "begin the search again") from error
    include_dirs = (folder / ORIGINAL,)
    known = replace(
        options, target=target.backend, arch=target.arch, include_dirs=include_dirs, defines=defines, entry=entry,
        contract=contract if stated else None, kernels=(), sizes={},
    )  # fmt: skip
    contracts, is_given = load_contracts(contract), about.get(_SEED) == _GIVEN
    if standard_kind is not StandardKind.CUDA:
        own = golden_standard(path).own if standard_kind is StandardKind.RECORDING else NO_CODE
        if seed is None:
            raise InputError(f"{folder}: it does not say what the search began with", "begin the search again")
        subject = Subject(
            no_original(path, own, contracts, known), seed, target, contracts, known, standard_kind, is_given
        )
        return (
            replace(subject, constructions=_constructions(subject)) if standard_kind is StandardKind.PYTHON else subject
        )
    original = read_original(Source(path, read_text(path)), known, within=folder / ORIGINAL)
    port = seed or backend.port(original.program, tuple(header for _, header in original.headers), target)
    return Subject(original, port, target, contracts, known, is_given=is_given)


def _constructions(subject: Subject) -> Mapping[str, Construction]:
    """Returns how a class that answers as a module does is built at the workloads at which candidates are scored."""
    with opened(subject.path, subject.options) as standard:
        found = {workload.name: standard.construction(workload.sizes) for _, workload in subject.workloads}
    return {name: construction for name, construction in found.items() if construction is not None}

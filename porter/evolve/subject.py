"""What a search is about, kept in its own folder: from there it goes on, wherever the user's files have gone.

original/<source>, the local headers it includes, original/contract.toml
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from porter.backend import Port, Target
from porter.contract.bench import timed_workloads
from porter.contract.contract import Contract, Workload
from porter.contract.reader import load_contracts
from porter.contract.toml import dumps
from porter.errors import InputError
from porter.evaluate.migration import MigrateOptions, Migration
from porter.evaluate.original import read_original
from porter.evaluate.outcome import Equal
from porter.evaluate.side import Side
from porter.registry import find_backend, find_target
from porter.source.encoding import read_text
from porter.source.text import Source

ORIGINAL, CONTRACT = "original", "contract.toml"
_STATED = {True: "user", False: "porter"}


@dataclass(frozen=True)
class Subject:
    """What is improved: `seed`, a port of `original` that was verified for the entries of `contracts`.

    In `options` there is a contract only where the user wrote it.
    """

    original: Side
    seed: Port
    target: Target
    contracts: tuple[Contract, ...]
    options: MigrateOptions

    @property
    def workloads(self) -> tuple[tuple[Contract, Workload], ...]:
        """Returns the workloads at which candidates are scored."""
        return tuple((contract, workload) for contract in self.contracts for workload in self.workloads_of(contract))

    def workloads_of(self, contract: Contract) -> tuple[Workload, ...]:
        """Returns those of one contract."""
        sizes = {**self.options.sizes, **self.options.timed_sizes}
        return timed_workloads(contract, sizes, stated=self.options.contract is not None)


def keep(migration: Migration, options: MigrateOptions, folder: Path) -> Mapping[str, str]:
    """Write what the search is about into its `folder`, and give what else has to be known of it.

    Raises `InputError` where nothing of the migration is verified, or a header lies where the folder cannot hold it.
    """
    source, place = migration.source, folder / ORIGINAL
    for name, text in _texts(migration).items():
        path = place / name
        if not path.resolve().is_relative_to(place.resolve()):
            raise InputError(f"{source.path}: the header {name} lies outside its folder", "--include-dir names another")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return about_of(migration, options)


def is_kept(migration: Migration, folder: Path) -> bool:
    """Returns whether the search in `folder` is about this source and these contracts."""
    files = {folder / ORIGINAL / name: text for name, text in _texts(migration).items()}
    return all(path.is_file() and read_text(path) == text for path, text in files.items())


def about_of(migration: Migration, options: MigrateOptions) -> Mapping[str, str]:
    """Returns what a journal says of what its search is about."""
    return about_of_port(
        migration.source.path.name, migration.target.backend, migration.target.arch, options.defines, options.entry,
        is_stated=options.contract is not None,
    )  # fmt: skip


def about_of_port(
    source: str, target: str, arch: str, defines: Iterable[str], entry: str, *, is_stated: bool
) -> Mapping[str, str]:
    """Returns the same of a port of the file `source`, whose contract the user wrote if it `is_stated`."""
    return {
        "source": source,
        "target": target,
        "arch": arch,
        "contract": _STATED[is_stated],
        "defines": "\n".join(defines),
        "entry": entry,
    }


def _texts(migration: Migration) -> Mapping[str, str]:
    """The files that a search is about, by their names, with pieces of others. Raises `InputError` where nothing is
    verified.
    """
    contracts = tuple(e.contract for e in migration.entries if isinstance(e.outcome, Equal) and not e.choice)
    source = migration.source
    if not contracts:
        raise InputError(f"{source.path}: nothing of its port is verified, so there is nothing to improve")
    headers = {name: header.text for name, header in migration.program.headers}
    elsewhere = {piece.path.name: piece.text for piece in migration.program.elsewhere}
    return {**elsewhere, source.path.name: source.text, CONTRACT: dumps(contracts), **headers}


def kept(folder: Path, about: Mapping[str, str], seed: Port | None, options: MigrateOptions) -> Subject:
    """Returns what the search in `folder` is about; without a `seed` what the backend makes of the source.

    Of `options` the limits, the cache and the environment count. Raises `InputError` where something is not there.
    """
    try:
        path, contract = folder / ORIGINAL / about["source"], folder / ORIGINAL / CONTRACT
        defines = tuple(filter(None, about["defines"].split("\n")))
        stated, backend = about["contract"] == _STATED[True], find_backend(about["target"])
        target, entry = find_target(backend, about["arch"]), about["entry"]
    except KeyError as error:
        raise InputError(f"{folder}: its journal does not say what {error} is", "begin the search again") from error
    include_dirs = (folder / ORIGINAL,)
    known = replace(
        options, target=target.backend, arch=target.arch, include_dirs=include_dirs, defines=defines, entry=entry,
        contract=contract if stated else None, kernels=(), sizes={},
    )  # fmt: skip
    original = read_original(Source(path, read_text(path)), known)
    port = seed or backend.port(original.program, tuple(header for _, header in original.headers), target)
    return Subject(original, port, target, load_contracts(contract), known)

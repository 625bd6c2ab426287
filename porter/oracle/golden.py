"""Answers recorded where the original runs, for machines where it does not: one file, whole or refused.

A zip of contracts, a record of every workload with its place among the contracts, and raw tensors: what was right, the
yardstick, and arguments that no seed makes. A digest over all of it tells a copy that was cut short or edited by hand;
it is no signature.
"""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from porter.contract.model.contract import Contract, Workload
from porter.contract.model.toml import dumps, loads
from porter.diagnostics.findings import Finding
from porter.errors import InputError
from porter.oracle.golden_record import Golden, Tensors, golden, record
from porter.oracle.reference import Reference
from porter.rules.original import OwnCode
from porter.source_text import Source
from porter.whole_file import whole_file

GOLDEN = ".golden"
_CONTRACTS, _RECORD, _DIGEST = "contracts.toml", "record.json", "sha256"
_WHEN = (2000, 1, 1, 0, 0, 0)  # the same answers make the same file


@dataclass(frozen=True)
class GoldenStandard:
    """Recorded answers as a standard: no others can be had."""

    source: Source
    golden: Golden
    findings: tuple[Finding, ...] = ()

    @property
    def recorded(self) -> int | None:
        """The seed of its workloads, which are the only ones."""
        return self.golden.seed

    @property
    def own(self) -> OwnCode:
        """Returns what was recorded of its code."""
        return self.golden.own

    @property
    def left_out(self) -> str:
        """Returns what was left out when they were recorded."""
        return self.golden.left_out

    def contracts(self) -> tuple[Contract, ...]:
        """Returns the contracts that were recorded."""
        return tuple(reference.contract for reference in self.golden.references)

    def written_sizes(self, contract: Contract) -> Mapping[str, int]:  # noqa: ARG002 - it knows none
        """None: what was recorded is as small as what a CPU runs."""
        return {}

    def sizes_near(self, contract: Contract, targets: Mapping[str, int]) -> None:
        """None: it has answers at the sizes that were recorded."""

    def other_axes(self, contract: Contract) -> tuple[Workload, ...]:  # noqa: ARG002 - it knows none
        """None: it answers to what was recorded alone."""
        return ()

    def construction(self, sizes: Mapping[str, int]) -> None:
        """Returns None: the recording has it with each workload."""

    def reference(self, contract: Contract) -> Reference:
        """The recorded answers."""
        return next(r for r in self.golden.references if r.contract.name == contract.name)


def golden_standard(path: Path) -> GoldenStandard:
    """The file at `path`. Raises `InputError` where it is no whole recording."""
    return GoldenStandard(Source(path, ""), read_golden(path))


def write_golden(path: Path, recorded: Golden) -> None:
    """Write `recorded` to `path`, whole or not at all. Raises `OSError`."""
    tensors = Tensors({})
    text = record(recorded, tensors)
    contracts = dumps(tuple(_as_stated(reference.contract) for reference in recorded.references))
    files = {_CONTRACTS: contracts.encode(), _RECORD: text.encode(), **tensors.held}
    with whole_file(path) as fresh, zipfile.ZipFile(fresh, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in (*files.items(), (_DIGEST, _digest(files).encode())):
            archive.writestr(zipfile.ZipInfo(name, _WHEN), content, zipfile.ZIP_DEFLATED)


def _as_stated(contract: Contract) -> Contract:
    """Returns `contract` with all that a judgement drew as its own: a recording is asked nothing else."""
    return replace(contract, workloads=tuple(replace(workload, is_drawn=False) for workload in contract.workloads))


def read_golden(path: Path) -> Golden:
    """Returns what was written to `path`. Raises `InputError` for anything else, and for what was changed since."""
    held = _read_archive(path)
    if held.pop(_DIGEST, b"").decode("ascii", "replace") != _digest(held):
        raise InputError(f"{path}: it was changed since it was recorded: its checksum differs", "record it again")
    try:
        contracts = loads(held[_CONTRACTS].decode(), path)
        return golden(held[_RECORD].decode(), contracts, Tensors(held))
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path}: it is not a recording of this porter's: {error}", "record it again") from error


def _read_archive(path: Path) -> dict[str, bytes]:
    try:
        with zipfile.ZipFile(path) as archive:
            return {name: archive.read(name) for name in archive.namelist()}
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from error
    except (zipfile.BadZipFile, EOFError, ValueError, NotImplementedError, RuntimeError) as error:
        raise InputError(f"{path}: it is damaged, or not a recording: {error}", "`porter record` makes one") from error


def _digest(files: Mapping[str, bytes]) -> str:
    """Over names, lengths and contents."""
    whole = hashlib.sha256()
    for name in sorted(files):
        whole.update(f"{name}\0{len(files[name])}\0".encode())
        whole.update(files[name])
    return whole.hexdigest()

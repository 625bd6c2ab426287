"""Searches from a candidate that anybody may have written, and that was verified against its standard.

porter.evaluate.verify ──▶ Verdict ──▶ Beginning ──▶ porter.search.run.improve ──▶ Improved ──▶ the best as files
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from porter.backend import Port, PortedFile
from porter.contract.model.contract import Contract
from porter.contract.model.toml import dumps
from porter.errors import PorterError
from porter.evaluate.model.migration import MigrateOptions, Progress
from porter.evaluate.model.verdict import Verdict
from porter.evaluate.problem.candidate import candidate_port
from porter.evaluate.problem.original import read_original
from porter.evaluate.problem.standards import against_cuda, as_written, opened
from porter.evaluate.verify import verify_port
from porter.evolve.candidate import File
from porter.evolve.scoring.evaluator import port_of
from porter.evolve.scoring.subject import CONTRACT, Beginning, StandardKind, about_of_port, cuda_files
from porter.measure.deadline import Deadline, OutOfTime
from porter.native.place import missing_device
from porter.oracle.standard import Standard
from porter.registry import find_backend
from porter.search.run import Improved, SearchOptions, improve


@dataclass(frozen=True)
class Given:
    """A candidate with its files as `port`, and the standard it is compared with, `against`."""

    candidate: Path
    port: Port
    against: Path
    options: MigrateOptions

    @classmethod
    def read(cls, candidate: Path, against: Path, options: MigrateOptions) -> Given:
        """Returns what lies at these paths. Raises `InputError` for a candidate that cannot be read."""
        port = candidate_port(candidate, find_backend(options.target), options.include_dirs)
        return cls(candidate, port, against, options)

    @property
    def run(self) -> str:
        """Returns the name of the folder of a search that begins with it."""
        return f"{self.candidate.stem}.{self.options.target}.search"

    def verdict(self, progress: Progress) -> Verdict:
        """Returns what `porter verify` says of it. Raises `PorterError` where the limit is over before."""
        return _verdict_within(self.port, self.against, self.options, progress)

    def searched(self, verdict: Verdict, wanted: SearchOptions, run: Path, progress: Progress) -> Better:
        """Searches from it, which the `verdict` says is right, in the folder `run`; judges the best in the same way."""
        improved = improve(_beginning(self, verdict), replace(self.options, seed=None), wanted, run, progress)
        if improved.best is None or not improved.is_better:
            return Better(improved, verdict, ())
        main, *others = improved.best.candidate.files
        files = (replace(main, name=self.port.files[0].name), *others)  # what is written anew has another name
        port = port_of(files, self.port.files[0].source.path.parent)
        # What was searched for longer than a verdict takes is not lost to a limit on that.
        unlimited = replace(self.options, timed=not missing_device(), deadline=Deadline())
        best = verify_port(port, self.against, unlimited, progress)
        return Better(improved, best, files)

    def paths(self, files: Iterable[File | PortedFile], folder: Path) -> Mapping[Path, str]:
        """Returns the files of a program by their paths in `folder`, where it is called as the candidate is."""
        place = folder / self.candidate.name if self.candidate.is_dir() else folder
        return {place / file.name: file.text for file in files}


@dataclass(frozen=True)
class Better:
    """The outcome of a search: the `verdict` on its best, and that one's `files` where it is better than the seed."""

    improved: Improved
    verdict: Verdict
    files: tuple[File, ...]


def _beginning(given: Given, verdict: Verdict) -> Beginning:
    against, options = given.against, given.options
    cuda = against_cuda(against, options)
    if cuda is not None:
        original = read_original(cuda.source, replace(options, contract=cuda.contract))
        contracts = tuple(entry.contract for entry in verdict.entries if not entry.choice)
        source, standard_kind, files = cuda.source.path, StandardKind.CUDA, cuda_files(original.program, contracts)
        is_stated = cuda.contract is not None
    else:
        with opened(against, options) as standard:
            source = standard.source.path
            standard_kind = StandardKind.PYTHON if standard.recorded is None else StandardKind.RECORDING
            files = _files_of(standard, options)
        is_stated = standard_kind is StandardKind.PYTHON and (options.contract is not None or against != source)
    about = about_of_port(
        source.name, verdict.target.backend, verdict.target.arch, options.defines, options.entry, standard_kind,
        is_stated=is_stated, is_given=True,
    )  # fmt: skip
    return Beginning(source, files, about, given.port)


def _verdict_within(port: Port, against: Path, options: MigrateOptions, progress: Progress) -> Verdict:
    deadline = Deadline(options.deadline.limit_s)
    try:
        with deadline.running():
            return verify_port(port, against, replace(options, deadline=deadline), progress)
    except OutOfTime:
        message = f"{port.files[0].name}: the limit of {deadline.limit_s:g} s was over before there was a verdict"
        raise PorterError(message, "allow more with --limit S") from None


def _files_of(standard: Standard, options: MigrateOptions) -> Mapping[str, bytes]:
    """Returns the files, by their names, that a search is about whose standard is not CUDA."""
    path = standard.source.path
    contracts = tuple(_scored(contract, standard, options) for contract in standard.contracts())
    return {path.name: path.read_bytes(), CONTRACT: dumps(contracts).encode()}


def _scored(contract: Contract, standard: Standard, options: MigrateOptions) -> Contract:
    """Returns a contract with the sizes that the user chose, and with those that candidates are scored at."""
    chosen = {symbol: size for symbol, size in options.sizes.items() if symbol in contract.symbols}
    asked = tuple(replace(workload, sizes={**workload.sizes, **chosen}) for workload in contract.workloads)
    return replace(contract, workloads=(*asked, *as_written(standard, contract)))

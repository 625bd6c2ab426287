"""A source's operators as tensor programs, each judged against the source as a port is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from porter.contract.contract import Contract, Entry
from porter.evaluate.bench import bench
from porter.evaluate.judge import Candidate
from porter.evaluate.migrate import contracts_of, executed
from porter.evaluate.migration import MigrateOptions, Progress
from porter.evaluate.outcome import Fidelity, NotVerified, Outcome
from porter.evaluate.ported import Candidates, Ported, Signature
from porter.evaluate.prove import Prover
from porter.evaluate.side import original_side
from porter.evaluate.tensor_run import TensorRun
from porter.ir.tensor.program import TensorProgram
from porter.lift.nodes import NotLiftedError
from porter.registry import find_backend, find_target
from porter.source.headers import DiskHeaders
from porter.source.parse import parse
from porter.source.text import Source


@dataclass(frozen=True, slots=True)
class Lifted:
    """An entry: its tensor program, None where it has none, and what comparing that with the source came to."""

    entry: Entry
    program: TensorProgram | None
    outcome: Outcome


@runtime_checkable
class Lifting(Protocol):
    """What a port offers whose launchers can be executed on symbols."""

    def lifted(self, contract: Contract) -> TensorProgram:
        """The entry of `contract` as a tensor program. Raises `NotLiftedError`."""
        ...


@dataclass
class LiftedPort:
    """The tensor programs of a port's entries in place of the port; `programs` are those of the contracts asked for."""

    port: Ported
    programs: list[TensorProgram | None] = field(default_factory=list)
    warp_sizes: tuple[int, ...] = ()
    runs_programs = False
    fidelity = Fidelity.EMULATED

    def named(self, entry: Entry) -> str:
        """The function of the port that answers for `entry`."""
        return self.port.named(entry)

    def signatures(self, function: str) -> tuple[Signature, ...]:
        """Returns how the port's function can be called."""
        return self.port.signatures(function)

    def candidates(self, contracts: Sequence[Contract]) -> tuple[Candidates, ...]:
        """The program of each entry; not verified where it has none."""
        return tuple(map(self._candidate, contracts))

    def _candidate(self, contract: Contract) -> Candidates:
        self.programs.append(None)
        if not isinstance(self.port, Lifting):
            return NotVerified("its port is not executed on symbols")
        try:
            program = self.port.lifted(contract)
        except NotLiftedError as error:
            return NotVerified(f"it is not lifted: {error}")
        self.programs[-1] = program
        return (Candidate(None, TensorRun(program, contract)),)


def lift(source: Source, options: MigrateOptions, progress: Progress) -> tuple[Lifted, ...]:
    """The entries of a source as tensor programs, each compared with the source on the workloads of its contract.

    Raises `PorterError`s as `migrate` does.
    """
    backend = find_backend(options.target)
    target = find_target(backend, options.arch)
    program = parse(source, headers=DiskHeaders(options.include_dirs), defines=options.defines)
    original = original_side(program, options.include_dirs, options.defines)
    progress(f"porting {source.path.name}")
    port = backend.port(program, tuple(header for _, header in original.headers), target)
    with (
        bench(options.cache, options.time_limit_s) as place,
        executed(original, port, target, options, place, is_trusted=True) as ready,
    ):
        ported = LiftedPort(ready)
        contracts = contracts_of(original, options, whole_program=False)
        proofs = Prover(original, ported, options.sizes, place, options.contract is not None).prove(contracts, progress)
        return tuple(
            Lifted(proof.entry.contract.entry, program, proof.entry.outcome)
            for proof, program in zip(proofs, ported.programs, strict=True)
        )

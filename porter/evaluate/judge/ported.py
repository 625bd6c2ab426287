"""Makes a port ready to run: by the executor where it is MACA C++, by whatever runs its language elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from porter.backend import Port, Target
from porter.contract.analysis.usage import Usage, usage_of
from porter.contract.model.contract import Contract, Entry, EntryKind
from porter.dialect import CUDA, Dialect
from porter.evaluate.judge.judge import Candidate
from porter.evaluate.judge.telling_sizes import Named
from porter.evaluate.model.outcome import Fidelity, NotBuilt, NotVerified, Refused
from porter.evaluate.problem.bench import CUDA_WARP_SIZE, Bench
from porter.execution.job import BuildFailure, Built, HardwareLimits, Part
from porter.rules.original import NO_CODE, OwnCode
from porter.simt.host_calls import not_free
from porter.simt.planned_run import calls_outside
from porter.source.program import Function
from porter.translation_unit import TranslationUnit, ported_unit

_MOST_NAMED = 3

# NotBuilt for what is wrong with the port, Refused for what breaks a rule, NotVerified where an entry has nothing
# that it could be compared with.
Candidates = tuple[Candidate, ...] | NotBuilt | NotVerified | Refused


@dataclass(frozen=True, slots=True)
class Signature:
    """The arguments that a function can be called with: its parameters, of which the first `required` have no default.

    `variadic` says that it takes any number beyond them. One that `is_class` is built first, and takes inputs.
    """

    parameters: tuple[str, ...]
    required: int
    variadic: bool = False
    is_class: bool = False


class Ported(Protocol):
    """A port as its original is compared with it: for each entry, one or more ways to run jobs on it."""

    @property
    def warp_sizes(self) -> tuple[int, ...]:
        """The warp widths at which it is executed; none where what executes it knows no warps."""
        ...

    @property
    def runs_programs(self) -> bool:
        """Returns whether the entry is a `main`; else its launchers and kernels are the entries."""
        ...

    @property
    def fidelity(self) -> Fidelity:
        """Returns what its outcomes and times say of the target."""
        ...

    def named(self, entry: Entry) -> str:
        """Returns the function that answers for `entry`, by its name; empty where there is none."""
        ...

    def signatures(self, function: str) -> tuple[Signature, ...]:
        """Returns how the function of that name can be called, each overload by itself; none if it does not exist."""
        ...

    def candidates(self, contracts: Sequence[Contract]) -> tuple[Candidates, ...]:
        """Returns what answers for the entry of each of `contracts`; each of them has to answer right."""
        ...


def emulated(
    port: Port,
    original: TranslationUnit,
    target: Target,
    bench: Bench,
    dialect: Dialect = CUDA,
    *,
    is_trusted: bool = True,
) -> EmulatedPort:
    """Returns a port in C++, run by the executor: at the target's width first, then at CUDA's own; both must be right.

    `dialect` is the spelling of CUDA that it is written in.

    A port that is not trusted plans its launches in one process, and another one carries them out.
    """
    hardware = HardwareLimits(
        max_threads=target.max_threads, shared_bytes=target.shared_bytes, dynamic_shared_bytes=target.shared_bytes
    )
    warp_sizes = tuple(dict.fromkeys((target.warp_size, CUDA_WARP_SIZE)))
    part = Part.WHOLE if is_trusted else Part.HOST
    return EmulatedPort(ported_unit(port, original, dialect), bench, hardware, warp_sizes, part, original.own)


@dataclass(frozen=True)
class SourcePort:
    """A port in C++: what it defines is read from its source."""

    side: TranslationUnit

    def named(self, entry: Entry) -> str:
        """Returns the function or kernel of the entry's own name; `main` for a program."""
        return "main" if entry.kind is EntryKind.PROGRAM else next((f.qualified for f in self.side.named(entry)), "")

    def signatures(self, function: str) -> tuple[Signature, ...]:
        """Returns the signatures of the source's host functions."""
        usage = usage_of(self.side.program, tuple(header for _, header in self.side.headers))
        return tuple(_signature(usage, f) for f in self.side.named(Entry(EntryKind.TORCH, function)))


def _signature(usage: Usage, function: Function) -> Signature:
    """Returns the signature of a C++ function, which takes the fields of a struct one by one."""
    taken = [field for p in function.params for field in usage.records.fields(function, p) or (p,)]
    return Signature(tuple(p.name for p in taken), sum(not p.default for p in taken))


@dataclass(frozen=True)
class EmulatedPort(SourcePort):
    """A port that the executor runs at each of `warp_sizes`, within its target's limits, `hardware`.

    `part` says whether it runs whole or only plans. Host code that is not trusted may call what launches need, and what
    the original's host code, its `own`, calls.
    """

    bench: Bench
    hardware: HardwareLimits
    warp_sizes: tuple[int, ...]
    part: Part = Part.WHOLE
    own: OwnCode = NO_CODE
    runs_programs = True
    fidelity = Fidelity.EMULATED

    def candidates(self, contracts: Sequence[Contract]) -> tuple[Candidates, ...]:
        """Returns the executables at every width, or why one does not build; skips entries without a function."""
        found = [contract for contract in contracts if self.named(contract.entry)]
        requests = (replace(self.side.request(found, width), part=self.part) for width in self.warp_sizes)
        building = [self.bench.begin(request) for request in requests] if found else []
        widths = [build.result() for build in building]
        built = iter([self._candidates(ports) for ports in zip(*widths, strict=True)])
        return tuple(next(built) if contract in found else self._not_found(contract) for contract in contracts)

    def _not_found(self, contract: Contract) -> NotVerified:
        kind = "kernel" if contract.entry.kind is EntryKind.KERNEL else "function"
        place = f"{self.side.source.path.name} or the headers of the port"
        return NotVerified(f"no {kind} '{contract.entry.name}' is found in {place}, so that nothing answers for it")

    def _candidates(self, ports: tuple[Built, ...]) -> Candidates:
        ready = []
        for port in ports:
            if isinstance(port, BuildFailure):
                return NotBuilt(port.placed, port.log)
            failure = NotBuilt(port.failure.placed, port.failure.log) if port.failure else None
            candidate = Candidate(
                port.request.warp_size,
                self.bench.execute(port, self.hardware),
                failure=failure,
                named=lambda: Named(self.side.numbers),
            )
            if port.device is not None:
                if others := not_free(calls_outside(port), self.own.words):
                    named = ", ".join(f"`{name}`" for name in others[:_MOST_NAMED])
                    return Refused(f"PORT1194: its host code uses {named}, which no launch needs")
                runs = self.bench.planned(port, port.device, self.hardware, self.own.library_work)
                candidate = replace(
                    candidate,
                    execute=runs.execute,
                    rehearse=runs.rehearse,
                    conclude=runs.conclude,
                    sample=runs.sample,
                )
            ready.append(candidate)
        return tuple(ready)

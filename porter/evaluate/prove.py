"""One entry proven: the original examined at 32 lanes, its port executed at the target's width and at 32, compared."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from porter.contract.confirm import confirm
from porter.contract.contract import Contract, EntryKind, Question, Role
from porter.contract.findings import contract_findings
from porter.contract.garbage import POISONS
from porter.contract.questions import guessed_launch, others, unknown_bounds, unknown_extents
from porter.evaluate.judge import Candidate, Execute, judge
from porter.evaluate.migration import EntryOutcome, Progress
from porter.evaluate.outcome import NotBuilt, NotVerified, Outcome, Wrong
from porter.evaluate.side import Side
from porter.findings import Finding
from porter.oracle.faults import LEFT_BOUNDS
from porter.oracle.reference import Reference, examine
from porter.simt.build import build
from porter.simt.job import BuildFailure, Executable, HardwareLimits, Job, Limits, Run, TensorValue
from porter.simt.run import run
from porter.source.program import Program

CUDA_WARP_SIZE = 32
_MISFIT = "the contract is open: extents found by running do not hold at every size (--contract)"


@dataclass(frozen=True)
class Bench:
    """Where executables are built and how they run. `hardware` holds the port to its target's limits."""

    cache: Path
    limits: Limits
    hardware: HardwareLimits
    warp_sizes: tuple[int, ...]
    pool: Executor

    def execute(self, executable: Executable, hardware: HardwareLimits | None = None) -> Execute:
        """A function that runs jobs on `executable`."""

        def run_job(job: Job) -> Run:
            return run(executable, job if hardware is None else replace(job, hardware=hardware), self.limits)

        return run_job


@dataclass(frozen=True, slots=True)
class Proof:
    """What came of an entry, and what was seen of the original on the way.

    `ran` is False where the original never came to an end: then a smaller part of it may.
    """

    entry: EntryOutcome
    findings: tuple[Finding, ...]
    ran: bool = True


@dataclass(frozen=True)
class Prover:
    """The original, its port, and what proving any entry of theirs takes."""

    original: Side
    ported: Side
    sizes: Mapping[str, int]
    bench: Bench

    def prove(self, contract: Contract, progress: Progress) -> Proof:
        """Build, confirm, examine, judge. Builds run side by side; each is cached by content.

        A double-precision twin of the original is only built where the port differs by more than tolerance: it says how
        much the original itself rounds. Ports that keep the order of operations never need it.
        """
        progress(f"building {contract.name}")
        built, *ports = self._build(contract)
        if isinstance(built, BuildFailure):
            return _unproven(contract, _not_built(built, contract, self.original.program))
        progress(f"running {contract.name} as CUDA at {CUDA_WARP_SIZE} lanes")
        execute = self.bench.execute(built)
        confirmation = confirm(contract, execute, self.sizes)
        settled = confirmation.contract
        noted = contract_findings(confirmation, self.original.program)
        because = _open(settled, confirmation.trouble)
        if because:
            return Proof(EntryOutcome(settled, NotVerified(because)), noted)
        reference = examine(settled, self.original.program, execute)
        found = (*noted, *reference.findings)
        because = _unsound(reference)
        if because and unknown_extents(contract) and _leaves_bounds(reference):
            return _unproven(settled, f"{_MISFIT}; trying gave: {reference.because}")
        if because and (question := guessed_launch(settled)):
            return _unproven(settled, f"{_asked(question)}; {_launch(settled)} gave: {reference.because or because}")
        if because:
            return Proof(EntryOutcome(settled, NotVerified(because)), found, ran=_ran(reference))
        progress(f"running the port of {contract.name}")
        outcome = _judged(reference, ports, self.bench)
        if isinstance(outcome, Wrong) and (twin := self._twin(settled)):
            reference = examine(settled, self.original.program, execute, twin)
            outcome = _judged(reference, ports, self.bench)
        return Proof(EntryOutcome(settled, outcome), found)

    def _twin(self, contract: Contract) -> Execute | None:
        """The original in double precision; None where it cannot be compiled so."""
        built = build(self.original.request(contract, CUDA_WARP_SIZE, double_precision=True), self.bench.cache)
        return self.bench.execute(built) if isinstance(built, Executable) else None

    def _build(self, contract: Contract) -> list[Executable | BuildFailure]:
        """The original, and the port at each width."""
        requests = [
            self.original.request(contract, CUDA_WARP_SIZE),
            *(self.ported.request(contract, width) for width in self.bench.warp_sizes),
        ]
        return list(self.bench.pool.map(lambda request: build(request, self.bench.cache), requests))


def _judged(reference: Reference, ports: list[Executable | BuildFailure], bench: Bench) -> Outcome:
    candidates = []
    for port in ports:
        if isinstance(port, BuildFailure):
            return NotBuilt(f"{_place(port)}{port.message}", port.log)
        width = port.request.warp_size
        candidates.append(Candidate(width, bench.execute(port, bench.hardware)))
    return judge(reference, tuple(candidates))


def _unproven(contract: Contract, because: str) -> Proof:
    return Proof(EntryOutcome(contract, NotVerified(because)), ())


def _open(contract: Contract, trouble: str) -> str:
    """What keeps the original from being run at all."""
    if contract.entry.kind is EntryKind.PROGRAM:
        return ""
    if unknown_extents(contract) or unknown_bounds(contract) or not contract.workloads:
        return _asked(*contract.questions) + (f"; trying gave: {trouble}" if trouble else "")
    return ""


def _asked(*questions: Question) -> str:
    asked = "; ".join(f"{q.text} ({q.flag})" for q in questions) or "its sizes are not known"
    return f"the contract is open: {asked}"


def _launch(contract: Contract) -> str:
    launch = contract.entry.launch
    return f"a grid of ({', '.join(launch.grid)}) and a block of ({', '.join(launch.block)})" if launch else "a guess"


def _ran(reference: Reference) -> bool:
    """Whether the original came to an end and launched something on the way."""
    return any(expected.outputs.tensors for expected in reference.expected)


def _leaves_bounds(reference: Reference) -> bool:
    return any(finding.code == LEFT_BOUNDS for finding in reference.findings)


def _unsound(reference: Reference) -> str:
    """Why the original's answers cannot be compared with."""
    if reference.because:
        return f"the original itself cannot be believed: {reference.because}"
    if not reference.complete:
        done = len(reference.expected)
        return f"the original is too slow here: {done} workloads in {reference.seconds:.0f} s; smaller sizes: --size"
    if not reference.expected:
        return "the original did not finish any workload"
    written = _written(reference)
    if not any(tensor.storage.size for tensor in written):
        return "the original leaves no tensor that could be compared"
    if all(bool((tensor.storage.reshape(-1).view(np.uint8) == POISONS[0]).all()) for tensor in written):
        return "the original writes none of its outputs"
    return ""


def _written(reference: Reference) -> list[TensorValue]:
    """What the original was seen to leave, without the arguments that it only reads."""
    read = {tensor.name for tensor in reference.contract.tensors if tensor.role is Role.IN}
    return [t for expected in reference.expected for name, t in expected.outputs.tensors if name not in read]


def _not_built(failure: BuildFailure, contract: Contract, program: Program) -> str:
    """Why the original cannot be executed: what the compiler said, or what porter itself could not read before.

    Where only the call of the entry does not compile, it is the contract that has no values for it.
    """
    said = f"the CUDA source does not build on the executor: {_place(failure)}{failure.message}"
    if not failure.line and (asked := others(contract)):
        return f"{_asked(*asked)}; {failure.message}"
    if failure.line or not program.not_understood:
        return said
    first = program.not_understood[0]
    return f"the CUDA source is no C++ from line {first.span.line} on: {first.reason}"


def _place(failure: BuildFailure) -> str:
    return f"{failure.file}:{failure.line}: " if failure.line else ""

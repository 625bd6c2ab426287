"""Entries proven: the original built for the executor and examined at 32 lanes, its port run on the same, compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from porter.contract.confirm import Confirmation, confirm
from porter.contract.contract import Contract
from porter.contract.findings import contract_findings
from porter.evaluate.bench import CUDA_WARP_SIZE, Bench
from porter.evaluate.choices import Examine, examined
from porter.evaluate.doubt import misled, misvalued, not_built, still_open, unsound
from porter.evaluate.judge import Execute, judge
from porter.evaluate.judging import Judging
from porter.evaluate.migration import EntryOutcome, Progress
from porter.evaluate.nulls import passing_null
from porter.evaluate.outcome import NotVerified, Outcome, Verified, Wrong
from porter.evaluate.ported import Candidates, Ported
from porter.evaluate.side import Side
from porter.findings import Finding
from porter.oracle.reference import Reference, examine
from porter.oracle.yardstick import in_whole_numbers, measured
from porter.simt.job import BuildFailure, Built, Executable

_TOLD_BY_NOTHING = "the workloads cannot tell right from wrong: {} would pass every one of them"


@dataclass(frozen=True, slots=True)
class Proof:
    """What came of an entry, and what was seen of the original on the way.

    `damned` says that running showed the original itself to be wrong; `apart` are the proofs of single choices of an
    argument at which it is, where it is not at the others.
    """

    entry: EntryOutcome
    findings: tuple[Finding, ...]
    damned: bool = False
    apart: tuple[Proof, ...] = ()

    @property
    def stands(self) -> bool:
        """Whether this is the verdict; False where nothing came of the original: a part of the entry may have it."""
        return self.damned or self.compared

    @property
    def compared(self) -> bool:
        """Whether there was something to hold the port to, or no port."""
        return not isinstance(self.entry.outcome, NotVerified)


@dataclass(frozen=True)
class Prover:
    """The original, its port, and what proving any entry of theirs takes.

    `sizes` are those that the user chose; `stated` says that the user wrote the contracts. With `judging` a port that
    anyone may have written is held to more than the contracts' workloads.
    """

    original: Side
    ported: Ported
    sizes: Mapping[str, int]
    bench: Bench
    stated: bool = False
    judging: Judging | None = None

    def prove(self, contracts: Sequence[Contract], progress: Progress) -> list[Proof]:
        """Build all entries at once; confirm, examine and judge them one by one."""
        if not contracts:
            return []
        progress(f"building {contracts[0].name if len(contracts) == 1 else f'{len(contracts)} entries'}")
        building = self.bench.begin(self.original.request(contracts, CUDA_WARP_SIZE))
        ports = self.ported.candidates(contracts)
        ready = zip(contracts, building.result(), ports, strict=True)
        return [self._emulated(contract, built, port, progress) for contract, built, port in ready]

    def _emulated(self, contract: Contract, built: Built, port: Candidates, progress: Progress) -> Proof:
        """The proof by those workloads that are not for devices alone; it names the others."""
        here = tuple(workload for workload in contract.workloads if not workload.device_only)
        proof = self._proof(replace(contract, workloads=here), built, port, progress)
        return with_caveat(proof, _not_run([w.name for w in contract.workloads if w.device_only]))

    def _proof(self, contract: Contract, built: Built, port: Candidates, progress: Progress) -> Proof:
        if isinstance(built, BuildFailure):
            because = not_built(built, contract, self.original.program)
            return Proof(EntryOutcome(contract, NotVerified(because)), ())
        progress(f"running {contract.name} as CUDA at {CUDA_WARP_SIZE} lanes")
        execute = self.bench.execute(built)
        complete = self.stated and contract.workloads and not contract.questions
        confirmation = Confirmation(contract, 0) if complete else confirm(contract, execute, self.sizes)
        settled = confirmation.contract
        noted = contract_findings(confirmation, self.original.program)
        if because := still_open(settled, confirmation.trouble):
            return Proof(EntryOutcome(settled, NotVerified(because)), noted)
        drafted = not self.stated and any(symbol not in self.sizes for symbol in settled.symbols)
        look = partial(examine, program=self.original.program, execute=execute, drafted=drafted)
        drawn = self.judging.reseeded(settled) if self.judging else settled
        found = examined(drawn, look, self.judging.further(drawn) if self.judging else ())
        if unsound(found.reference):
            return _doubted(found.reference, contract, noted, look)
        progress(f"running the port of {contract.name}")
        proof = self._judged(found.reference, execute, _held(port, built), noted)
        apart = tuple(_at(choice, _doubted(reference, contract, (), look)) for choice, reference in found.wrong)
        return with_caveat(with_caveat(replace(proof, apart=apart), found.left_out), _left_out(built))

    def _judged(self, reference: Reference, execute: Execute, port: Candidates, noted: tuple[Finding, ...]) -> Proof:
        """The port held to a sound `reference`.

        A twin of the original that rounds otherwise is only built where the port differs by more than tolerance: it
        says how much the original itself loses. Ports that keep the order of operations never need it.
        """
        if self.judging and (null := passing_null(reference)):
            return Proof(_entry(reference, NotVerified(_TOLD_BY_NOTHING.format(null))), noted)
        outcome = _outcome(reference, port)
        if isinstance(outcome, Wrong) and (twin := self._twin(reference.contract)):
            reference = measured(reference, twin)
            outcome = _outcome(reference, port)
            if isinstance(outcome, Verified) and (whole := in_whole_numbers(reference)):
                exact = measured(examine(whole, self.original.program, execute), twin)
                outcome = _both(outcome, _outcome(exact, port))
        return Proof(_entry(reference, outcome), (*noted, *reference.findings))

    def _twin(self, contract: Contract) -> Execute | None:
        """The original rounding otherwise; None where it cannot be compiled so."""
        building = self.bench.begin(self.original.request((contract,), CUDA_WARP_SIZE, double_precision=True))
        (built,) = building.result()
        return self.bench.execute(built) if isinstance(built, Executable) else None


def _doubted(reference: Reference, drafted: Contract, noted: tuple[Finding, ...], look: Examine) -> Proof:
    """What is said of an original that cannot be compared with: the contract may be the reason, or itself."""
    if asked := misled(reference, drafted) or misvalued(reference, drafted, look):
        return Proof(_entry(reference, NotVerified(asked)), noted)
    return Proof(_entry(reference, NotVerified(unsound(reference))), (*noted, *reference.findings), reference.damned)


def _at(choice: str, proof: Proof) -> Proof:
    return replace(proof, entry=replace(proof.entry, choice=choice))


def with_caveat(proof: Proof, caveat: str) -> Proof:
    """The proof, which says what its verdict leaves out."""
    outcome = proof.entry.outcome
    if not isinstance(outcome, Verified) or not caveat:
        return proof
    whole = "; ".join(filter(None, (outcome.caveat, caveat)))
    return replace(proof, entry=replace(proof.entry, outcome=replace(outcome, caveat=whole)))


def _entry(reference: Reference, outcome: Outcome) -> EntryOutcome:
    return EntryOutcome(reference.contract, outcome, launched=reference.launched)


def _both(first: Verified, second: Outcome) -> Outcome:
    """The verdict over the workloads of two."""
    return replace(first, checked=(*first.checked, *second.checked)) if isinstance(second, Verified) else second


def _left_out(built: Executable) -> str:
    """What the original had to be built without; empty when it is whole."""
    if built.failure is None:
        return ""
    empty = f", and {', '.join(built.absent)} taken to be empty" if built.absent else ""
    return f"host functions, which do not build here ({built.failure.message}), were left out{empty}"


def _not_run(workloads: list[str]) -> str:
    """What is said of those that only a device runs."""
    return f"not run without a device: {', '.join(workloads)}" if workloads else ""


def _held(port: Candidates, built: Executable) -> Candidates:
    """`port`, which is none where it had to be built without its host functions and the original had not."""
    if not isinstance(port, tuple) or built.failure is not None:
        return port
    return next((c.failure for c in port if c.failure is not None), port)


def _outcome(reference: Reference, port: Candidates) -> Outcome:
    return judge(reference, port) if isinstance(port, tuple) else port

"""Entries proven: the original examined at 32 lanes, its port run on the same workloads, compared."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce

from porter.branch_coverage import NOT_MEASURED, Branches
from porter.contract.contract import Contract
from porter.evaluate.bench import Bench
from porter.evaluate.choices import deciding
from porter.evaluate.doubt import unsound
from porter.evaluate.judge import Candidate, judge
from porter.evaluate.judging import Judging
from porter.evaluate.migration import EntryOutcome, Progress
from porter.evaluate.nulls import TOLD_BY_NOTHING, passing_null
from porter.evaluate.outcome import Equal, Fidelity, NotVerified, Outcome, Refused, Verified, Wrong
from porter.evaluate.ported import Candidates, Ported
from porter.evaluate.rehearsal import Rehearsal, rehearsals
from porter.evaluate.side import Side
from porter.evaluate.study import Originals, Studied, Unproven
from porter.evaluate.telling import Held, Telling, telling
from porter.evaluate.views import on_device
from porter.findings import Finding
from porter.measure.deadline import Deadline, OutOfTime
from porter.oracle.outputs import largest
from porter.oracle.reference import Reference
from porter.simt.compiler import end_calls
from porter.simt.job import BuildFailure, Built

# The root of bfloat16's epsilon and a margin, in parts of the largest number: `compare` allows no more to any type.
_MOST_LOST = 0.1


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
        """Returns whether this is the verdict; False where nothing came of the original: a part of the entry may
        have it.
        """
        return self.damned or self.compared

    @property
    def compared(self) -> bool:
        """Returns whether there was something to hold the port to, or no port."""
        return not isinstance(self.entry.outcome, NotVerified)


# Makes what answers for an entry from its settled contract and from the port of it.
Answering = Callable[[Contract, Candidates], Candidates]


def as_built(_: Contract, port: Candidates) -> Candidates:
    """The port itself."""
    return port


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
    deadline: Deadline = field(default_factory=Deadline)
    answering: Answering = as_built

    def prove(self, contracts: Sequence[Contract], progress: Progress) -> list[Proof]:
        """Build all entries at once; study and judge them one by one. Those left at the deadline are not verified."""
        proofs, steps = list[Proof](), list[str]()

        def noted(step: str) -> None:
            steps.append(step)
            progress(step)

        try:
            if contracts and not self.deadline.passed:
                proofs.extend(self._proofs(contracts, noted))
        except OutOfTime:
            end_calls()
        where = f" while {steps[-1]}" if steps else ""
        late = f"the limit of {self.deadline.limit_s or 0:g} s was over{where} (--limit)"
        return [*proofs, *(Proof(EntryOutcome(c, NotVerified(late)), ()) for c in contracts[len(proofs) :])]

    def _proofs(self, contracts: Sequence[Contract], progress: Progress) -> Iterator[Proof]:
        progress(f"building {contracts[0].name if len(contracts) == 1 else f'{len(contracts)} entries'}")
        building = self._originals.begin(contracts)
        ports = self.ported.candidates(contracts)
        ready = zip(contracts, building.result(), ports, strict=True)
        for contract, built, port in ready:
            yield self._proof(contract, built, port, progress)

    @property
    def _originals(self) -> Originals:
        return Originals(self.original, self.sizes, self.bench, self.stated, self.judging)

    def _proof(self, contract: Contract, built: Built, port: Candidates, progress: Progress) -> Proof:
        studied = self._originals.study(contract, built, progress)
        if isinstance(studied, Unproven):
            return _unproven(studied)
        assert not isinstance(built, BuildFailure)
        if self.ported.fidelity is not Fidelity.EMULATED:
            reference, said = on_device(studied.reference)
            studied = replace(studied, reference=reference, left_out=(*studied.left_out, said))
        progress(f"running the port of {contract.name}")
        built_port = port if built.failure is not None else _whole(port)
        held = self.answering(studied.reference.contract, built_port)
        proof = replace(judged(self._originals, studied, held), apart=tuple(_at(*apart) for apart in studied.apart))
        on_devices = tuple(workload for workload in contract.workloads if workload.device_only)
        proof = reduce(with_caveat, (*studied.left_out, _not_run([w.name for w in on_devices])), proof)
        settled = proof.entry.contract
        whole = replace(settled, workloads=(*settled.workloads, *on_devices))
        return replace(proof, entry=replace(proof.entry, contract=whole))


def judged(originals: Originals, studied: Studied, port: Candidates) -> Proof:
    """The port held to sound answers.

    A twin of the original that rounds otherwise is only built where the port differs by more than tolerance: it says
    how much the original itself loses. Ports that keep the order of operations never need it. In the same way the
    original is planned only where the port breaks a rule: what the one does, the other may do.
    """
    reference, seen = studied.reference, (*studied.noted, *studied.reference.findings)
    if originals.judging and (null := passing_null(reference)):
        return Proof(_entry(reference, NotVerified(TOLD_BY_NOTHING.format(null))), seen)
    at = rehearsals(reference.contract, originals.sizes, {}, lambda _: None) if originals.judging else ()
    reference, outcome = _held(originals, studied, port, at)
    if originals.judging and isinstance(outcome, Verified) and isinstance(port, tuple):
        workloads = telling(reference, port, originals.source.numbers, originals.judging)
        reference, outcome = _asked(originals, studied, port).held(reference, outcome, workloads)
    return Proof(_entry(reference, outcome), seen)


def _held(originals: Originals, studied: Studied, port: Candidates, at: Sequence[Rehearsal] = ()) -> Held:
    """Returns what was expected, and what came of the port."""
    reference = studied.reference
    outcome = _outcome(reference, port, at, is_trusted=not originals.judging)
    if isinstance(outcome, Refused):
        habitual = originals.with_habits(reference)
        if habitual.habits != reference.habits:
            reference, studied = habitual, replace(studied, reference=habitual)
            outcome = _outcome(reference, port, at, is_trusted=False)
    if isinstance(outcome, Wrong) and _may_round(reference, outcome):
        reference = originals.measured(studied)
        outcome = _outcome(reference, port, at, is_trusted=not originals.judging)
        if isinstance(outcome, Verified):
            exact = originals.in_whole_numbers(reference, studied.execute)
            outcome = _both(outcome, _outcome(exact, port)) if exact else outcome
    return reference, outcome


def _asked(originals: Originals, studied: Studied, port: tuple[Candidate, ...]) -> Telling:
    """Returns how original and port are asked further."""

    def hold(contract: Contract) -> Held | None:
        reference = originals.examined(contract, studied.execute)
        if unsound(reference):
            return None
        return _held(originals, replace(studied, reference=deciding(contract, reference)), port)

    return Telling(port, lambda contract: originals.examined(contract, studied.execute, once=True), hold)


def _may_round(reference: Reference, wrong: Wrong) -> bool:
    """Returns whether what the original itself loses could explain the answer: never all of it, nor what has no
    number.
    """
    failed = wrong.checked[-1]
    expected = (e for e in reference.expected if e.workload.name == failed.name)
    return any(failed.max_abs_error <= _MOST_LOST * largest(e.outputs) for e in expected)


def _unproven(found: Unproven) -> Proof:
    entry = EntryOutcome(found.contract, NotVerified(found.because), launched=found.launched)
    return Proof(entry, found.findings, found.damned)


def _at(choice: str, found: Unproven) -> Proof:
    proof = _unproven(found)
    return replace(proof, entry=replace(proof.entry, choice=choice))


def with_caveat(proof: Proof, caveat: str) -> Proof:
    """The proof, which says what its verdict leaves out."""
    outcome = proof.entry.outcome
    if not isinstance(outcome, Equal) or not caveat:
        return proof
    whole = "; ".join(filter(None, (outcome.caveat, caveat)))
    return replace(proof, entry=replace(proof.entry, outcome=replace(outcome, caveat=whole)))


def _entry(reference: Reference, outcome: Outcome) -> EntryOutcome:
    branches = Branches(reference.coverage, outcome.coverage if isinstance(outcome, Verified) else NOT_MEASURED)
    return EntryOutcome(reference.contract, outcome, launched=reference.launched, branches=branches)


def _both(first: Verified, second: Outcome) -> Outcome:
    """The verdict over the workloads of two."""
    return first.joined(second) if isinstance(second, Verified) else second


def _not_run(workloads: list[str]) -> str:
    """Returns what is said of those that only a device runs."""
    return f"not run without a device: {', '.join(workloads)}" if workloads else ""


def _whole(port: Candidates) -> Candidates:
    """`port`, which is none where it had to be built without its host functions."""
    if not isinstance(port, tuple):
        return port
    return next((c.failure for c in port if c.failure is not None), port)


def _outcome(
    reference: Reference, port: Candidates, at: Sequence[Rehearsal] = (), *, is_trusted: bool = True
) -> Outcome:
    return judge(reference, port, at, is_trusted=is_trusted) if isinstance(port, tuple) else port

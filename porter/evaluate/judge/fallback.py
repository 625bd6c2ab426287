"""Goes from an entry whose original cannot be run to its parts: from a program to its launchers, to their kernels.

A `main` may read files or take too long here, a launcher may need what main sets up or another file defines, its
contract may stay open. None of this says anything about the kernels behind it, so they are proven by themselves, and
their verdicts say what was not compared. An original that running showed to be wrong is never passed over in this way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce

from porter.backend import Port
from porter.contract.analysis.usage import Usage, usage_of
from porter.contract.infer.draft import draft, draft_each
from porter.contract.infer.entries import kernels_behind, launching, left_out
from porter.contract.model.contract import Contract, EntryKind
from porter.diagnostics.catalogue import core_catalogue
from porter.diagnostics.findings import Finding
from porter.evaluate.judge.prove import Proof, Prover, with_caveat
from porter.evaluate.judge.refusal import refusal
from porter.evaluate.model.migration import EntryOutcome, MigrateOptions, Progress
from porter.evaluate.model.outcome import KernelsVerified, NotBuilt, NotVerified, Refused, Verified
from porter.source.program import Function

PARTS_STAND = "PORT5001"
KERNEL_LEFT_OUT = "PORT5004"
_NOT_COMPARED = "{} itself was not compared"
_NOT_CALLED = "{} itself has no contract and was not compared"


@dataclass(frozen=True)
class Fallback:
    """Proves entries, and the parts of an entry that cannot be run."""

    prover: Prover
    port: Port
    options: MigrateOptions
    progress: Progress

    def proofs(self, contracts: Sequence[Contract]) -> list[Proof]:
        """Returns the proof of each entry, or those of its parts; an entry with a contract of the user's has no parts.

        An entry that was not ported keeps its verdict, and the kernels behind it get theirs as well.
        """
        proofs = self._proven(contracts)
        if self.options.contract is not None:
            return proofs
        return [self._as_launched(proof) for proof in self._with_refused(self._in_parts(proofs, contracts))]

    def _in_parts(self, proofs: list[Proof], contracts: Sequence[Contract]) -> list[Proof]:
        """Returns `proofs`, with the parts of an entry in place of one that cannot be run."""
        main = next((p for p in proofs if p.entry.contract.entry.kind is EntryKind.PROGRAM and not p.stands), None)
        if main is None:
            return self._with_kernels(proofs)
        others = [proof for proof in proofs if proof is not main]
        parts = self._with_kernels([*self._proven(self._behind_main(contracts)), *others])
        if any(part.compared for part in parts):
            return [self._part(part, main) for part in parts]
        return [*parts, main]  # what keeps the parts from being compared says more than what main lacks

    def _behind_main(self, contracts: Sequence[Contract]) -> tuple[Contract, ...]:
        """Returns launchers, and kernels that none of them reaches, but none that one of `contracts` is for."""
        known = {contract.name for contract in contracts}
        usage = self._usage
        drafted = draft(usage.program, sizes=self.options.sizes, whole_program=False, headers=usage.headers)
        return tuple(contract for contract in drafted if contract.name not in known)

    def _with_kernels(self, proofs: list[Proof]) -> list[Proof]:
        """Returns `proofs`, with kernels in the place of launchers that could not be run; all these are built at once.

        A kernel that an entry was seen to launch is not proven again: that entry stands for the launcher.
        """
        behind = [(proof, self._kernels_behind(proof)) for proof in proofs if not proof.stands]
        kernels = tuple(dict.fromkeys(kernel for _, reached in behind for kernel in reached))
        known = {k: proof for k in kernels for proof in reversed(proofs) if _stands_for(proof, k)}
        fresh = [kernel for kernel in kernels if kernel not in known]
        bare = dict(zip(fresh, self._proven(draft_each(self._usage, fresh, self.options.sizes)), strict=True))
        proven = known | bare
        fallen = [(launcher, reached) for launcher, reached in behind if any(self._tells(proven[k]) for k in reached)]
        standing = {id(proven[k]): proven[k] for k in kernels}.values()
        wholes = [(p, [whole for whole, reached in fallen if any(proven[k] is p for k in reached)]) for p in standing]
        parts = [(part, launchers) for part, launchers in wholes if launchers]
        replaced = {id(proof) for proof, _ in (*fallen, *parts)}
        kept = [proof for proof in proofs if id(proof) not in replaced]
        return [*kept, *(reduce(self._part, launchers, part) for part, launchers in parts)]

    def _tells(self, part: Proof) -> bool:
        """Returns whether a kernel's verdict says anything: candidates have its launchers and own kernels."""
        missing = self.prover.judging is not None and isinstance(part.entry.outcome, NotBuilt)
        return part.compared and not missing

    def _with_refused(self, proofs: list[Proof]) -> list[Proof]:
        """Returns `proofs`, with those of kernels that only launchers lead to which were not ported.

        The launchers say which kernels could not be compared.
        """
        behind = {id(p): self._kernels_behind(p) for p in proofs if isinstance(p.entry.outcome, Refused)}
        reached = dict.fromkeys(kernel for kernels in behind.values() for kernel in kernels)
        fresh = [k for k in reached if not any(_stands_for(proof, k) for proof in proofs)]
        proven = dict(zip(fresh, self._proven(draft_each(self._usage, fresh, self.options.sizes)), strict=True))
        left = {k: p for k, p in proven.items() if not p.compared}
        told = [
            replace(p, findings=(*p.findings, *(_left_out(k, left[k]) for k in behind.get(id(p), ()) if k in left)))
            for p in proofs
        ]
        compared = [p for p in proven.values() if p.compared and not isinstance(p.entry.outcome, Refused)]
        whole = [*told, *map(self.alone, compared)]
        if self.prover.judging is not None:
            return whole
        return [
            _with_kernels_told(p, behind.get(id(before), ()), whole)
            for p, before in zip(whole, [*proofs, *compared], strict=True)
        ]

    def _kernels_behind(self, proof: Proof) -> tuple[Function, ...]:
        """Returns what a launcher leads to, of the kernels the user chose."""
        chosen = set(self.options.kernels)
        kernels = kernels_behind(self._usage, proof.entry.contract.entry.name)
        return tuple(k for k in kernels if not chosen or chosen & {k.name, k.qualified})

    def _part(self, part: Proof, whole: Proof) -> Proof:
        """Returns `part`, which says that `whole` was not compared, and why."""
        outcome, contract = whole.entry.outcome, whole.entry.contract
        assert isinstance(outcome, NotVerified)
        functions = self._usage.program.host_functions
        place = next((f.header for f in functions if f.qualified == contract.entry.name), None)
        stands = core_catalogue()[PARTS_STAND].at(place, f"{contract.name}: {outcome.because}")
        seen = (*whole.findings, stands, *part.findings)
        return self.alone(with_caveat(replace(part, findings=seen), _NOT_COMPARED.format(contract.name)))

    def _as_launched(self, proof: Proof) -> Proof:
        """Returns `proof`, which says what leads to its entry and has no contract: members want an object."""
        entry = proof.entry.contract.entry
        if not isinstance(proof.entry.outcome, Verified) or self.options.kernels:
            return proof
        is_kernel = entry.kind is EntryKind.KERNEL
        leading = launching(self._usage, entry.name) if is_kernel else self._stood_for.get(entry.name, ())
        names = [f.qualified for f in leading]
        return self.alone(with_caveat(proof, _NOT_CALLED.format(", ".join(names)))) if names else proof

    def alone(self, proof: Proof) -> Proof:
        """Returns `proof` of a kernel that stands for its launcher, and for no more, unless the user asked for it."""
        outcome, entry = proof.entry.outcome, proof.entry.contract.entry
        if self.options.kernels or entry.kind is not EntryKind.KERNEL or not isinstance(outcome, Verified):
            return proof
        alone = KernelsVerified(outcome.checked, outcome.caveat, outcome.compiled_for)
        return replace(proof, entry=replace(proof.entry, outcome=alone))

    def _proven(self, contracts: Sequence[Contract]) -> list[Proof]:
        """Returns the proof of each entry that was ported."""
        refused = [refusal(contract, self._usage.program, self.port, self._usage.headers) for contract in contracts]
        wanted = [contract for contract, because in zip(contracts, refused, strict=True) if because is None]
        proven = iter(self.prover.prove(wanted, self.progress))
        return [
            next(proven) if because is None else Proof(EntryOutcome(contract, because), ())
            for contract, because in zip(contracts, refused, strict=True)
        ]

    @cached_property
    def _stood_for(self) -> Mapping[str, tuple[Function, ...]]:
        """The host functions that take objects, by those that stand for them: to read all is to do so once."""
        return left_out(self._usage)

    @cached_property
    def _usage(self) -> Usage:
        original = self.prover.original
        return usage_of(original.program, tuple(header for _, header in original.headers))


def _left_out(kernel: Function, proof: Proof) -> Finding:
    """Returns what is said of a kernel that only launchers lead to which were not ported, and that was not compared."""
    outcome = proof.entry.outcome
    assert isinstance(outcome, NotVerified)
    return core_catalogue()[KERNEL_LEFT_OUT].at(kernel.header, f"{kernel.qualified}: {outcome.because}")


def _with_kernels_told(proof: Proof, kernels: Sequence[Function], proofs: Sequence[Proof]) -> Proof:
    """Returns `proof`, whose entry says whether all its kernels, if any, stand by themselves among `proofs`."""
    equal = [p for p in proofs if isinstance(p.entry.outcome, Verified | KernelsVerified)]
    stand = bool(kernels) and all(any(_stands_for(p, kernel) for p in equal) for kernel in kernels)
    return replace(proof, entry=replace(proof.entry, kernels_stand=stand))


def _stands_for(proof: Proof, kernel: Function) -> bool:
    """Returns whether `proof` is that of `kernel` itself, or of an entry that was compared and launched it."""
    entry = proof.entry.contract.entry
    itself = entry.kind is EntryKind.KERNEL and entry.name == kernel.qualified
    return itself or (proof.compared and kernel.name in proof.entry.launched)

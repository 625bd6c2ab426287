"""Asks a standard that is not a CUDA source for its answers, once, and compares candidates with them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from threading import Lock

from porter.branch_coverage import NOT_MEASURED, Branches
from porter.contract.model.contract import Contract
from porter.evaluate.judge.device_sizes import DeviceSizes
from porter.evaluate.judge.judge import judge
from porter.evaluate.judge.nulls import TOLD_BY_NOTHING, passing_null
from porter.evaluate.judge.ported import Candidates
from porter.evaluate.judge.prove import Proof, with_caveat
from porter.evaluate.judge.rehearsal import rehearsals
from porter.evaluate.judge.telling import Held, Telling, telling
from porter.evaluate.model.migration import EntryOutcome, MigrateOptions
from porter.evaluate.model.outcome import NotVerified, Outcome, Verified
from porter.evaluate.reference.choices import deciding, examined
from porter.evaluate.reference.doubt import unsound
from porter.evaluate.reference.judging import Judging, of_judgement
from porter.execution.job import Construction
from porter.oracle.reference import Reference
from porter.oracle.standard import Standard


def answers(standard: Standard, contract: Contract, options: MigrateOptions) -> tuple[Reference, str]:
    """Returns what `standard` answers to the workloads of a judgement, and what it has no answer to."""
    if standard.recorded is not None:
        return standard.reference(contract), ""
    chosen = {symbol: size for symbol, size in options.sizes.items() if symbol in contract.symbols}
    sized = (replace(w, sizes={**w.sizes, **chosen}) for w in contract.workloads if not w.device_only)
    here = replace(contract, workloads=tuple(sized))
    judging = _judging(contract, options)
    drawn = judging.reseeded(here)
    further = judging.further(drawn, partial(standard.sizes_near, drawn))
    axes = judging.reseeded(replace(drawn, workloads=standard.other_axes(drawn))).workloads
    found = examined(drawn, standard.reference, of_judgement((*further, *axes)))
    return found.reference, found.left_out


def _judging(contract: Contract, options: MigrateOptions) -> Judging:
    return Judging(options.seed or 0, options.sizes, edges=not contract.reference and options.contract is None)


@dataclass(frozen=True)
class StandardAnswers:
    """The answers of a standard to the workloads of one `contract`; several threads may compare candidates with them.

    `unusable` says why they cannot show that a candidate is right; it is empty where they can.
    """

    standard: Standard
    contract: Contract
    reference: Reference
    left_out: str
    sizes: Mapping[str, int]
    judging: Judging
    unusable: str
    _asking: Lock = field(default_factory=Lock, repr=False, compare=False)  # one process answers

    @classmethod
    def of(cls, standard: Standard, contract: Contract, options: MigrateOptions) -> StandardAnswers:
        """Returns the answers to the workloads of a judgement by `options`."""
        reference, left_out = answers(standard, contract, options)
        unusable = unsound(reference)
        if not unusable and (null := passing_null(reference)):
            unusable = TOLD_BY_NOTHING.format(null)
        judging = _judging(contract, options)
        return cls(standard, contract, reference, left_out, options.sizes, judging, unusable)

    def proof(self, candidates: Candidates) -> Proof:
        """Compares the candidate with them, or says why it could not be compared."""
        reference, outcome = self._held(candidates)
        port = outcome.coverage if isinstance(outcome, Verified) else NOT_MEASURED
        entry = EntryOutcome(reference.contract, outcome, branches=Branches(reference.coverage, port))
        return reduce(with_caveat, (self.left_out, self.standard.left_out), Proof(entry, reference.findings))

    def _held(self, candidates: Candidates) -> Held:
        reference = self.reference
        if self.unusable:
            return reference, NotVerified(self.unusable)
        if not isinstance(candidates, tuple):
            return reference, candidates
        standard = self.standard
        with self._asking:
            written = standard.written_sizes(self.contract)
        at = rehearsals(self.contract, self.sizes, written, self._construction)
        device = DeviceSizes(candidates, at, self.judging)
        outcome: Outcome = judge(reference, candidates, is_trusted=False)
        outcome = device.named(outcome, reference.habits) if isinstance(outcome, Verified) else outcome
        if isinstance(outcome, Verified) and standard.recorded is None:
            return self._told(device, outcome)
        return reference, outcome

    def _told(self, device: DeviceSizes, verified: Verified) -> Held:
        """Returns the verdict with workloads for the candidate's numbers, and for what its calls on devices need."""
        candidates = tuple(device.candidates)

        def hold(contract: Contract) -> Held | None:
            answer = self._answer(contract)
            if unsound(answer):
                return None
            answer = deciding(contract, answer)
            return answer, judge(answer, candidates, is_trusted=False)

        asked = Telling(candidates, self._answer, hold)
        workloads = telling(self.reference, candidates, frozenset(), device.judging)
        reference, outcome = asked.held(self.reference, verified, workloads)
        return device.held(reference, outcome, asked) if isinstance(outcome, Verified) else (reference, outcome)

    def _answer(self, contract: Contract) -> Reference:
        with self._asking:
            return self.standard.reference(contract)

    def _construction(self, sizes: Mapping[str, int]) -> Construction | None:
        with self._asking:
            return self.standard.construction(sizes)

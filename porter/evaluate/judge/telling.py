"""Asks a candidate that was right so far at sizes chosen by its own numbers and the original's (`telling_sizes.py`).

Original and candidate run once each there. Where they differ the original is examined as at every other size, and only
a difference that remains counts against the candidate; where the original has no sound answer nothing does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, replace
from functools import reduce

from porter.contract.model.contract import Contract, Workload
from porter.evaluate.judge.judge import Candidate, judge
from porter.evaluate.judge.telling_sizes import Named, telling_workloads
from porter.evaluate.model.outcome import NotVerified, Outcome, Verified
from porter.evaluate.reference.choices import Examine, at_workloads, deciding, joined
from porter.evaluate.reference.doubt import unsound
from porter.evaluate.reference.judging import Judging, of_judgement
from porter.evaluate.reference.size_space import OPERATION_MS, SPARE_MS
from porter.execution.job import Job, Schedule
from porter.oracle.reference import Reference

Held = tuple[Reference, Outcome]
_ONCE = (Schedule.FORWARD,)
_ENOUGH = 2  # of a mutant of a batch norm that was too slow ten took eleven minutes
_LEFT_OUT = "nothing was compared at {}: {}"
_LONG = "one call there takes longer than {:g} s"


@dataclass(frozen=True)
class Telling:
    """Asks original and candidate at further workloads. `once` runs the original a single time.

    `hold` examines it and compares the candidate; it returns None where the original has no sound answer. Neither is
    asked where the other takes longer than `most_ms`.
    """

    candidates: tuple[Candidate, ...]
    once: Examine
    hold: Callable[[Contract], Held | None]
    most_ms: float = SPARE_MS

    def held(self, reference: Reference, verified: Verified, workloads: Sequence[Workload]) -> Held:
        """Returns the verdict over the workloads of `reference`, where it is `verified`, and over `workloads`.

        The first wrong one decides. Once nothing could be compared at `_ENOUGH` of them the rest is not tried.
        """
        seen, outcome, left_out = [reference], verified, 0
        for place, workload in enumerate(workloads):
            found, said = self._at(at_workloads(reference.contract, [workload]), outcome)
            if isinstance(said, NotVerified):
                outcome = outcome.joined(Verified((), _LEFT_OUT.format(workload.name, said.because)))
                left_out += 1
                if left_out == _ENOUGH and (rest := [later.name for later in workloads[place + 1 :]]):
                    outcome = outcome.joined(Verified((), f"nothing was tried at {', '.join(rest)}"))
                    break
            elif found is not None:
                seen.append(found)
                if not isinstance(said, Verified):
                    return _together(seen), said
                outcome = said
        return _together(seen), outcome

    def _at(self, contract: Contract, besides: Verified) -> tuple[Reference | None, Outcome]:
        """Returns what is expected at one workload, None where nothing is, and the verdict with it."""
        reference = self.once(contract)
        if unsound(reference):
            return None, besides
        reference = deciding(contract, reference)
        if any(self._is_long(candidate, e.job(contract)) for e in reference.expected for candidate in self.candidates):
            long = _LONG.format(self.most_ms / 1000)
            return None, besides.joined(Verified((), _LEFT_OUT.format(contract.workloads[0].name, long)))
        outcome = judge(reference, self.candidates, is_trusted=False, schedules=_ONCE, besides=besides)
        if isinstance(outcome, Verified | NotVerified):
            return reference, outcome
        held = self.hold(contract)
        if held is None:
            return None, besides
        reference, outcome = held
        return reference, besides.joined(outcome) if isinstance(outcome, Verified) else outcome

    def _is_long(self, candidate: Candidate, job: Job) -> bool:
        """Returns whether interpreting a call takes longer than it may."""
        return candidate.operations is not None and candidate.operations(job) * OPERATION_MS > self.most_ms


def telling(
    reference: Reference, candidates: Sequence[Candidate], numbers: Set[int], judging: Judging
) -> tuple[Workload, ...]:
    """Returns workloads chosen by the `numbers` of the original and its candidates; none where edges are excluded."""
    named = [candidate.named() for candidate in candidates if candidate.named is not None]
    if not named or not judging.edges:
        return ()
    own = reduce(Named.__or__, named)
    drawn = telling_workloads(reference.contract, own, numbers, judging.fixed, judging.seed)
    return of_judgement(judging.reseeded(replace(reference.contract, workloads=drawn)).workloads)


def _together(references: Sequence[Reference]) -> Reference:
    return joined(references[0].contract, references)

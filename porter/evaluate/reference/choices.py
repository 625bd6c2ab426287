"""Examines the original at each choice of what only selects: if one is wrong, that says nothing of the rest.

The other sides of branches on sizes are treated alike. The workloads without a choice come first; where they cannot be
believed nothing else matters. A choice at which running shows the original to be wrong gets a verdict of its own, one
at which it did not run is named as left out. Workloads that a judge adds are left out in the same way: nobody said that
the original has an answer there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from porter.branch_coverage import united
from porter.contract.infer.branches import sides
from porter.contract.model.contract import Contract, Workload
from porter.contract.model.selections import Selection, selected
from porter.evaluate.reference.doubt import unsound, written
from porter.evaluate.reference.judging import decides, faults_decide
from porter.execution.job import FaultKind
from porter.oracle.outputs import numbers_in
from porter.oracle.reference import Reference

_LEFT_OUT = "at {} nothing was compared: {}"
_NO_ANSWER = "nothing was compared where the original has no sound answer: {}"
_LATE = "the other workloads used up the time"
_BUDGET_S = 60.0

Examine = Callable[[Contract], Reference]


@dataclass(frozen=True, slots=True)
class Examined:
    """`reference` over all believable choices, the choices at which the original is `wrong`, and what was left out."""

    reference: Reference
    wrong: tuple[tuple[str, Reference], ...]
    left_out: str


def examined(
    contract: Contract, examine: Examine, further: Sequence[Workload] = (), *, is_code: bool = False
) -> Examined:
    """Examines the workloads without a choice, those of each choice, and those that come `further`.

    `is_code` says that the original is code whose launches can be seen to fail: then its answer to empty inputs counts.
    """
    aside = frozenset(side for branch in contract.branches for side in sides(branch))
    chosen = [w for w in contract.workloads if w.scalars or w.dtypes or w.takes or w.name in aside]
    first = examine(at_workloads(contract, [w for w in contract.workloads if w not in chosen]))
    if unsound(first) or not (chosen or further):
        return Examined(first, (), "")
    sound, wrong, left_out = [first], list[tuple[str, Reference]](), list[str]()
    seconds = first.seconds
    for workload in chosen:
        if seconds > _BUDGET_S:
            left_out.append(_LEFT_OUT.format(workload.name, _LATE))
            continue
        reference = examine(at_workloads(contract, [workload]))
        seconds += reference.seconds
        if reference.at_fault:
            wrong.append((workload.name, replace(reference, contract=_alone(contract, workload))))
        elif (because := unsound(reference)) and not _is_empty(reference):
            left_out.append(_LEFT_OUT.format(workload.name, because))
        else:
            sound.append(deciding(contract, reference, is_code=is_code) if workload.takes else reference)
    added, without = _added(contract, examine, further, joined(contract, sound), is_code=is_code)
    left_out.extend([_NO_ANSWER.format(", ".join(without))] if without else [])
    return Examined(joined(contract, [*sound, *added]), tuple(wrong), "; ".join(left_out))


def _added(
    contract: Contract, examine: Examine, further: Sequence[Workload], first: Reference, *, is_code: bool
) -> tuple[list[Reference], list[str]]:
    """Returns the original's answers at `further` workloads, while time lasts, and names those without a sound one.

    A value that leads the original to a side that none of the `first` workloads takes is one that it is meant for.
    """
    added, without = list[Reference](), list[str]()
    seconds, known = first.seconds, first.coverage.taken
    for workload in further:
        if seconds > _BUDGET_S:
            without.append(f"{workload.name} (no time)")
            continue
        reference = examine(at_workloads(contract, [workload]))
        seconds += reference.seconds
        if workload.scalars and (unsound(reference) or not _is_finite(reference)):
            continue  # a value that was drawn for a number, and that the operator is not for
        if unsound(reference) and not _is_empty(reference):
            without.append(workload.name)
        elif workload.scalars and any(side.is_branch for side in reference.coverage.taken - known):
            added.append(reference)
        else:
            added.append(deciding(contract, reference, is_code=is_code))
    return added, without


def deciding(contract: Contract, reference: Reference, *, is_code: bool = False) -> Reference:
    """Returns `reference`, in which only answers decide that some standard settles."""
    takes_nothing = is_code and not reference.because
    told = (
        replace(e, decides=decides(contract, e, takes_nothing=takes_nothing), faults_decide=faults_decide(e))
        for e in reference.expected
    )
    return replace(reference, expected=tuple(told))


def _is_finite(reference: Reference) -> bool:
    """Returns whether all that is answered are numbers."""
    return all(bool(np.isfinite(numbers_in(value)).all()) for value in written(reference) if value.dtype.is_float)


def _is_empty(reference: Reference) -> bool:
    """Returns whether there is an answer without a single element, which is one, too."""
    left = written(reference)
    return not reference.because and bool(left) and not any(value.storage.size for value in left)


def at_workloads(contract: Contract, workloads: Sequence[Workload]) -> Contract:
    """Returns the contract with these workloads alone."""
    return replace(contract, workloads=tuple(workloads))


def _alone(contract: Contract, workload: Workload) -> Contract:
    """Returns a contract of the choice of `workload` alone, with a name of its own."""
    chosen = contract
    for name, value in workload.scalars.items():
        chosen = selected(chosen, Selection(name, value))
    return replace(chosen, name=f"{contract.name} at {workload.name}", workloads=(replace(workload, scalars={}),))


def joined(contract: Contract, references: Sequence[Reference]) -> Reference:
    """Returns one reference over the workloads of all."""
    expected = tuple(e for reference in references for e in reference.expected)
    return replace(
        references[0],
        contract=at_workloads(contract, [e.workload for e in expected]),
        expected=expected,
        findings=tuple(dict.fromkeys(f for reference in references for f in reference.findings)),
        launched=tuple(dict.fromkeys(name for reference in references for name in reference.launched)),
        habits=frozenset[FaultKind]().union(*(reference.habits for reference in references)),
        seconds=sum(reference.seconds for reference in references),
        coverage=united(reference.coverage for reference in references),
    )

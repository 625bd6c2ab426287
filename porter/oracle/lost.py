"""Answers that their own type could not hold: what they are computed from overflows on the way.

Another order of operations overflows elsewhere, or nowhere, so such an answer says nothing of a candidate.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from porter.contract.contract import Contract, Distribution
from porter.oracle.jobs import job
from porter.oracle.outputs import Outputs, numbers_in, outputs
from porter.oracle.reference import Expected, Reference
from porter.simt.job import Execute

_MOST_LOST = 1 / 8  # of the largest number of an answer


def without_lost(reference: Reference, twin: Execute) -> Reference:
    """Returns `reference` in which answers do not decide that are lost to an overflow which the original's `twin`, in
    double precision, does not have.
    """
    contract = reference.contract
    told = (replace(e, decides=e.decides and not _is_lost_at(contract, e, twin)) for e in reference.expected)
    return replace(reference, expected=tuple(told))


def is_lost(own: Outputs, right: Outputs) -> bool:
    """Returns whether an answer is nothing like the right one."""
    pairs = [(numbers_in(o), numbers_in(r)) for (_, o), (_, r) in zip(own.tensors, right.tensors, strict=True)]
    finite = [(o[np.isfinite(r)], r[np.isfinite(r)]) for o, r in pairs]
    return any(r.size and not np.abs(o - r).max() <= _MOST_LOST * np.abs(r).max() for o, r in finite)


def _is_lost_at(contract: Contract, expected: Expected, twin: Execute) -> bool:
    is_extreme = expected.workload.distribution is Distribution.LOWEST
    if not is_extreme and all(np.isfinite(numbers_in(value)).all() for _, value in expected.outputs.tensors):
        return False
    run = twin(job(contract, expected.workload, given=expected.arguments))
    if not run.finished:
        return False
    right = outputs(contract, run)
    return is_lost(expected.outputs, right) if is_extreme else _is_beyond(expected.outputs, right)


def _is_beyond(own: Outputs, right: Outputs) -> bool:
    """Returns whether an answer has no number where the right one has."""
    pairs = zip(own.tensors, right.tensors, strict=True)
    return any((np.isfinite(numbers_in(r)) & ~np.isfinite(numbers_in(o))).any() for (_, o), (_, r) in pairs)

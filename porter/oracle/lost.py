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
    """Returns `reference` less what is lost to an overflow that the original's `twin`, in double precision, does not
    have: of such an answer only the elements that are finite count, and near the lowest numbers it does not decide.
    """
    return replace(reference, expected=tuple(_less(reference.contract, e, twin) for e in reference.expected))


def is_lost(own: Outputs, right: Outputs) -> bool:
    """Returns whether an answer is nothing like the right one."""
    pairs = [(numbers_in(o), numbers_in(r)) for (_, o), (_, r) in zip(own.tensors, right.tensors, strict=True)]
    finite = [(o[np.isfinite(r)], r[np.isfinite(r)]) for o, r in pairs]
    return any(r.size and not np.abs(o - r).max() <= _MOST_LOST * np.abs(r).max() for o, r in finite)


def _less(contract: Contract, expected: Expected, twin: Execute) -> Expected:
    is_extreme = expected.workload.distribution is Distribution.LOWEST
    if not is_extreme and all(np.isfinite(numbers_in(value)).all() for _, value in expected.outputs.tensors):
        return expected
    run = twin(job(contract, expected.workload, given=expected.arguments))
    if not run.finished:
        return expected
    own, right = expected.outputs, outputs(contract, run)
    if is_extreme:
        return replace(expected, decides=expected.decides and not is_lost(own, right))
    return replace(expected, partly_finite=_is_beyond(own, right))


def _is_beyond(own: Outputs, right: Outputs) -> bool:
    """Returns whether an answer has no number where the right one has."""
    pairs = zip(own.tensors, right.tensors, strict=True)
    return any((np.isfinite(numbers_in(r)) & ~np.isfinite(numbers_in(o))).any() for (_, o), (_, r) in pairs)

"""Finds float64 outputs that an original computes in single precision: `float v = static_cast<float>(x[i])` in a kernel
of doubles.

Its twin computes what is single precision in double (`yardstick.py`), so it differs as much as a float rounds wherever
the original rounds to one. A literal like `0.1f` in sums of doubles makes it differ, too. So each input of doubles is
moved by far less than a float holds: where doubles are computed with, the answer moves; what passes through a float
leaves it as it is to the last bit, while the twin's moves. Or what is stored says it: every number of it is a float.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from porter.contract.model.contract import Contract
from porter.contract.model.dtype import DType, decode
from porter.execution.job import Execute, Job, TensorValue
from porter.oracle.jobs import job
from porter.oracle.outputs import outputs
from porter.oracle.reference import Expected, Reference

# Of a float64 input: 128 of its own ulps, of which one in two million changes what a float makes of it.
_MOVED = 2.0**-45
_ROUNDED = 2.0**-28  # of a number: a sixteenth of what is lost at the most where it becomes a float
_MOST = 0.5  # of the elements have to show it: where only some are single precision all are compared as their type asks

Numbers = NDArray[np.float64]


def in_single_precision(reference: Reference, execute: Execute, twin: Execute) -> Reference:
    """`reference` with the float64 outputs that the original is seen to compute in single precision.

    Where one workload shows it, it holds for all of the same choice: of three numbers all may round to what they are.
    """
    seen = [(_choice(e), _seen(reference.contract, e, execute, twin)) for e in reference.expected]
    return _with(reference, seen)


def as_seen_before(reference: Reference, before: Reference) -> Reference:
    """Returns `reference` with the outputs that workloads of the same choice in the one `before` were seen to have in
    single precision.

    A twin may refuse sizes at which its original runs, since its floats take twice the shared memory.
    """
    return _with(reference, [(_choice(e), e.single) for e in before.expected])


def _with(reference: Reference, seen: Sequence[tuple[object, Set[str]]]) -> Reference:
    """Returns `reference` with the outputs that were `seen` in single precision at the same choice."""
    expected = []
    for one in reference.expected:
        told = frozenset[str]().union(*(names for choice, names in seen if choice == _choice(one)))
        expected.append(replace(one, single=one.single | told))
    return replace(reference, expected=tuple(expected))


def _choice(expected: Expected) -> tuple[object, ...]:
    """Returns what the workload selects: another branch may compute otherwise."""
    workload = expected.workload
    return dict(workload.scalars), dict(workload.dtypes), workload.takes


def _seen(contract: Contract, expected: Expected, execute: Execute, twin: Execute) -> set[str]:
    own = {name: _numbers(v) for name, v in expected.outputs.tensors if v.dtype is DType.FLOAT64}
    given = job(contract, expected.workload, given=expected.arguments)
    exact = _answer(contract, twin, given) if own else {}
    rounded = {name: _rounded(own[name], exact[name]) for name in own.keys() & exact.keys()}
    single = {name for name, where in rounded.items() if _most(where & _is_float(own[name]), own[name])}
    for moved in _moved(given) if rounded.keys() - single else ():
        its_own, its_exact = (_answer(contract, asked, moved) for asked in (execute, twin))
        for name in rounded.keys() & its_own.keys() & its_exact.keys():
            stays = (its_own[name] == own[name]) & (its_exact[name] != exact[name])
            single |= {name} if _most(rounded[name] & stays, own[name]) else set()
    return single


def _answer(contract: Contract, execute: Execute, given: Job) -> Mapping[str, Numbers]:
    """The float64 outputs of a run; none where it does not finish."""
    run = execute(given)
    found = outputs(contract, run).tensors if run.finished else ()
    return {name: _numbers(value) for name, value in found if value.dtype is DType.FLOAT64}


def _moved(given: Job) -> Iterator[Job]:
    """The job with one float64 input after the other moved."""
    for index, value in enumerate(given.arguments):
        if isinstance(value, TensorValue) and value.dtype is DType.FLOAT64:
            other = replace(value, storage=value.storage.astype(np.float64) * (1.0 + _MOVED))
            yield replace(given, arguments=(*given.arguments[:index], other, *given.arguments[index + 1 :]))


def _numbers(tensor: TensorValue) -> Numbers:
    return decode(tensor.storage.reshape(-1), tensor.dtype).astype(np.float64)


def _rounded(own: Numbers, exact: Numbers) -> NDArray[np.bool_]:
    """Returns where the original lost about what a float loses."""
    finite = np.isfinite(own) & np.isfinite(exact)
    apart = np.abs(np.where(finite, own, 0.0) - np.where(finite, exact, 0.0))
    return np.asarray(finite & (apart >= _ROUNDED * np.abs(np.where(finite, own, 1.0))) & (apart > 0))


def _is_float(own: Numbers) -> NDArray[np.bool_]:
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(own.astype(np.float32).astype(np.float64) == own)


def _most(where: NDArray[np.bool_], own: Numbers) -> bool:
    """Returns whether most of the numbers that are not zero are there."""
    told = np.isfinite(own) & (own != 0)
    return bool(told.any()) and int((where & told).sum()) >= _MOST * int(told.sum())

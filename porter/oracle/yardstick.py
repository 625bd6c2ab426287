"""Measures how much the original itself rounds: runs its twin, the same source that rounds otherwise, on its workloads.

The twin computes single precision in double, and a 16-bit result becomes one of its two neighbours by chance, more
often the nearer one. Where single precision is the coarsest, two runs agree on every workload and say what the
original loses. What 16-bit sums lose is a matter of luck, whatever the types of the tensors, so several runs tell:
beyond twice the furthest of eight strays one right port in 700.

That leaves room in which a wrong port could hide: a sum of thousands of bfloat16 loses more than one of its terms. So
what needed it is also run on whole numbers, whose sums are exact: there no run of the twin differs, and nothing hides.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from porter.contract.model.contract import Argument, Contract, Role, TensorArg, Values, Workload
from porter.contract.model.dtype import DType
from porter.contract.workload.materialise import retyped
from porter.contract.workload.structs import Change, all_changed
from porter.execution.job import Job, Run, TensorValue
from porter.oracle.jobs import job
from porter.oracle.outputs import Outputs, largest, outputs, widest
from porter.oracle.reference import Expected, Reference, differences

_NARROW = frozenset((DType.FLOAT16, DType.BFLOAT16))
_FIRST_RUNS, _NARROW_RUNS = 2, 8
# Of one element a single run may show no loss where the next has a whole ulp: a cross entropy of one row, all but 0, of
# a label whose logit is 30, differed by one ulp of 30 from an honest port, and 0.85 of one was allowed.
_FEW_ELEMENTS, _MANY_SHAKES = 100, 6
LAST_BITS = 4.0  # ulps: as much as a short sum loses by its order


def measured(reference: Reference, twin: Callable[[Job], Run]) -> Reference:
    """`reference` with what runs of `twin` show the original to lose.

    Arrays of structs tell nothing: in the twin, whose floats are doubles, their numbers lie elsewhere.
    """
    contract = reference.contract
    if any(tensor.fields for tensor in contract.tensors):
        return reference
    lost = [_lost(contract, expected.workload, twin, _FIRST_RUNS) for expected in reference.expected]
    if any(map(_changed, lost)) or any(map(_narrow_types, (retyped(contract, e.workload) for e in reference.expected))):
        lost = [_lost(contract, expected.workload, twin, _NARROW_RUNS) for expected in reference.expected]
    return replace(reference, expected=tuple(map(_measured, reference.expected, lost)))


def _narrow_types(contract: Contract) -> list[DType]:
    return [tensor.dtype for tensor in contract.tensors if tensor.dtype in _NARROW]


def _lost(contract: Contract, workload: Workload, twin: Callable[[Job], Run], runs: int) -> list[Outputs]:
    """Returns what `twin` gives in as many runs, without those that did not finish."""
    given = job(contract, workload)
    done = [twin(replace(given, seed=given.seed + chance)) for chance in range(runs)]
    return [outputs(contract, run) for run in done if run.finished]


def _measured(expected: Expected, runs: list[Outputs]) -> Expected:
    yardstick = widest(expected.outputs, [expected.yardstick, *runs])
    return replace(expected, yardstick=yardstick, by_chance=_changed(runs))


def shaken(reference: Reference, execute: Callable[[Job], Run]) -> Reference:
    """`reference` with what becomes of its answers when the last bits of single-precision inputs change.

    Where all that matters cancels, as in rows without variance, nothing else is left: any order of adding up is right.
    """
    return replace(reference, expected=tuple(_shaken(reference.contract, e, execute) for e in reference.expected))


def _shaken(contract: Contract, expected: Expected, execute: Callable[[Job], Run]) -> Expected:
    given = job(contract, expected.workload, given=expected.arguments)
    read = {tensor.name for tensor in contract.parts if tensor.role is Role.IN}
    wanted = dict(expected.outputs.tensors)
    written = (value.storage.size for name, value in expected.outputs.tensors if name not in read)
    runs = _MANY_SHAKES if min(written, default=0) < _FEW_ELEMENTS else 1
    done = [
        execute(replace(given, arguments=all_changed(contract, given.arguments, _moving(contract, given.seed, n))))
        for n in range(runs)
    ]
    near = [
        Outputs(tuple((n, wanted[n] if n in read else value) for n, value in outputs(contract, run).tensors))
        for run in done
        if run.finished
    ]
    if not near:
        return expected
    furthest = widest(expected.outputs, [expected.yardstick, *near])
    return replace(expected, yardstick=furthest, largest_term=largest(expected.outputs))


def _moving(contract: Contract, seed: int, turn: int) -> Change:
    """Returns what moves the last bits of each tensor, by a stream of its own."""
    places = ((i, a) for i, a in enumerate(contract.arguments) if isinstance(a, TensorArg))
    positions = {part.name: i for i, tensor in places for part in tensor.parts}
    return lambda tensor, value: _moved(value, positions[tensor.name], seed, turn)


def _moved(value: TensorValue, position: int, seed: int, turn: int) -> TensorValue:
    if value.dtype is not DType.FLOAT32:
        return value
    words = np.random.Philox(key=np.array([seed, turn << 32 | position], dtype=np.uint64))
    chance = words.random_raw(value.storage.size).reshape(value.shape)
    last = np.where(chance >> np.uint64(63), 1.0, -1.0) * (LAST_BITS * value.dtype.epsilon)
    return replace(value, storage=(value.storage.astype(np.float64) * (1.0 + last)).astype(np.float32))


def _changed(runs: list[Outputs]) -> frozenset[str]:
    """The outputs that are not the same in all runs."""
    return frozenset(name for other in runs[1:] for name, _ in differences(other, runs[0], exact=True))


def in_whole_numbers(reference: Reference) -> Contract | None:
    """The contract with inputs whose sums are exact in any precision; None where `reference` owes nothing to chance."""
    contract = reference.contract
    workloads = tuple(
        replace(workload, name=f"{workload.name}, whole numbers")
        for workload in contract.workloads
        if workload.scale == 1.0
    )
    if not workloads or not any(expected.by_chance for expected in reference.expected):
        return None
    return replace(contract, arguments=tuple(map(_whole, contract.arguments)), workloads=workloads)


def narrow_type(contract: Contract) -> DType:
    """The coarsest 16-bit type among the tensors, else half: computed in, then, where no tensor shows it."""
    return max(_narrow_types(contract), key=lambda dtype: dtype.epsilon, default=DType.FLOAT16)


def _whole(argument: Argument) -> Argument:
    if isinstance(argument, TensorArg) and argument.dtype.is_float and argument.values is Values.NORMAL:
        return replace(argument, values=Values.WHOLE)
    return argument

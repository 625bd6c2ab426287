"""How much the original itself rounds: its twin, the same source that rounds otherwise, run on the same workloads.

The twin computes single precision in double, and a 16-bit result becomes one of its two neighbours by chance, more
often the nearer one. Where single precision is the coarsest, one run says what the original loses. What 16-bit sums
lose is a matter of luck, so several runs tell: beyond twice the furthest of eight strays one right port in 700.

That leaves room in which a wrong port could hide: a sum of thousands of bfloat16 loses more than one of its terms. So
what needed it is also run on whole numbers, whose sums are exact: there no run of the twin differs, and nothing hides.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from porter.contract.contract import Argument, Contract, TensorArg, Values
from porter.contract.dtype import DType
from porter.oracle.jobs import job
from porter.oracle.outputs import outputs, widest
from porter.oracle.reference import Expected, Reference, differences
from porter.simt.job import Job, Run

_NARROW = frozenset((DType.FLOAT16, DType.BFLOAT16))
_NARROW_RUNS = 8


def measured(reference: Reference, twin: Callable[[Job], Run]) -> Reference:
    """`reference` with what runs of `twin` show the original to lose."""
    runs = _NARROW_RUNS if narrow_type(reference.contract) else 1
    return replace(
        reference,
        expected=tuple(_measured(reference.contract, expected, twin, runs) for expected in reference.expected),
    )


def _measured(contract: Contract, expected: Expected, twin: Callable[[Job], Run], runs: int) -> Expected:
    given = job(contract, expected.workload)
    done = [twin(replace(given, seed=given.seed + chance)) for chance in range(runs)]
    lost = [outputs(contract, run) for run in done if run.finished]
    yardstick = widest(expected.outputs, [expected.yardstick, *lost])
    changed = (name for other in lost[1:] for name, _ in differences(other, lost[0], exact=True))
    return replace(expected, yardstick=yardstick, by_chance=frozenset(changed))


def in_whole_numbers(contract: Contract) -> Contract | None:
    """`contract` with inputs whose sums are exact in any precision; None where nothing rounds to 16 bits."""
    workloads = tuple(
        replace(workload, name=f"{workload.name}, whole numbers")
        for workload in contract.workloads
        if workload.scale == 1.0
    )
    if narrow_type(contract) is None or not workloads:
        return None
    return replace(contract, arguments=tuple(map(_whole, contract.arguments)), workloads=workloads)


def narrow_type(contract: Contract) -> DType | None:
    """The coarsest 16-bit type among the tensors; None where there is none, and all arithmetic is taken to be wider."""
    narrow = [tensor.dtype for tensor in contract.tensors if tensor.dtype in _NARROW]
    return max(narrow, key=lambda dtype: dtype.epsilon, default=None)


def _whole(argument: Argument) -> Argument:
    if isinstance(argument, TensorArg) and argument.dtype.is_float and argument.values is Values.NORMAL:
        return replace(argument, values=Values.WHOLE)
    return argument

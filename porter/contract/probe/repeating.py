"""Lets threads meet at an index where those that are drawn hardly ever do: what they add may get lost in a port."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from porter.contract.model.contract import Contract, Distribution, EntryKind, Role, TensorArg, Values, Workload
from porter.contract.model.expressions import evaluate
from porter.contract.probe.trials import Trials
from porter.contract.workload.materialise import shape_of

_SEED = 20_029
_FEW = 8  # pairs of equal indices that a workload may be expected to have by chance, and shows nothing for sure


def repeating(contract: Contract, trials: Trials) -> Iterator[Workload]:
    """Yields a workload in which indices are there twice, where the original gives one answer in any order of threads.

    None where the contract's own have such indices.
    """
    if contract.entry.kind is EntryKind.PROGRAM or not any(_rarely_repeats(t, contract) for t in contract.tensors):
        return
    for sizes in [workload.sizes for workload in contract.workloads[1::-1]]:
        if trials.clean(contract, sizes, Distribution.REPEATED) and trials.ordered(
            contract, sizes, Distribution.REPEATED
        ):
            yield Workload("repeated indices", sizes, _SEED, distribution=Distribution.REPEATED)
            return


def _rarely_repeats(tensor: TensorArg, contract: Contract) -> bool:
    """Returns whether a tensor of indices has hardly any twice in all workloads."""
    if tensor.values is not Values.INDEX or tensor.role is not Role.IN or tensor.elements:
        return False
    return not any(_pairs(tensor, workload) > _FEW for workload in contract.workloads if not workload.device_only)


def _pairs(tensor: TensorArg, workload: Workload) -> float:
    """Returns how many pairs of equal indices are to be expected."""
    count = prod(shape_of(tensor, workload))
    return count * (count - 1) / 2 / max(1, evaluate(tensor.bound, workload.sizes))

"""Counts what has to move where candidates are scored, and what a candidate moves: numbers for proposers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from porter.backend import Backend
from porter.contract.model.contract import Contract, Workload
from porter.contract.workload.bench import outputs_bytes, used_bytes
from porter.evaluate.problem.bench import Bench
from porter.evolve.scoring.cost import Cost
from porter.evolve.scoring.subject import Subject

_MB = 1e6
_AS_NEEDED = 1.03  # times the bytes that must move: no more than rounding and partial results


@dataclass(frozen=True, slots=True)
class ScoredSize:
    """A workload at which candidates are scored: each tensor read or written once moves `needed_bytes`.

    `whole` says that the returned tensors are among them, which is not known for every language.
    """

    contract: Contract
    workload: Workload
    needed_bytes: int
    whole: bool


def scored_sizes(
    subject: Subject, backend: Backend, workloads: Iterable[tuple[Contract, Workload]], place: Bench
) -> tuple[ScoredSize, ...]:
    """Returns the workloads with what must move at each; the seed's plan tells how large its results are."""
    found = []
    for contract, workload in workloads:
        cost = subject.cost(backend, subject.seed, contract, workload, place)
        returned = cost.returned_bytes if isinstance(cost, Cost) else 0
        whole = isinstance(cost, Cost)
        found.append(ScoredSize(contract, workload, _needed(contract, workload) + returned, whole))
    return tuple(found)


def diagnosis(contract: Contract, workload: Workload, cost: Cost) -> str:
    """Says what a call launches and moves, and what it has to move, with a line for each launch."""
    needed = _needed(contract, workload) + cost.returned_bytes
    count = len(cost.launches)
    launches = f"{count} launch" if count == 1 else f"{count} launches"
    moved = f"At {workload.name!r} a call makes {launches} and moves {cost.moved_bytes / _MB:.5g} MB"
    times = cost.moved_bytes / needed if needed else 1.0
    verdict = f"{times:.3g} times the {needed / _MB:.5g} MB that it has to"
    if times <= _AS_NEEDED:
        verdict = f"no more than the {needed / _MB:.5g} MB that it has to"
    lines = (f"{moved}, {verdict}. By the model it takes {cost.units:.0f} us.", *(f"- {one}" for one in cost.launches))
    return "\n".join(lines)


def _needed(contract: Contract, workload: Workload) -> int:
    """Returns the bytes of arguments that are read and of those that are written."""
    return used_bytes(contract, workload) + outputs_bytes(contract, workload)

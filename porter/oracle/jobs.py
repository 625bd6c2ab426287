"""A workload as a run of the executor."""

from __future__ import annotations

from dataclasses import replace

from porter.contract.model.contract import Contract, EntryKind, Workload
from porter.contract.workload.materialise import materialise
from porter.contract.workload.probing import job as forward_job
from porter.execution.job import Job, Schedule, Value


def job(
    contract: Contract,
    workload: Workload,
    poison: int = 0xFF,
    schedule: Schedule = Schedule.FORWARD,
    given: tuple[Value, ...] | None = None,
) -> Job:
    """The run of `workload` with fresh memory holding `poison`; `given` are arguments that no seed makes."""
    if contract.entry.kind is EntryKind.PROGRAM:
        return Job(materialise(contract, workload, poison), schedule, workload.seed, poison)
    if given is not None:
        return Job(given, schedule, workload.seed, poison)
    return replace(forward_job(contract, workload, poison), schedule=schedule, seed=workload.seed)

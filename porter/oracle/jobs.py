"""A workload as a run of the executor."""

from __future__ import annotations

from dataclasses import replace

from porter.contract.contract import Contract, EntryKind, Workload
from porter.contract.probing import job as forward_job
from porter.simt.job import Job, Schedule


def job(contract: Contract, workload: Workload, poison: int = 0xFF, schedule: Schedule = Schedule.FORWARD) -> Job:
    """The run of `workload` with fresh memory holding `poison`."""
    if contract.entry.kind is EntryKind.PROGRAM:
        return Job(poison=poison, schedule=schedule, seed=workload.seed)
    return replace(forward_job(contract, workload, poison), schedule=schedule, seed=workload.seed)

"""Times a candidate beside a Python reference: as PyTorch runs it, and as `torch.compile` makes it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from porter.contract.model.contract import Contract, Role
from porter.execution.job import Job, Run
from porter.native.requests import ReferenceEntry
from porter.native.session import Session
from porter.native.timed import Timed
from porter.oracle.python_calling import placed, positions

PYTORCH, COMPILED = "pytorch", "torch.compile"


def python_baselines(path: Path, contract: Contract, session: Session) -> Mapping[str, Timed]:
    """Returns the reference in the file at `path`, called as `contract` says, as eager and as compiled rival."""
    roles = positions(contract, Role.OUT, Role.INOUT), positions(contract, Role.OUT)

    def after(run: Run, job: Job) -> Run:  # noqa: ARG001 - its answer is all there is to place
        return placed(contract, run, changed=len(run.results) != len(roles[0])) if run.finished else run

    def timed(*, compiled: bool) -> Timed:
        return Timed(session, ReferenceEntry(str(path.resolve()), compiled, *roles), after=after)

    return {PYTORCH: timed(compiled=False), COMPILED: timed(compiled=True)}

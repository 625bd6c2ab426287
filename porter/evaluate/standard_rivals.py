"""What a candidate of a standard that is no CUDA is timed beside: where it is Python, itself, eager and compiled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from porter.contract.contract import Contract, Role, TensorArg, Workload
from porter.evaluate.rivals import Meet, Rivals
from porter.native.place import Place
from porter.native.requests import ReferenceEntry
from porter.native.session import Session
from porter.native.timed import Timed
from porter.oracle.reference import Expected
from porter.oracle.standard import Standard
from porter.simt.job import Job

PYTORCH, COMPILED = "pytorch", "torch.compile"


def of_standard(standard: Standard) -> Meet:
    """A standard that is no CUDA: its own answers; where it is Python, eager and compiled as baselines."""

    def meet(contracts: Sequence[Contract], place: Place, session: Session) -> Sequence[Rivals | str]:
        del place
        return [Rivals(_Asked(standard, contract), _eager(standard, contract, session)) for contract in contracts]

    return meet


@dataclass(frozen=True)
class _Asked:
    """What a standard answers to a workload of the `contract`."""

    standard: Standard
    contract: Contract

    def __call__(self, workload: Workload) -> Expected | str:
        """The answer, or the reason why there is none."""
        found = self.standard.reference(replace(self.contract, workloads=(workload,)))
        return found.expected[0] if found.expected else found.because or "the standard does not answer"


def _eager(standard: Standard, contract: Contract, session: Session) -> Mapping[str, Timed]:
    path = standard.source.path
    if path.suffix != ".py":
        return {}
    inputs = [i for i, a in enumerate(contract.arguments) if not (isinstance(a, TensorArg) and a.role is Role.OUT)]

    def before(job: Job) -> Job:
        return replace(job, arguments=tuple(job.arguments[i] for i in inputs))

    entries = {PYTORCH: ReferenceEntry(str(path.resolve())), COMPILED: ReferenceEntry(str(path.resolve()), True)}
    return {name: Timed(session, entry, before=before) for name, entry in entries.items()}

"""What a candidate of a standard that is no CUDA is timed beside: a Python reference itself, eager and compiled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from porter.contract.contract import Contract, Role, TensorArg, Workload
from porter.evaluate.answers import NativeAnswers
from porter.evaluate.rivals import Meet, Rivals
from porter.native.place import Place
from porter.native.requests import ReferenceEntry
from porter.native.session import Session
from porter.native.timed import Timed
from porter.oracle.standard import Standard
from porter.simt.job import Job

PYTORCH, COMPILED = "pytorch", "torch.compile"
_SEED = 77_017


def of_standard(standard: Standard) -> Meet:
    """A Python reference, which at the sizes of a device answers for itself, too; nothing of recorded answers."""

    def meet(contracts: Sequence[Contract], place: Place, session: Session) -> Sequence[Rivals | str]:
        del place
        if standard.source.path.suffix != ".py":
            return ["recorded answers are nothing to time it beside"] * len(contracts)
        return [_python(standard, contract, session) for contract in contracts]

    return meet


def _python(standard: Standard, contract: Contract, session: Session) -> Rivals:
    inputs = [i for i, a in enumerate(contract.arguments) if not (isinstance(a, TensorArg) and a.role is Role.OUT)]

    def before(job: Job) -> Job:
        return replace(job, arguments=tuple(job.arguments[i] for i in inputs))

    path = str(standard.source.path.resolve())
    eager, compiled = (Timed(session, ReferenceEntry(path, way), before=before) for way in (False, True))
    written = standard.written_sizes(contract)
    workloads = (Workload("as written", written, _SEED, device_only=True),) if written else ()
    return Rivals(NativeAnswers(contract, eager), {PYTORCH: eager, COMPILED: compiled}, workloads)

"""Names what a candidate without a CUDA original is timed beside: the Python reference, eager and compiled."""

from __future__ import annotations

from collections.abc import Sequence

from porter.contract.model.contract import Contract
from porter.evaluate.problem.standards import as_written
from porter.evaluate.timing.answers import NativeAnswers
from porter.evaluate.timing.baselines import Baselines, Meet
from porter.evaluate.timing.python_baselines import PYTORCH, python_baselines
from porter.native.place import Place
from porter.native.session import Session
from porter.oracle.standard import Standard


def of_standard(standard: Standard) -> Meet:
    """Returns a Python reference, which also answers at the sizes of a device; nothing for recorded answers."""

    def meet(contracts: Sequence[Contract], place: Place, session: Session) -> Sequence[Baselines | str]:
        del place
        if standard.source.path.suffix != ".py":
            return ["there is nothing to time it beside: recorded answers have no speed"] * len(contracts)
        return [_python(standard, contract, session) for contract in contracts]

    return meet


def _python(standard: Standard, contract: Contract, session: Session) -> Baselines:
    baselines = python_baselines(standard.source.path, contract, session)
    workloads = as_written(standard, contract)
    return Baselines(NativeAnswers(contract, baselines[PYTORCH], standard.construction), baselines, workloads)

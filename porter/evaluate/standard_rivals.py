"""Names what a candidate without a CUDA original is timed beside: the Python reference, eager and compiled."""

from __future__ import annotations

from collections.abc import Sequence

from porter.contract.contract import Contract
from porter.evaluate.answers import NativeAnswers
from porter.evaluate.python_rivals import PYTORCH, python_rivals
from porter.evaluate.rivals import Meet, Rivals
from porter.evaluate.standards import as_written
from porter.native.place import Place
from porter.native.session import Session
from porter.oracle.standard import Standard


def of_standard(standard: Standard) -> Meet:
    """Returns a Python reference, which also answers at the sizes of a device; nothing for recorded answers."""

    def meet(contracts: Sequence[Contract], place: Place, session: Session) -> Sequence[Rivals | str]:
        del place
        if standard.source.path.suffix != ".py":
            return ["there is nothing to time it beside: recorded answers have no speed"] * len(contracts)
        return [_python(standard, contract, session) for contract in contracts]

    return meet


def _python(standard: Standard, contract: Contract, session: Session) -> Rivals:
    baselines = python_rivals(standard.source.path, contract, session)
    workloads = as_written(standard, contract)
    return Rivals(NativeAnswers(contract, baselines[PYTORCH], standard.construction), baselines, workloads)

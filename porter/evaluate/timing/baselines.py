"""Names what a candidate is timed beside, and who says what is right at sizes that are not emulated."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from porter.contract.model.contract import Contract, Workload
from porter.errors import MachineError
from porter.evaluate.timing.answers import Answers, NativeAnswers
from porter.evaluate.timing.python_baselines import python_baselines
from porter.execution.job import BuildFailure
from porter.native.original import build_originals, host_positions
from porter.native.place import Place
from porter.native.requests import Entry
from porter.native.session import Session
from porter.native.timed import Timed
from porter.translation_unit import TranslationUnit

CUDA = "cuda"


@dataclass(frozen=True)
class Baselines:
    """The right answers for one contract, and the baselines by their names: the first is the measure.

    `workloads` are those to time it at, where they are not the contract's.
    """

    answers: Answers
    timed: Mapping[str, Timed]
    workloads: tuple[Workload, ...] = ()


# For each contract the baselines of a candidate, or why there are none.
Meet = Callable[[Sequence[Contract], Place, Session], Sequence[Baselines | str]]


def of_cuda(original: TranslationUnit, reference: Path | None) -> Meet:
    """Returns the CUDA original under nvcc, which also knows the answers, and a Python `reference`, if there is one."""

    def meet(contracts: Sequence[Contract], place: Place, session: Session) -> Sequence[Baselines | str]:
        try:
            built = build_originals(original, contracts, place.nvcc(), place.cache)
        except MachineError as error:
            return [error.message] * len(contracts)
        pairs = zip(contracts, built, strict=True)
        return [_cuda(contract, one, session, reference) for contract, one in pairs]

    return meet


def _cuda(contract: Contract, built: Entry | BuildFailure, session: Session, reference: Path | None) -> Baselines | str:
    if isinstance(built, BuildFailure):
        return f"the original does not build with nvcc: {built.placed}"
    original = Timed(session, built, host_positions(contract))
    others = python_baselines(reference, contract, session) if reference else {}
    return Baselines(NativeAnswers(contract, original), {CUDA: original, **others})

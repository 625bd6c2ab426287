"""An operator as `prepare.py lift` keeps it."""

from dataclasses import dataclass

from porter.contract.model.contract import Contract
from porter.ir.tensor.program import TensorProgram
from porter.source_text import Source


@dataclass(frozen=True)
class Lifted:
    """An operator of the suite with what it computes."""

    key: str
    source: Source
    reference: str
    program: TensorProgram
    contract: Contract

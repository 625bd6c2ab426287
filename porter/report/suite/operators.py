"""Shows operators of a suite, to people and to programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text

from porter.suite.operators import Operator
from porter.suite.selection import dtypes_of
from porter.writing.columns import columns
from porter.writing.counting import counted
from porter.writing.document import Json, as_json

if TYPE_CHECKING:
    from porter.suite.new import MadeOperator


def operators_text(operators: Sequence[Operator]) -> Text:
    """Returns a line for each, and how many there are."""
    rows = [(one.suite, one.category, one.name, ", ".join(dtypes_of(one))) for one in operators]
    return columns(rows).append(counted(len(operators), "operator"), "bold")


def operators_document(operators: Sequence[Operator]) -> dict[str, Json]:
    """Returns all of them."""
    return {"operators": [_document(one) for one in operators]}


def operator_text(operator: Operator) -> Text:
    """Returns one operator: its files, and its contract, or the module that is all of it, as it stands."""
    files = columns([(name, str(path)) for name, path in _files(operator)])
    told = (operator.source if operator.module else operator.contract).read_text("utf-8")
    return Text.assemble((operator.key, "bold"), "\n", files, "\n", told.rstrip())


def operator_document(operator: Operator) -> dict[str, Json]:
    """Returns one operator with its contracts."""
    files: dict[str, Json] = {name: str(path) for name, path in _files(operator)}
    return {**_document(operator), "files": files, "contracts": as_json(operator.contracts())}


def made_text(made: MadeOperator) -> Text:
    """Returns what a new operator still lacks."""
    shown = "says what running kernel.cu showed" if made.built else "is a draft: kernel.cu does not build on the CPU"
    return Text(
        f"made {made.folder}\n  contract.toml {shown}: read it, and add workloads that matter\n"
        f"  reference.py is yours to write: `reference(*inputs)` in PyTorch, called as kernel.cu is"
    )


def made_document(made: MadeOperator) -> dict[str, Json]:
    """Returns the new operator."""
    kernel, contract = (str(made.folder / name) for name in ("kernel.cu", "contract.toml"))
    return {"folder": str(made.folder), "kernel": kernel, "contract": contract, "built": made.built}


@dataclass(frozen=True, slots=True)
class NotMade:
    """A source without an operator, and the reason."""

    source: Path
    because: str


def made_line(one: MadeOperator | NotMade) -> Text:
    """Returns what became of one of several sources."""
    if isinstance(one, NotMade):
        about = "" if str(one.source) in one.because else f"{one.source}: "
        return Text.assemble(("no operator", "bold red"), f": {about}{one.because}")
    doubt = "" if one.built else " (does not build on the CPU: the contract is a draft)"
    return Text.assemble(("made", "bold green"), f" {one.folder}{doubt}")


def made_all_text(came: Sequence[MadeOperator | NotMade], suite: Path) -> Text:
    """Says how many operators were made, and what to do next."""
    made = sum(not isinstance(one, NotMade) for one in came)
    next_step = f"\nread the contracts, then: porter suite run {suite} --target NAME" if made else ""
    return Text(f"made {made} of {counted(len(came), 'operator')}{next_step}", "bold")


def made_all_document(came: Sequence[MadeOperator | NotMade]) -> dict[str, Json]:
    """Returns the operators that were made, and the sources without one."""
    return {
        "operators": [made_document(one) for one in came if not isinstance(one, NotMade)],
        "failed": [{"source": str(one.source), "because": one.because} for one in came if isinstance(one, NotMade)],
    }


def _document(operator: Operator) -> dict[str, Json]:
    return {
        "name": operator.name,
        "category": operator.category,
        "suite": operator.suite,
        "dtypes": list(dtypes_of(operator)),
    }


def _files(operator: Operator) -> list[tuple[str, Path]]:
    paths = (("kernel", operator.kernel), ("contract", operator.contract), ("reference", operator.reference))
    return [(name, path) for name, path in paths if path.is_file()]

"""Reports what a contract still lacks, as findings."""

from __future__ import annotations

from porter.contract.model.confirmation import Confirmation
from porter.contract.model.contract import EntryKind
from porter.diagnostics.catalogue import core_catalogue
from porter.diagnostics.findings import Finding
from porter.source.program import Program
from porter.source_text import Span

_OPEN, _INFERRED, _NO_SIZES, _DOES_NOT_RUN = "PORT3001", "PORT3002", "PORT3003", "PORT3004"
_EXTENT = "PORT3005"


def contract_findings(confirmation: Confirmation, program: Program) -> tuple[Finding, ...]:
    """Returns open questions, inferred conditions and drafts that do not run, at the entry's definition."""
    contract = confirmation.contract
    catalogue = core_catalogue()
    place = _place(program, contract.entry.name)
    found = [
        catalogue[_OPEN].at(place, f"{contract.name}: {q.text}", f"answer with {q.flag}") for q in contract.questions
    ]
    otherwise = f"otherwise {confirmation.mended}" if confirmation.mended else ""
    found += [
        catalogue[_INFERRED].at(place, f"{contract.name} is run with {condition} only", otherwise)
        for condition in (*confirmation.inferred, *confirmation.limits)
    ]
    found += [
        catalogue[_EXTENT].at(place, f"{contract.name}: no size says how many elements '{name}' has; {count} hold all")
        for name, count in extents_of(confirmation)
    ]
    if not contract.workloads and contract.entry.kind is not EntryKind.PROGRAM:
        flags = " ".join(f"--size {symbol}=..." for symbol in contract.symbols)
        conditions = "; ".join(contract.conditions) or "the shapes of its tensors"
        found.append(catalogue[_NO_SIZES].at(place, f"{contract.name}: no sizes fit {conditions}", f"try {flags}"))
    if confirmation.trouble:
        found.append(catalogue[_DOES_NOT_RUN].at(place, f"{contract.name}: {confirmation.trouble}"))
    return tuple(found)


def extents_of(confirmation: Confirmation) -> tuple[tuple[str, str], ...]:
    """Returns the tensors of which data decide how far accesses go, each with the elements that it is given."""
    return tuple((t.name, t.shape[0]) for t in confirmation.contract.tensors if t.name in confirmation.enlarged)


def _place(program: Program, name: str) -> Span | None:
    functions = (*program.kernels, *program.host_functions)
    return next((f.header for f in functions if f.qualified == name), None)

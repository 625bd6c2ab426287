"""Which entries an error of the port concerns: those that reach the function it lies in."""

from __future__ import annotations

from porter.backend import Port
from porter.contract.contract import Contract
from porter.contract.entries import reach
from porter.contract.usage import Usage
from porter.evaluate.outcome import Refused
from porter.findings import Finding, Severity
from porter.source.program import Function, Program
from porter.source.text import Span


def refusal(contract: Contract, program: Program, port: Port) -> Refused | None:
    """Why the entry of `contract` has no port; None when all it reaches was ported.

    An error outside every function, or in a header, concerns all entries.
    """
    errors = [f for f in port.findings if f.severity is Severity.ERROR]
    if not errors:
        return None
    usage = Usage(program)
    reached = _reached(contract, program, usage)
    everything = (*program.kernels, *program.device_functions, *program.host_functions)
    for error in errors:
        holders = [f for f in everything if _within(error, f.span)]
        if not holders or any(f in reached for f in holders):
            line = f"line {error.span.line}: " if error.span else ""
            return Refused(f"{error.code}: {line}{error.message}")
    return None


def _reached(contract: Contract, program: Program, usage: Usage) -> set[Function]:
    """The entry and all functions it leads to, by name: a name that is mentioned counts as called."""
    functions = (*program.kernels, *program.device_functions, *program.host_functions)
    entry = [f for f in functions if contract.entry.name in (f.qualified, f.name)]
    reached: set[Function] = set(entry)
    pending = [*entry, *(k for f in entry for k in reach(usage, f))]
    while pending:
        current = pending.pop()
        reached.add(current)
        names = usage.body(current).names
        pending.extend(f for f in functions if f.name in names and f not in reached)
    return reached


def _within(finding: Finding, span: Span) -> bool:
    return finding.source is None and finding.span is not None and span.start <= finding.span.start < span.end

"""Tells which entries an error of the port concerns: those that reach the function it lies in."""

from __future__ import annotations

from porter.backend import Port
from porter.contract.analysis.usage import usage_of
from porter.contract.infer.entries import reach
from porter.contract.model.contract import Contract
from porter.diagnostics.findings import Finding, Severity
from porter.evaluate.model.outcome import Refused
from porter.source.parse import parse
from porter.source.program import Function, Program
from porter.source_text import Source, Span


def refusal(contract: Contract, program: Program, port: Port, headers: tuple[Source, ...] = ()) -> Refused | None:
    """Returns why the entry of `contract` has no port; None when all it reaches was ported.

    An error outside every function of the source concerns all entries; one in a header concerns only entries that reach
    its function, since headers bring along much that nobody calls. An entry may stand in one of the `headers` itself.
    """
    errors = [f for f in port.findings if f.severity is Severity.ERROR]
    if not errors:
        return None
    written = (f.source for f in port.files if f.source is not program.source)
    reached = _Reached(contract, program, tuple(dict.fromkeys((*written, *headers))))
    error = next((e for e in errors if reached.concerned_by(e)), None)
    if error is None:
        return None
    file = f"{error.source.path.name} " if error.source else ""
    line = f"{file}line {error.span.line}: " if error.span else ""
    return Refused(f"{error.code}: {line}{error.message}")


class _Reached:
    """Collects the functions an entry leads to: a name that is mentioned counts as called."""

    def __init__(self, contract: Contract, program: Program, headers: tuple[Source, ...]) -> None:
        self.own = _functions(program)
        self.of_headers = {header: _functions(parse(header)) for header in headers}
        everything = (*self.own, *(f for functions in self.of_headers.values() for f in functions))
        usage = usage_of(program)
        entry = [f for f in everything if contract.entry.name in (f.qualified, f.name)]
        pending = [*entry, *(k for f in entry for k in reach(usage, f))]
        self.functions: set[Function] = set()
        while pending:
            current = pending.pop()
            self.functions.add(current)
            names = usage.body(current).names
            pending.extend(f for f in everything if f.name in names and f not in self.functions)

    def concerned_by(self, error: Finding) -> bool:
        """Returns whether what the entry leads to holds `error`."""
        functions = self.own if error.source is None else self.of_headers.get(error.source, ())
        holders = [f for f in functions if _within(error, f.span)]
        if not holders:
            return error.source is None
        return any(f in self.functions for f in holders)


def _functions(program: Program) -> tuple[Function, ...]:
    return (*program.kernels, *program.device_functions, *program.host_functions)


def _within(finding: Finding, span: Span) -> bool:
    return finding.span is not None and span.start <= finding.span.start < span.end

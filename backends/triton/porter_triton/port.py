"""The port of a program: its functions as trees, each entry with the kernels it launches as Python, one module.

What cannot be lowered takes only those entries with it that need it; each refusal is a finding at its line.
"""

from __future__ import annotations

from porter.backend import Port, PortedFile
from porter.contract.contract import Contract, EntryKind
from porter.contract.draft import draft
from porter.findings import Finding
from porter.source.program import Program
from porter.source.text import Source, Span
from porter.syntax.read import read_unit
from porter.syntax.unit import Unit
from porter_triton.bare import bare_launcher, block_of
from porter_triton.catalogue import finding
from porter_triton.kernels import Kernels, template_argument
from porter_triton.lower import LaunchInfo
from porter_triton.module import Parts, assembled, module_name
from porter_triton.naming import function_of
from porter_triton.refusal import Refusal

_KERNEL_REFUSED, _HOST_REFUSED = "PORT1800", "PORT1801"


def port(program: Program, headers: tuple[Source, ...]) -> Port:
    """`program` as one Python module."""
    porter = _Porter(program, read_unit(program, headers))
    for contract in draft(program, whole_program=False, headers=headers):
        porter.add(contract)
    text = assembled(program.source, porter.parts())
    return Port((PortedFile(module_name(program.source), text, program.source),), tuple(porter.findings))


class _Porter:
    """Collects what becomes of the entries."""

    def __init__(self, program: Program, unit: Unit) -> None:
        self.findings: list[Finding] = []
        self._program = program
        self._kernels = Kernels(unit)
        self._launchers: dict[str, None] = {}

    def add(self, contract: Contract) -> None:
        """One entry: its launcher, and the kernels that calls."""
        try:
            if contract.entry.kind is EntryKind.KERNEL:
                self._launchers.setdefault(self._bare(contract))
            else:
                raise Refusal(0, "host functions")
        except Refusal as refusal:
            self._refuse(contract, refusal)

    def parts(self) -> Parts:
        """The texts of the module."""
        kernels = self._kernels.texts()
        return Parts((), tuple(kernel.text for kernel in kernels), tuple(self._launchers))

    def _bare(self, contract: Contract) -> str:
        entry = contract.entry
        template = tuple(template_argument(text) for text in entry.template)
        info = LaunchInfo(block=block_of(entry.launch), template=template)
        lowered = self._kernels.lowered(entry.name, info)
        tree = self._kernels.tree(entry.name, template)
        return bare_launcher(function_of(entry), lowered, info, tuple(parameter.name for parameter in tree.parameters))

    def _refuse(self, contract: Contract, refusal: Refusal) -> None:
        """A finding at the line of the refusal; at the head of the entry where that lies in no function of the file."""
        functions = (*self._program.kernels, *self._program.device_functions, *self._program.host_functions)
        source, entry = self._program.source, contract.entry
        own = next(f for f in functions if entry.name in (f.qualified, f.name))
        place, message = own.header, refusal.reason
        if line := _line_span(source, refusal.line):
            if any(f.span.start <= line.start < f.span.end for f in functions):
                place = line
            else:
                message = f"{message} (line {refusal.line})"
        code = _KERNEL_REFUSED if own.space == "global" else _HOST_REFUSED
        self.findings.append(finding(code, place, message))


def _line_span(source: Source, line: int) -> Span | None:
    """The code on `line`; None where the source has no such line or nothing on it."""
    text = source.line(line)
    if not text.strip():
        return None
    start = source.line_starts[line - source.first_line] + len(text) - len(text.lstrip())
    return source.span(start, start + len(text.strip()))

"""The port of a program: its functions as trees, each entry with the kernels it launches as Python, one module.

What cannot be lowered takes only those entries with it that need it; each refusal is a finding at its line.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, count

from porter.backend import Port, PortedFile
from porter.contract.analysis.overloads import meant
from porter.contract.analysis.usage import usage_of
from porter.contract.infer.draft import draft, draft_each
from porter.contract.infer.entries import reach
from porter.contract.model.contract import Contract, Entry, EntryKind
from porter.diagnostics.findings import Finding
from porter.ir.simt.builder.kernel import parameter_sources
from porter.source.program import Function, Program
from porter.source.qualified import unqualified
from porter.source_text import Source, Span
from porter.syntax.read import read_unit
from porter_triton.bare import bare_launcher, block_of
from porter_triton.catalogue import finding
from porter_triton.device.source import helper_source
from porter_triton.host import Hosts
from porter_triton.kernel_records import LaunchInfo, RemarkKind
from porter_triton.kernels import Kernels, template_argument
from porter_triton.module import Parts, assembled, module_name
from porter_triton.naming import function_of, python_name
from porter_triton.refusal import Refusal

_KERNEL_REFUSED, _HOST_REFUSED = "PORT1800", "PORT1801"
_Key = tuple[EntryKind, str, tuple[str, ...], int]
_REMARKS = {
    RemarkKind.ASSERTS: ("PORT1802", "an assertion is checked with TRITON_DEBUG=1 only"),
    RemarkKind.PRINTS: ("PORT1803", "what it prints is left out"),
}


@dataclass(frozen=True)
class Lowered:
    """A port, and the name of the function in its module that answers for each entry that was not refused.

    An overload is told from the others by where it stands in the source.
    """

    port: Port
    answering: Mapping[_Key, str]
    program: Program

    def function(self, contract: Contract) -> str:
        """Returns the function that answers for an entry, whose name may lack its namespaces; empty if there is none.

        None of another overload does.
        """
        asked = _key(self.program, contract)
        exact = self.answering.get(asked, "")
        alike = {name for key, name in self.answering.items() if _plain(key) == _plain(asked)}
        return exact or (alike.pop() if len(alike) == 1 else "")

    def functions(self, entry: Entry) -> tuple[str, ...]:
        """Returns the functions that answer for the overloads of `entry`, in the order of the source."""
        asked = (entry.kind, unqualified(entry.name), entry.template)
        return tuple(name for key, name in sorted(self.answering.items(), key=_place_of) if _plain(key)[:3] == asked)


def port(program: Program, headers: tuple[Source, ...]) -> Port:
    """Returns `program` as one Python module."""
    return lowered_once(program, headers).port


@lru_cache(maxsize=2)
def lowered_once(program: Program, headers: tuple[Source, ...]) -> Lowered:
    """Returns what porter makes of an original: its port is written, and then asked for with every candidate of it."""
    return lowered(program, headers)


def lowered(program: Program, headers: tuple[Source, ...], besides: tuple[Contract, ...] = ()) -> Lowered:
    """Returns the port, and what answers. `besides` are kernels that get a launcher although others launch them."""
    porter = _Porter(program, headers)
    drafted = draft(program, whole_program=False, headers=headers)
    porter.add_all((*drafted, *besides))
    porter.remark()
    parts = porter.parts()
    file = PortedFile(module_name(program.source), assembled(program.source, parts), program.source)
    is_empty = not (parts.kernels or parts.launchers)
    return Lowered(Port((file,), tuple(porter.findings), is_empty), porter.answering, program)


def _key(program: Program, contract: Contract) -> _Key:
    entry = contract.entry
    functions = program.kernels if entry.kind is EntryKind.KERNEL else program.host_functions
    named = [f for f in functions if entry.name in (f.qualified, f.name)]
    chosen = meant(contract, named) if len(named) > 1 else None
    return entry.kind, entry.name, entry.template, chosen.span.start if chosen is not None else 0


def _plain(key: _Key) -> _Key:
    kind, name, template, place = key
    return kind, unqualified(name), template, place


def _place_of(answer: tuple[_Key, str]) -> int:
    return answer[0][3]


class _Porter:
    """Collects the outcomes of the entries."""

    def __init__(self, program: Program, headers: tuple[Source, ...]) -> None:
        self.findings: dict[Finding, None] = {}
        self._program = program
        self._headers = headers
        self._usage = usage_of(program, headers)
        self._unit = read_unit(program, headers, program.defines)
        self._kernels = Kernels(self._unit)
        self._hosts = Hosts(program, self._unit, self._kernels)
        self._bare: dict[str, str] = {}
        self.answering: dict[_Key, str] = {}

    def add_all(self, contracts: tuple[Contract, ...]) -> None:
        """Adds all entries; a second time where kernels became one, so that their launches name it."""
        for contract in contracts:
            self.add(contract)
        if self._kernels.merge():
            self._hosts = Hosts(self._program, self._unit, self._kernels)
            self._bare = {}
            for contract in contracts:
                self.add(contract)

    def add(self, contract: Contract) -> None:
        """Adds one entry: its launcher, and the kernels it calls. Kernels of a refused launcher get one each."""
        entry, key = contract.entry, _key(self._program, contract)
        try:
            if entry.kind is EntryKind.KERNEL:
                self.answering[key] = self._add_bare(entry, key[3])
            else:
                template = tuple(map(template_argument, entry.template))
                self.answering[key] = self._hosts.named(entry.name, template, key[3])
        except Refusal as refusal:
            self._refuse(entry, refusal)
            if entry.kind is not EntryKind.KERNEL:
                for kernel in self._kernels_of(entry):
                    self.add(kernel)

    def _kernels_of(self, launcher: Entry) -> tuple[Contract, ...]:
        """Returns the kernels of the file that a host function launches, as entries of their own."""
        usage = self._usage
        named = [f for f in self._program.host_functions if launcher.name in (f.qualified, f.name)]
        reached = {k for function in named for k in reach(usage, function)}
        return draft_each(usage, [k for k in self._program.kernels if k in reached])

    def parts(self) -> Parts:
        """Returns the texts of the module."""
        kernels = self._kernels.texts()
        helpers = helper_source((call for kernel in kernels for call in kernel.helpers), self._kernels.host_names)
        hosts = (*self._hosts.texts(), *self._bare.values())
        return Parts(helpers, tuple(kernel.text for kernel in kernels), hosts)

    def remark(self) -> None:
        """Findings about assertions and what the module leaves out: prints, dtypes, functions of other files."""
        for kernel in self._kernels.texts():
            for kind, (code, message) in _REMARKS.items():
                self._note(code, message, kernel.source, [r.line for r in kernel.remarks if r.kind is kind])
        for name, lines in self._hosts.prints.items():
            self._note(*_REMARKS[RemarkKind.PRINTS], name, lines)
        for name, lacking in self._hosts.lacking.items():
            for dtype, refusal in lacking.items():
                message = f"the port raises for {dtype}: {refusal.reason} (line {refusal.line})"
                self.findings.setdefault(finding("PORT1804", self._place(name, 0)[0], message))

        for name, calls in self._hosts.undefined.items():
            for called, line in calls.items():
                message = f"'{called}' is defined in no file that porter was given, so the port raises there"
                self.findings.setdefault(finding("PORT1805", self._place(name, line)[0], message))

    def _note(self, code: str, message: str, function: str, lines: list[int]) -> None:
        if lines := sorted(set(lines)):
            where = f"line{'s' if len(lines) > 1 else ''} {', '.join(map(str, lines))}"
            self.findings.setdefault(finding(code, self._place(function, lines[0])[0], f"{message} ({where})"))

    def _add_bare(self, entry: Entry, place: int) -> str:
        """Returns the name of the kernel's launcher: numbered where another instance or a host function has it."""
        hosts = {python_name(f.head.name) for f in self._unit.functions if f.head.space.startswith("host")}
        plain = function_of(entry)
        names = chain([plain], (f"{plain}__{number}" for number in count(2)))
        for name in (name for name in names if name not in hosts):
            text = self._bare_launcher(entry, name, place)
            if self._bare.setdefault(name, text) == text:
                break
        return name

    def _bare_launcher(self, entry: Entry, name: str, place: int) -> str:
        template = tuple(map(template_argument, entry.template))
        info = LaunchInfo(block=block_of(entry.launch), template=template)
        tree = self._kernels.tree(entry.name, template, place)
        kernel = self._kernels.lowered(tree, info)
        parameters = tuple(source.path for source in parameter_sources(self._unit, tree, template).values())
        constants = self._hosts.constants(tree, kernel)
        return bare_launcher(name, kernel, info, parameters, constants)

    def _refuse(self, entry: Entry, refusal: Refusal) -> None:
        """Notes a finding at the line of the refusal."""
        file = refusal.file or self._program.source.path.name
        place, blamed = self._place(entry.name, refusal.line, file)
        message = refusal.reason
        if (blamed is None or place == blamed.header) and refusal.line:
            message = f"{message} ({file}, line {refusal.line})"
        is_host = entry.kind is not EntryKind.KERNEL if blamed is None else blamed.space == "host"
        headers = [h for h in self._headers if h.path.name == file] if blamed is None else []
        header = headers[0] if len(headers) == 1 else None
        if header is not None:  # the entry stands in a header, too: its error is no error of all others
            place, message = _line_span(header, refusal.line), refusal.reason
        found = finding(_HOST_REFUSED if is_host else _KERNEL_REFUSED, place, message)
        self.findings.setdefault(replace(found, source=header))

    def _place(self, name: str, line: int, file: str = "") -> tuple[Span | None, Function | None]:
        """Returns the code on `line` of `file` and its function; for another file the head of function `name`, if any.

        Without `file` it is the file ported.
        """
        source = self._program.source
        functions = (*self._program.kernels, *self._program.device_functions, *self._program.host_functions)
        if file in ("", source.path.name) and (span := _line_span(source, line)):
            holder = next((f for f in functions if f.span.start <= span.start < f.span.end), None)
            if holder is not None:
                return span, holder
        blamed = next((f for f in functions if name in (f.qualified, f.name)), None)
        return (None, None) if blamed is None else (blamed.header, blamed)


def _line_span(source: Source, line: int) -> Span | None:
    """Returns the code on `line`; None where the source has no such line or nothing on it."""
    text = source.line(line)
    if not text.strip():
        return None
    start = source.line_starts[line - source.first_line] + len(text) - len(text.lstrip())
    return source.span(start, start + len(text.strip()))

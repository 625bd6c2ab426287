"""Shows one source as each stage sees it: program, contract, findings, candidate, kernels in IR, tensor programs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, assert_never

from rich.text import Text

from porter.backend import Port
from porter.contract.infer.draft import draft
from porter.contract.model.contract import Contract
from porter.contract.model.reader import load_contracts
from porter.contract.model.toml import dumps
from porter.diagnostics.findings import Finding
from porter.errors import UsageError
from porter.evaluate.formula.lift import lift
from porter.evaluate.model.migration import MigrateOptions, Progress
from porter.ir.simt.builder.instances import BuiltKernel, built_kernels
from porter.measure.deadline import Deadline
from porter.registry import find_backend, find_target
from porter.report.findings.diagnostic import diagnostic
from porter.report.findings.full_catalogue import full_catalogue
from porter.report.findings.sarif import sarif_document
from porter.report.source.program import program_text
from porter.report.source.simt import simt_document, simt_text
from porter.report.source.stage import Stage
from porter.report.source.tensors import tensor_document, tensor_text
from porter.source.headers import DiskHeaders
from porter.source.parse import parse
from porter.source.program import Program
from porter.source_text import Source
from porter.syntax.read import read_unit
from porter.writing.document import Json, as_json

if TYPE_CHECKING:
    from porter.evaluate.formula.lift import Lifted


def _unheard(step: str) -> None:
    """Ignores progress: nobody listens."""


@dataclass(frozen=True)
class Inspection:
    """One source and how it is read; each stage is computed when it is looked at.

    `built` are findings about the build that hands it to a compiler. `cache` keeps builds, `progress` hears what is
    going on; after `limit_s` seconds of executing the rest is given up.
    """

    source: Source
    target: str = ""
    arch: str = ""
    kernels: tuple[str, ...] = ()
    sizes: Mapping[str, int] = field(default_factory=dict)
    include_dirs: tuple[Path, ...] = ()
    defines: tuple[str, ...] = ()
    built: tuple[Finding, ...] = ()
    contract: Path | None = None
    limit_s: float | None = None
    cache: Path = Path()
    progress: Progress = _unheard

    @cached_property
    def program(self) -> Program:
        """Returns what the source defines."""
        return parse(self.source, headers=DiskHeaders(self.include_dirs), defines=self.defines)

    @cached_property
    def contracts(self) -> tuple[Contract, ...]:
        """The contracts drafted from it, or the user's."""
        if self.contract is not None:
            return load_contracts(self.contract)
        headers = tuple(header for _, header in self.program.headers)
        return draft(self.program, kernels=self.kernels, sizes=self.sizes, headers=headers)

    @cached_property
    def port(self) -> Port:
        """Its port to the target, which need not be named while there is only one."""
        backend = find_backend(self.target)
        headers = tuple(header for _, header in self.program.headers)
        return backend.port(self.program, headers, find_target(backend, self.arch))

    @cached_property
    def lifted(self) -> tuple[Lifted, ...]:
        """Its entries as tensor programs, each compared with the source."""
        options = MigrateOptions(
            "",
            self.cache,
            self.arch,
            self.kernels,
            self.contract,
            self.sizes,
            self.include_dirs,
            self.defines,
            deadline=Deadline(self.limit_s),
        )
        return lift(self.source, options, self.progress)

    @cached_property
    def functions(self) -> tuple[BuiltKernel, ...]:
        """Its kernels in the SIMT IR, each instance that is launched."""
        headers = tuple(header for _, header in self.program.headers)
        unit = read_unit(self.program, headers, self.defines)
        return built_kernels(unit, self.program.launches, self.kernels)

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """Returns what reading and porting found."""
        return (*self.built, *self.program.findings, *self.port.findings)


def stage_text(inspection: Inspection, stage: Stage) -> Text:
    """Returns a stage for people."""
    match stage:
        case Stage.PROGRAM:
            return program_text(inspection.program)
        case Stage.CONTRACT:
            return Text(dumps(inspection.contracts).rstrip())
        case Stage.FINDINGS:
            shown = [diagnostic(finding, inspection.source) for finding in inspection.findings]
            return Text("\n").join(shown) if shown else Text("no findings")
        case Stage.CANDIDATE:
            return Text("\n".join(file.text for file in inspection.port.files).rstrip())
        case Stage.SIMT:
            return simt_text(inspection.functions, inspection.source)
        case Stage.TENSOR:
            return tensor_text(inspection.lifted, inspection.source)
    assert_never(stage)


def stage_document(inspection: Inspection, stage: Stage) -> Json:
    """Returns a stage for programs: an object with the source's path, and the stage under its own name."""
    return {"source": str(inspection.source.path), stage.value: _stage_json(inspection, stage)}


def _stage_json(inspection: Inspection, stage: Stage) -> Json:
    match stage:
        case Stage.PROGRAM:
            return as_json(inspection.program)
        case Stage.CONTRACT:
            return as_json(inspection.contracts)
        case Stage.FINDINGS:
            return as_json(inspection.findings)
        case Stage.CANDIDATE:
            return [{"name": file.name, "text": file.text} for file in inspection.port.files]
        case Stage.SIMT:
            return simt_document(inspection.functions)
        case Stage.TENSOR:
            return tensor_document(inspection.lifted)
    assert_never(stage)


def stage_sarif(inspection: Inspection, stage: Stage) -> Json:
    """Returns the findings as SARIF; raises `UsageError` for another stage."""
    if stage is not Stage.FINDINGS:
        raise UsageError(f"SARIF is for findings, not for a {stage}", "add --as findings")
    return sarif_document([(inspection.source, inspection.findings)], full_catalogue())

"""The port of a program: passes of text to text, each knowing where in the user's file it is (docs/design/maca.md).

wave      what the code says about its warps is confined to 32 lanes of a wave
names     CUDA's names become MACA's
headers   so do the headers, and local ones are found where the port puts them
frame     the line by which porter knows its work again, the runtime's header, the helper functions
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from porter.backend import Port, PortedFile, Target
from porter.diagnostics.findings import Finding
from porter.source.parse import parse
from porter.source.program import HostForm, Program
from porter.source_text import Source
from porter_maca.api import ApiTable, api_table
from porter_maca.catalogue import finding
from porter_maca.cautions import cautions
from porter_maca.declared import Declared, declared
from porter_maca.device import mend
from porter_maca.frame import framed
from porter_maca.headers import distinct, include_ported, inclusions, port_names
from porter_maca.limits import over_limits
from porter_maca.names import rename
from porter_maca.places import Places
from porter_maca.ptx import translate_ptx
from porter_maca.stamp import is_ported
from porter_maca.traced import Traced
from porter_maca.wave import rewrite

_HEADER_SUFFIXES = frozenset({".h", ".hh", ".hpp", ".cuh", ".inl", ".inc"})
_RUNTIME_HEADERS = frozenset({"cuda_runtime.h", "mc_runtime.h", "mcr/mc_runtime.h", "hc_runtime.h", "hcr/hc_runtime.h"})


@dataclass(frozen=True)
class _Port:
    """The context that all files of one port share."""

    target: Target
    table: ApiTable
    own: Declared
    names: Mapping[Path, str]
    other_brand: bool


@dataclass(frozen=True, slots=True)
class _Ported:
    """One file of a port."""

    file: PortedFile
    findings: Sequence[Finding]


def port(program: Program, headers: tuple[Source, ...], target: Target) -> Port:
    """Returns `program` and its local `headers` as MACA C++ for `target`; porter's own ports stay as they are."""
    headers = distinct(program.source, headers)
    sources = (program.source, *headers)
    shared = _Port(
        target,
        api_table(),
        declared(s.text for s in sources),
        port_names(program.source.path.parent, headers),
        any(_is_other_brand(s) for s in sources),
    )
    needs_runtime = not any(i.path in _RUNTIME_HEADERS for s in sources for i in inclusions(s.text))
    main_name = port_name(program)
    programs = (program, *(parse(header, defines=program.defines) for header in headers))
    ported = [
        _ported(one, name, shared, programs, needs_runtime=needs_runtime and one is program)
        for one, name in zip(programs, (main_name, *shared.names.values()), strict=True)
    ]
    about = [ported[0].findings, *(tuple(replace(f, source=p.file.source) for f in p.findings) for p in ported[1:])]
    return Port(tuple(p.file for p in ported), tuple(f for findings in about for f in findings))


def port_name(program: Program) -> str:
    """Returns the name of the ported file: an extension stays a `.cu`, which torch's build looks for."""
    path = PurePosixPath(program.source.path.name)
    if is_ported(program.source.text):
        return path.name
    stem = path.stem.removesuffix(".maca")
    if path.suffix in _HEADER_SUFFIXES:
        return f"{stem}.maca{path.suffix}"
    is_torch = program.form in (HostForm.TORCH_EXTENSION, HostForm.TORCH_LAUNCHER)
    return f"{stem}.maca.cu" if is_torch else f"{stem}.maca.cpp"


def _ported(program: Program, name: str, shared: _Port, programs: Sequence[Program], *, needs_runtime: bool) -> _Ported:
    """Ports one file, which is one of `programs`."""
    source = program.source
    if is_ported(source.text):
        note = finding("PORT1190", source.span(0, 0), f"{source.path.name} is a port made by porter: left as it is")
        return _Ported(PortedFile(name, source.text, source), (note,))
    places = Places.of(source, program.defines)
    wave = rewrite(program, source, shared.target, tuple(p for p in programs if p is not program))
    traced = Traced.of(source).edited(wave.edits)
    traced, about_ptx, ptx_helpers = translate_ptx(traced, shared.target, places)
    traced, about_device, helpers = mend(traced, shared.own, shared.target, places)
    traced, about_names = rename(traced, shared.table, shared.own, places, other_brand=shared.other_brand)
    traced, about_headers = include_ported(traced, shared.table, name, shared.names, places)
    text = framed(
        traced.text, source, shared.target, (wave.helpers or ptx_helpers) + helpers, needs_runtime=needs_runtime
    )
    about_limits = over_limits(program, shared.target, places)
    about_behaviour = cautions(source, shared.table, shared.own, places)
    findings = (
        *wave.findings,
        *about_ptx,
        *about_device,
        *about_names,
        *about_headers,
        *about_limits,
        *about_behaviour,
    )
    return _Ported(PortedFile(name, text, source), sorted(findings, key=_place))


def _place(finding: Finding) -> tuple[int, str]:
    return (finding.span.start if finding.span else 0, finding.code)


def _is_other_brand(source: Source) -> bool:
    return any(i.path.startswith(("hc", "hpcc")) for i in inclusions(source.text))

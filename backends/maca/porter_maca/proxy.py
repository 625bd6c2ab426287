"""Runs a MACA port on an NVIDIA device in place of MetaX's: nvcc compiles it, a header maps its names to CUDA's.

It runs at 32 lanes and NVIDIA's speed; reports say both beside its numbers. The port's names are looked up backwards in
`api_map.toml`, so that there is one table.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from porter.backend import Port
from porter.contract.model.contract import Contract
from porter.evaluate.judge.judge import Candidate
from porter.evaluate.judge.ported import Candidates, SourcePort
from porter.evaluate.model.outcome import Fidelity, NotBuilt
from porter.execution.job import BuildFailure
from porter.native.headers import unpacked
from porter.native.original import build_originals, host_positions
from porter.native.place import Place
from porter.native.requests import Entry
from porter.native.session import Session
from porter.native.timed import Timed
from porter.source.lexer import TokenKind, tokens
from porter.translation_unit import TranslationUnit, ported_unit
from porter_maca.api import OTHER_BRAND, ApiTable, Renamed, Rule, Unsupported, api_table
from porter_maca.dialect import MACA
from porter_maca.headers import inclusions

_WORD = re.compile(r"[A-Za-z_]\w*")
_NAMES = "porter_proxy.h"
_NOT_CUDA = (OTHER_BRAND, "pre-CUDA-4")  # what sources of rows say of names that CUDA has not, or no longer
_WARP_SIZE = 32


@contextmanager
def on_device(ported: Port, original: TranslationUnit, place: Place) -> Iterator[ProxyPort]:
    """Makes `ported` ready to be built for the device of `place`, and run there."""
    with place.session("".join(file.text for file in ported.files)) as session:
        session.start()
        yield ProxyPort(ported_unit(ported, original, MACA), ported, place, session)


@dataclass(frozen=True)
class ProxyPort(SourcePort):
    """A port in MACA C++ that an NVIDIA device runs in `session`."""

    port: Port
    place: Place
    session: Session
    warp_sizes = (_WARP_SIZE,)
    runs_programs = False
    fidelity = Fidelity.PROXY

    def candidates(self, contracts: Sequence[Contract]) -> tuple[Candidates, ...]:
        """Returns what nvcc made of each entry, or why it does not build."""
        folder = unpacked(port_headers(self.port), self.place.cache)
        built = build_originals(self.side, contracts, self.place.nvcc(), self.place.cache, flags(folder))
        return tuple(self._candidate(c, one) for c, one in zip(contracts, built, strict=True))

    def _candidate(self, contract: Contract, built: Entry | BuildFailure) -> Candidates:
        if isinstance(built, BuildFailure):
            return NotBuilt(f"nvcc, standing in for mxcc: {built.placed}", built.log)
        timed = Timed(self.session, built, host_positions(contract))
        return (Candidate(_WARP_SIZE, timed.run, lambda: (self.place.device.arch,), timed=timed),)


def port_headers(port: Port) -> Mapping[str, str]:
    """Returns, by their paths, the port's own headers and those of MACA that it includes."""
    texts = {file.name: file.text for file in port.files[1:]}
    return {**texts, **proxy_headers(file.text for file in port.files)}


def flags(folder: Path) -> tuple[str, ...]:
    """Returns what nvcc needs to compile the port unpacked in `folder`."""
    return (f"-I{folder}", "-include", str(folder / _NAMES))


def proxy_headers(texts: Iterable[str]) -> Mapping[str, str]:
    """Returns, by path, MACA's headers that `texts` include, as CUDA's, and one that defines all names they use."""
    whole, table = list(texts), Backwards(api_table())
    paths = dict.fromkeys(found.path for text in whole for found in inclusions(text))
    headers = {path: table.header(path) for path in paths}
    code = (t.text for text in whole for t in tokens(text) if t.kind in (TokenKind.IDENTIFIER, TokenKind.DIRECTIVE))
    named = {word: table.name(word) for word in sorted({word for text in code for word in _WORD.findall(text)})}
    included = {path: f"#pragma once\n#include <{cuda}>\n" for path, cuda in headers.items() if cuda}
    defined = "".join(f"#define {maca} {cuda}\n" for maca, cuda in named.items() if cuda)
    return {**included, _NAMES: (files("porter_maca") / "proxy.h").read_text("utf-8") + defined}


class Backwards:
    """The table of names read from MACA's side."""

    def __init__(self, table: ApiTable) -> None:
        self._table = table
        self._names = _backwards(table.names)
        self._headers = _backwards(table.headers)
        rules = (rule for rule in table.families.values() if isinstance(rule, Rule) and rule.kind != OTHER_BRAND)
        self._rules = sorted(rules, key=lambda rule: not _of_the_runtime(rule.cut))

    def header(self, path: str) -> str:
        """Returns the CUDA header whose MACA name is `path`, with or without its folder; empty where there is none."""
        for known in (path, path.rsplit("/", 1)[-1]):
            if known in self._headers:
                return self._headers[known]
        folder = next((f for f in self._headers if f.endswith("/") and path.startswith(f)), "")
        return self._headers[folder] + path.removeprefix(folder) if folder else ""

    def name(self, name: str) -> str:
        """Returns the CUDA name whose MACA name is `name`; empty where there is none."""
        if name in self._names or self._table.is_exact(name):
            return self._names.get(name, "")
        return next((cuda for rule in self._rules if (cuda := self._by(rule, name))), "")

    def _by(self, rule: Rule, name: str) -> str:
        if not name.startswith(rule.maca):
            return ""
        cuda = rule.cut + name.removeprefix(rule.maca)
        row = self._table.look_up(cuda)
        return cuda if cuda != name and isinstance(row, Renamed) and row.maca == name else ""


def _backwards(rows: Mapping[str, Renamed | Unsupported]) -> Mapping[str, str]:
    """Returns CUDA's names by MACA's. Runtime and driver share some: then the runtime's first one counts."""
    renamed = (row for row in rows.values() if isinstance(row, Renamed) and row.maca not in ("", row.cuda))
    usable = [row for row in renamed if row.kind != OTHER_BRAND and not any(word in row.source for word in _NOT_CUDA)]
    names: dict[str, str] = {}
    for row in sorted(usable, key=lambda row: not _of_the_runtime(row.cuda)):
        names.setdefault(row.maca, row.cuda)
    return names


def _of_the_runtime(name: str) -> bool:
    return name.startswith("cuda")

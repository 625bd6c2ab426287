"""One of the two texts that are compared: the CUDA original or its port, ready to be built."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from porter.backend import Port
from porter.contract.contract import Entry, EntryKind
from porter.errors import ContractError
from porter.simt.job import BuildRequest, Dialect
from porter.source.headers import local_headers
from porter.source.parse import parse
from porter.source.program import CType, Program
from porter.source.text import Source


@dataclass(frozen=True)
class Side:
    """A source, the local headers it includes by the names it uses, and its language."""

    source: Source
    headers: tuple[tuple[str, Source], ...]
    dialect: Dialect
    program: Program
    defines: tuple[str, ...] = ()
    include_dirs: tuple[str, ...] = ()

    def request(self, entry: Entry, warp_size: int, *, double_precision: bool = False) -> BuildRequest:
        """What an executable for `entry` is built from.

        Raises `ContractError` when the source defines no function of that name.
        """
        return BuildRequest(
            source=self.source,
            headers=self.headers,
            dialect=self.dialect,
            entry=entry,
            parameters=self._parameters(entry),
            warp_size=warp_size,
            double_precision=double_precision,
            defines=self.defines,
            include_dirs=self.include_dirs,
        )

    def _parameters(self, entry: Entry) -> tuple[CType, ...]:
        if entry.kind is EntryKind.PROGRAM:
            return ()
        functions = self.program.kernels if entry.kind is EntryKind.KERNEL else self.program.host_functions
        for function in functions:
            if entry.name in (function.qualified, function.name):
                return tuple(p.type for p in function.params)
        names = ", ".join(dict.fromkeys(f.qualified for f in functions)) or "none"
        raise ContractError(f"{self.source.path} defines no '{entry.name}'", f"it defines: {names}")


def original_side(program: Program, include_dirs: tuple[Path, ...], defines: tuple[str, ...]) -> Side:
    """The CUDA source as the user wrote it."""
    headers = local_headers(program.source, include_dirs)
    return Side(program.source, headers, Dialect.CUDA, program, defines, tuple(map(str, include_dirs)))


def ported_side(port: Port, original: Side) -> Side:
    """The port: its first file is the source, the others are the headers it includes by their names."""
    main, *others = port.files
    source = Source(original.source.path.parent / main.name, main.text)
    headers = tuple((file.name, Source(original.source.path.parent / file.name, file.text)) for file in others)
    program = parse(source, defines=original.defines)
    return Side(source, headers, Dialect.MACA, program, original.defines, original.include_dirs)

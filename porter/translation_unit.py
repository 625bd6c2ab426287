"""One of the two texts that are compared: the CUDA original or its port, ready to be built."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from porter.backend import Port
from porter.contract.analysis.overloads import meant
from porter.contract.analysis.records import grouped
from porter.contract.model.contract import Contract, Entry, EntryKind
from porter.dialect import CUDA, Dialect
from porter.errors import ContractError
from porter.execution.job import BuildRequest, Callee
from porter.rules.original import NO_CODE, OwnCode
from porter.source.parse import parse, read_alone
from porter.source.program import CType, Function, Program
from porter.source.whole_numbers import whole_numbers
from porter.source_text import Source


@dataclass(frozen=True)
class TranslationUnit:
    """A source, the local headers it includes by the names it uses, and its language.

    `own` is the part of an original's code that its candidates may have, too.
    """

    source: Source
    headers: tuple[tuple[str, Source], ...]
    dialect: Dialect
    program: Program
    defines: tuple[str, ...] = ()
    include_dirs: tuple[str, ...] = ()
    own: OwnCode = NO_CODE

    @property
    def numbers(self) -> frozenset[int]:
        """The whole numbers that its text and its local headers name."""
        texts = (self.source.text, *(header.text for _, header in self.headers))
        return frozenset[int]().union(*map(whole_numbers, texts))

    def replaced(self, files: Iterable[Source]) -> TranslationUnit:
        """Returns the side with `files` for those at the same paths."""
        by_path = {file.path: file for file in files}
        headers = tuple((name, by_path.get(header.path, header)) for name, header in self.headers)
        return replace(self, source=by_path.get(self.source.path, self.source), headers=headers)

    def request(self, contracts: Iterable[Contract], warp_size: int, *, double_precision: bool = False) -> BuildRequest:
        """Returns what the executables for the entries of `contracts` are built from.

        Raises `ContractError` when the source defines no function of an entry's name.
        """
        return BuildRequest(
            source=self.source,
            headers=self.headers,
            dialect=self.dialect,
            callees=tuple(map(self._callee, contracts)),
            warp_size=warp_size,
            double_precision=double_precision,
            defines=self.defines,
            include_dirs=self.include_dirs,
            elsewhere=self.program.elsewhere,
        )

    def _callee(self, contract: Contract) -> Callee:
        """Returns the entry with its parameters; of overloads, the one that the contract is for."""
        entry = contract.entry
        if entry.kind is EntryKind.PROGRAM:
            return Callee(entry)
        named = self.named(entry)
        if not named:
            functions = self.program.kernels if entry.kind is EntryKind.KERNEL else self.program.host_functions
            names = ", ".join(dict.fromkeys(f.qualified for f in functions)) or "none"
            raise ContractError(f"{self.source.path} defines no '{entry.name}'", f"it defines: {names}")
        given = [argument.name for argument in contract.arguments]
        chosen = meant(contract, named) or named[0]
        types = tuple(_instantiated(p.type, chosen, entry.template) for p in chosen.params)
        return Callee(entry, types, grouped(given, chosen.params))

    def named(self, entry: Entry) -> list[Function]:
        """Returns the functions that `entry` may mean by its name: those of the source, else kernels of its headers."""
        kernel = entry.kind is EntryKind.KERNEL
        functions = self.program.kernels if kernel else self.program.host_functions
        if named := [f for f in functions if entry.name in (f.qualified, f.name)]:
            return named
        # A port asks for macros of its own compiler: `#ifdef __MACACC__` where the original has `__CUDACC__`.
        macros = (*self.defines, *self.dialect.macros)
        included = (f for _, header in self.headers for f in read_alone(header, macros).program.kernels if kernel)
        return [f for f in included if entry.name in (f.qualified, f.name)]


def _instantiated(declared: CType, function: Function, arguments: tuple[str, ...]) -> CType:
    """Returns `const T*` as `const float*` where `arguments` give T."""
    given = dict(zip((t.name for t in function.template), arguments, strict=False))
    text = re.sub(r"\w+", lambda word: given.get(word.group(), word.group()), declared.text)
    return replace(declared, text=text, base=given.get(declared.base, declared.base))


def original_unit(program: Program, include_dirs: tuple[Path, ...], defines: tuple[str, ...]) -> TranslationUnit:
    """Returns the CUDA source as the user wrote it."""
    folders, own = tuple(map(str, include_dirs)), OwnCode.of(program)
    return TranslationUnit(program.source, program.headers, CUDA, program, defines, folders, own)


def ported_unit(port: Port, original: TranslationUnit, dialect: Dialect) -> TranslationUnit:
    """Returns the port, written in `dialect`: its first file is the source, the others are headers that it includes.

    Headers are read as well: one of their macros may define its kernels.
    """
    main, *others = port.files
    source = Source(original.source.path.parent / main.name, main.text)
    headers = tuple((file.name, Source(original.source.path.parent / file.name, file.text)) for file in others)
    found = {**dict(original.headers), **dict(headers)}
    program = parse(source, headers=lambda name, _: found.get(name), defines=(*original.defines, *dialect.macros))
    program = replace(program, elsewhere=original.program.elsewhere)
    return TranslationUnit(source, headers, dialect, program, original.defines, original.include_dirs)

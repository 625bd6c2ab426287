"""Reads with which folders of headers and macros a source is built: from the command line, or from its build."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from porter.cli.options import checked_file, named_path
from porter.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from porter.diagnostics.findings import Finding
    from porter.evaluate.model.migration import MigrateOptions

_DEFINE = re.compile(r"[A-Za-z_]\w*(\([\w\s,.]*\))?(=.*)?")

IncludeOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--include-dir", "-I", metavar="DIR", parser=named_path, help="A folder with local headers; repeatable."
    ),
]
DefineOption = Annotated[
    list[str] | None,
    typer.Option("--define", "-D", metavar="NAME[=V]", help="A macro that your build defines; repeatable."),
]
CompileCommandsOption = Annotated[
    Path | None,
    typer.Option(
        "--compile-commands",
        metavar="FILE",
        parser=named_path,
        help="The compile_commands.json of your build; without it, the nearest one that names the source.",
    ),
]
BUILD_SAYS = "PORT2016"


@dataclass(frozen=True, slots=True)
class Built:
    """The folders and macros with which one source is read and built; `findings` say what the build added to them."""

    include_dirs: tuple[Path, ...]
    defines: tuple[str, ...]
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True)
class Build:
    """The options of all commands that read a source: what its build hands the compiler."""

    include_dir: IncludeOption = None
    define: DefineOption = None
    compile_commands: CompileCommandsOption = None

    def check(self) -> tuple[tuple[Path, ...], tuple[str, ...]]:
        """The folders and macros of the command line. Raises `UsageError` for a folder, macro or file that is none."""
        checked_file(self.compile_commands)
        return _checked_folders(self.include_dir or ()), _checked_defines(self.define or ())

    def of(self, source: Path) -> Built:
        """The folders and macros for `source`; those of the command line come first, and its macros win.

        Raises `UsageError` for what `check` refuses, `InputError` for a `compile_commands.json` that cannot be read.
        """
        from porter.source.compile_commands import flags_of_build
        from porter.source.findings import finding

        folders, defines = self.check()
        flags = flags_of_build(source, self.compile_commands)
        if flags is None:
            message = f"{self.compile_commands} does not name {source}: porter knows no folder or macro from there"
            return Built(folders, defines, (finding(BUILD_SAYS, None, message),) if self.compile_commands else ())
        given = {_name(define) for define in defines}
        added = tuple(define for define in flags.defines if _name(define) not in given)
        noted = finding(BUILD_SAYS, None, f"{flags.database} adds {flags}")
        return Built((*folders, *flags.include_dirs), (*added, *defines), (noted,))


def built_for(options: MigrateOptions, built: Built) -> MigrateOptions:
    """`options` for a source that is `built` so."""
    return replace(options, include_dirs=built.include_dirs, defines=built.defines)


def _checked_folders(folders: Iterable[Path]) -> tuple[Path, ...]:
    found = tuple(folders)
    for folder in found:
        if not folder.is_dir():
            raise UsageError(f"--include-dir {folder}: no such folder")
    return found


def _checked_defines(texts: Iterable[str]) -> tuple[str, ...]:
    found = tuple(texts)
    for text in found:
        if not _DEFINE.fullmatch(text):
            raise UsageError(f"--define {text}: not the name of a macro, or NAME=VALUE", "for example --define HALF=1")
    return found


def _name(define: str) -> str:
    return define.partition("=")[0].partition("(")[0]

"""Reads what a build hands its compiler for a source: folders of headers and macros, both in `compile_commands.json`.

CMake writes that file with `-DCMAKE_EXPORT_COMPILE_COMMANDS=ON`, and so do Bazel's and Meson's tools and `bear`.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from porter.errors import InputError

NAME = "compile_commands.json"
_MOST_LEVELS = 8  # folders between a source and the root of its project
_INCLUDE = ("-I", "-isystem", "-iquote", "--include-path", "--system-include")
_DEFINE = ("-D", "--define-macro")
_RESPONSE = ("--options-file", "-optf")
# Headers that tell the folder of the system or of a toolkit, whose place porter's own headers take.
_OF_TOOLKIT = ("stdio.h", "cuda_runtime.h", "cub/cub.cuh", "torch/extension.h", "pybind11/pybind11.h", "Python.h")


@dataclass(frozen=True, slots=True)
class BuildFlags:
    """The folders of headers and the macros, as `-D` takes them, that `database` names for a source."""

    database: Path
    include_dirs: tuple[Path, ...]
    defines: tuple[str, ...]

    def __str__(self) -> str:
        named = [*(f"-I{folder}" for folder in self.include_dirs), *(f"-D{define}" for define in self.defines)]
        return " ".join(named) or "no folder of headers and no macro"


def flags_of_build(source: Path, database: Path | None = None) -> BuildFlags | None:
    """Returns what the build of `source` hands its compiler; None where nothing says that.

    Without a `database` the nearest `compile_commands.json` that names the source is asked: beside it, above it up to
    the root of its repository, or in a folder `build` there. Raises `InputError` for a database that is none.
    """
    for file in (database,) if database is not None else _databases_around(source):
        command = _commands(file, _text(file)).get(source.resolve())
        if command is not None:
            return _flags(file, *command)
    return None


def _databases_around(source: Path) -> Iterator[Path]:
    for folder in list(source.resolve().parents)[: _MOST_LEVELS + 1]:
        yield from (file for file in (folder / NAME, folder / "build" / NAME) if _is_there(file))
        if _is_there(folder / ".git"):
            return


def _is_there(path: Path) -> bool:
    """Returns whether the path can be seen: `Path.exists` raises in a folder that nobody may look into."""
    try:
        return path.exists()
    except OSError:
        return False


def _text(database: Path) -> str:
    try:
        return database.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{database}: {error}") from error


@cache
def _commands(database: Path, text: str) -> Mapping[Path, tuple[Path, tuple[str, ...]]]:
    """The first command for each file, by its real path: where the compiler runs, and its arguments."""
    found: dict[Path, tuple[Path, tuple[str, ...]]] = {}
    try:
        for entry in json.loads(text):
            folder = database.parent / entry["directory"]
            words = entry["arguments"] if "arguments" in entry else shlex.split(entry["command"])
            found.setdefault((folder / entry["file"]).resolve(), (folder, tuple(map(str, words))))
    except (ValueError, TypeError, KeyError) as error:
        hint = "it is a list of objects with directory, file, and command or arguments"
        raise InputError(f"{database}: this is not a compilation database: {error!r}", hint) from error
    return found


def _flags(database: Path, folder: Path, words: Iterable[str]) -> BuildFlags:
    options = tuple(_options(folder, words))
    named = ((folder / value).resolve() for option, value in options if option in _INCLUDE)
    include_dirs = (one for one in named if one.is_dir() and not any((one / header).exists() for header in _OF_TOOLKIT))
    defines = (value for option, value in options if option in _DEFINE)
    return BuildFlags(database, tuple(dict.fromkeys(include_dirs)), tuple(dict.fromkeys(defines)))


def _options(folder: Path, words: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Each option that takes a value, in the forms `-I folder`, `-Ifolder`, `-I=folder`, also from files."""
    rest = iter(words)
    for word in rest:
        if word.startswith("@"):
            yield from _options(folder, _words(folder / word[1:]))
            continue
        option = next((one for one in (*_INCLUDE, *_DEFINE, *_RESPONSE) if word.startswith(one)), None)
        if option is None:
            continue
        value = word[len(option) :].removeprefix("=") or next(rest, "")
        if option in _RESPONSE:
            yield from _options(folder, _words(folder / value))
        else:
            yield option, value


def _words(file: Path) -> list[str]:
    """The options in a file; none where a build has not written it yet."""
    try:
        return shlex.split(file.read_text("utf-8"))
    except OSError:
        return []

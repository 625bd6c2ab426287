"""From a source to an executable: translated, compiled with the precompiled header, cached by content.

The layout of the cache: `headers/` and `objects/` hold the shared parts (see parts.py), `programs/<digest>/program` the
executables. A failure is not cached: it is rare, and what made it may be mended outside the source.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from porter.contract.contract import EntryKind
from porter.errors import MachineError
from porter.simt.compiler import (
    INCLUDE,
    RUNTIME,
    Compiler,
    Diagnostics,
    call,
    compiler,
    language_flags,
    missing_compiler,
    uses_torch,
)
from porter.simt.driver import DRIVER_FILE, driver
from porter.simt.failure import build_failure
from porter.simt.job import BuildFailure, BuildRequest, Executable
from porter.simt.parts import digest, executor_objects, move_into, precompiled_header, tree_digest
from porter.simt.translate import translate

__all__ = ["Compiler", "build", "compiler", "prepare"]

# The source stands this deep, so that `#include "../../x.h"` stays inside the build's folder.
_DEPTH = PurePosixPath("a/b/c/d/e/f")
_LIBRARIES = ["-no-pie", "-lpthread", "-ldl", "-lm"]


def build(request: BuildRequest, cache: Path) -> Executable | BuildFailure:
    """The executable of `request`, from `cache` or made now (about a second; more for the first of its kind).

    Raises `MachineError` when the machine has no C++ compiler.
    """
    found = _found()
    job = _Build(request, found, cache, language_flags(request, found), _texts(request))
    place = cache / "programs" / job.key
    if not place.exists():
        done = job.make(place)
        if not done.ok:
            return build_failure(done.log, request)
    return Executable(str(place / "program"), job.key, request)


def prepare(request: BuildRequest, cache: Path) -> None:
    """Builds the shared parts that `request` needs, so that a later `build` only compiles the source."""
    found = _found()
    precompiled_header(found, language_flags(request, found), cache)
    executor_objects(found, uses_torch(request), request.double_precision, cache)


def _found() -> Compiler:
    found = compiler()
    if found is None:
        raise MachineError(missing_compiler(), "run `porter doctor`")
    return found


@dataclass(frozen=True, slots=True)
class _Texts:
    """Every text that is compiled: `drivers` in the order they are tried, `headers` by name of inclusion."""

    source: str
    drivers: tuple[str, ...]
    headers: tuple[tuple[str, str], ...]


def _texts(request: BuildRequest) -> _Texts:
    double = request.double_precision
    overloaded = request.entry.kind is not EntryKind.PROGRAM and bool(request.parameters)
    return _Texts(
        translate(request.source, double_precision=double),
        tuple(driver(request, by_parameters=by) for by in ((False, True) if overloaded else (False,))),
        tuple((name, translate(header, double_precision=double)) for name, header in request.headers),
    )


@dataclass(frozen=True, slots=True)
class _Build:
    """One executable in the making."""

    request: BuildRequest
    compiler: Compiler
    cache: Path
    flags: list[str]
    texts: _Texts

    @property
    def key(self) -> str:
        """The digest of everything the executable depends on."""
        headers = (part for named in self.texts.headers for part in named)
        shared = (tree_digest(INCLUDE), tree_digest(RUNTIME))
        return digest(
            self.compiler.version, *self.flags, *self.options, *shared, self.texts.source, *self.texts.drivers, *headers
        )

    @property
    def options(self) -> list[str]:
        """What the request adds to the command line, behind the precompiled header."""
        double = ["-include", "porter/double_precision.h"] if self.request.double_precision else []
        request = self.request
        return [*double, *(f"-D{d}" for d in request.defines), *(f"-I{d}" for d in request.include_dirs)]

    def make(self, place: Path) -> Diagnostics:
        """Compiles and links beside `place` and moves the result there."""
        header = precompiled_header(self.compiler, self.flags, self.cache)
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=place.parent, prefix=".making-") as name:
            folder = Path(name)
            sources = folder / "source" / _DEPTH
            sources.mkdir(parents=True)
            (folder / "part").mkdir()
            self._write_headers(sources)
            done = self._compile(sources, header, folder)
            if done.ok:  # linked apart, without the sanitizer flags: the executor itself is what the hooks call
                done = self._link(folder)
            if done.ok:
                move_into(folder / "part", place)
            return done

    def _write_headers(self, sources: Path) -> None:
        """Writes the headers where `#include` looks for them; one that would leave the folder is not written."""
        root = sources.parents[len(_DEPTH.parts) - 1].resolve()
        for name, text in self.texts.headers:
            path = (sources / name).resolve()
            if path.is_relative_to(root):
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)

    def _compile(self, sources: Path, header: Path, folder: Path) -> Diagnostics:
        """Compiles with the entry's plain name, and picks an overload by its parameters when only the driver fails."""
        program = sources / "program.cpp"
        flags = [*self.flags, "-include", str(header), *self.options, f"-iquote{sources}", f"-I{sources}"]
        failures: list[Diagnostics] = []
        for text in self.texts.drivers:
            program.write_text(self.texts.source + text)
            done = call(self.compiler, [*flags, "-c", str(program), "-o", "program.o"], folder)
            if done.ok or not _only_driver_fails(done.log):
                return done
            failures.append(done)
        return failures[0]

    def _link(self, folder: Path) -> Diagnostics:
        request = self.request
        objects = executor_objects(self.compiler, uses_torch(request), request.double_precision, self.cache)
        return call(self.compiler, ["program.o", *map(str, objects), *_LIBRARIES, "-o", "part/program"], folder)


def _only_driver_fails(log: str) -> bool:
    errors = [line for line in log.splitlines() if " error: " in line]
    return bool(errors) and all(line.startswith(DRIVER_FILE) for line in errors)

"""From a source to an executable: translated, compiled with the precompiled header, cached by content.

The layout of the cache: `headers/` and `objects/` hold the shared parts (see parts.py), `programs/<digest>/program` the
executables. A failure is not cached: it is rare, and what made it may be mended outside the source.
"""

from __future__ import annotations

import tempfile
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
    flags = language_flags(request, found)
    texts = _texts(request)
    key = digest(found.version, *flags, *_options(request), tree_digest(INCLUDE), tree_digest(RUNTIME), *texts)
    place = cache / "programs" / key
    if not place.exists():
        done = _compile(request, found, flags, texts, cache, place)
        if not done.ok:
            return build_failure(done.log, request)
    return Executable(str(place / "program"), key, request)


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


def _options(request: BuildRequest) -> list[str]:
    return [*(f"-D{d}" for d in request.defines), *(f"-I{d}" for d in request.include_dirs)]


def _texts(request: BuildRequest) -> list[str]:
    """Every text that is compiled: the source with its two possible drivers, and the headers by name."""
    double = request.double_precision
    headers = [part for name, header in request.headers for part in (name, translate(header, double_precision=double))]
    drivers = [driver(request, by_parameters=by) for by in (False, True)]
    return [translate(request.source, double_precision=double), *drivers, *headers]


def _compile(
    request: BuildRequest, found: Compiler, flags: list[str], texts: list[str], cache: Path, place: Path
) -> Diagnostics:
    header = precompiled_header(found, flags, cache)
    objects = executor_objects(found, uses_torch(request), request.double_precision, cache)
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place.parent, prefix=".making-") as name:
        folder = Path(name)
        sources = folder / "source" / _DEPTH
        sources.mkdir(parents=True)
        _write_headers(request, sources, texts[3:])
        compile_flags = [*flags, "-include", str(header), *_double(request), *_options(request), f"-iquote{sources}"]
        link_flags = [*map(str, objects), *_LIBRARIES, "-o", "part/program"]
        (folder / "part").mkdir()
        done = _attempts(request, found, texts, sources, [*compile_flags, f"-I{sources}"], link_flags, folder)
        if done.ok:
            move_into(folder / "part", place)
        return done


def _double(request: BuildRequest) -> list[str]:
    return ["-include", "porter/double_precision.h"] if request.double_precision else []


def _write_headers(request: BuildRequest, sources: Path, texts: list[str]) -> None:
    """Writes the translated headers where `#include` looks for them; one that would leave the folder is not written."""
    root = sources.parents[len(_DEPTH.parts) - 1].resolve()
    for (name, _), text in zip(request.headers, texts[1::2], strict=True):
        path = (sources / name).resolve()
        if not path.is_relative_to(root):
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def _attempts(
    request: BuildRequest,
    found: Compiler,
    texts: list[str],
    sources: Path,
    compile_flags: list[str],
    link_flags: list[str],
    folder: Path,
) -> Diagnostics:
    """Compiles with the entry's plain name, and picks an overload by its parameters when only the driver fails."""
    drivers = texts[1:3] if request.entry.kind is not EntryKind.PROGRAM and request.parameters else texts[1:2]
    first: Diagnostics | None = None
    for text in drivers:
        (sources / "program.cpp").write_text(texts[0] + text)
        done = call(found, [*compile_flags, "-c", str(sources / "program.cpp"), "-o", "program.o"], folder)
        if done.ok:  # linked apart, without the sanitizer flags: the executor itself is what the hooks call
            return call(found, ["program.o", *link_flags], folder)
        if not _only_driver_fails(done.log):
            return done
        first = first or done
    assert first is not None
    return first


def _only_driver_fails(log: str) -> bool:
    errors = [line for line in log.splitlines() if " error: " in line]
    return bool(errors) and all(line.startswith(DRIVER_FILE) for line in errors)

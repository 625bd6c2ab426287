"""The parts of an executable that are built once and shared: the precompiled header and the executor's objects."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from porter.dialect import INCLUDE, Dialect
from porter.errors import MachineError
from porter.measure.deadline import SHARED_PARTS
from porter.simt.bounded_folder import BoundedFolder
from porter.simt.compiler import RUNTIME, Compiler, call, executor_flags

# A header is 100 MB, one for each set of flags and each change of porter's own headers; ten serve all of one version.
_HEADERS_BYTES, _OBJECTS_BYTES, _PROGRAMS_BYTES = 3 << 30, 1 << 30, 4 << 30
_COMPILING_S = 3600.0  # for which a header or an object is in use, at the most
_HEADER = '#include "porter/porter_simt.h"\n'


def digest(*parts: str | bytes) -> str:
    """A name for content: the same for equal parts on every machine."""
    found = hashlib.sha256()
    for part in parts:
        raw = part.encode() if isinstance(part, str) else part
        found.update(len(raw).to_bytes(8, "little") + raw)
    return found.hexdigest()[:32]


@cache
def tree_digest(root: Path) -> str:
    """The digest of all files below `root`, by name and content."""
    files = sorted(p for p in root.rglob("*") if p.is_file())
    return digest(*(part for p in files for part in (str(p.relative_to(root)), p.read_bytes())))


def programs(cache: Path) -> BoundedFolder:
    """The executables."""
    return BoundedFolder(cache / "programs", _PROGRAMS_BYTES)


def headers_digest(dialect: Dialect) -> str:
    """The digest of all headers that a source in `dialect` is compiled against."""
    spelled = (name for pair in dialect.spelling for name in pair)
    return digest(tree_digest(INCLUDE), tree_digest(dialect.headers), *spelled)


def precompiled_header(found: Compiler, flags: list[str], dialect: Dialect, cache: Path) -> Path:
    """The header to `-include` with exactly these flags; compiled once, a few seconds."""
    key = digest(found.version, *flags, headers_digest(dialect))

    def make(folder: Path) -> None:
        spelled = "".join(f"#define {own} {cuda}\n" for own, cuda in dialect.spelling)
        (folder / "porter.h").write_text(_HEADER + spelled)
        _must(found, [*flags, "-x", "c++-header", "porter.h", "-o", "porter.h.gch"], folder)

    with SHARED_PARTS.passing():
        return BoundedFolder(cache / "headers", _HEADERS_BYTES, _COMPILING_S).made(key, make) / "porter.h"


def executor_objects(found: Compiler, torch: bool, double_precision: bool, cache: Path) -> list[Path]:
    """The objects to link: the executor, and the tensor library for sources that use PyTorch."""
    tensors = []
    if torch:  # first: meanwhile somebody else may build the executor
        sources = sorted((RUNTIME / "torch").glob("*.cpp"))
        tensors = [_object(found, "tensors", sources, double_precision=double_precision, cache=cache)]
    core = _object(found, "executor", sorted(RUNTIME.glob("*.cpp")), double_precision=False, cache=cache)
    return [core, *tensors]


def _object(found: Compiler, name: str, sources: Iterable[Path], *, double_precision: bool, cache: Path) -> Path:
    flags = executor_flags(double_precision)
    key = digest(name, found.version, *flags, tree_digest(INCLUDE), tree_digest(RUNTIME))

    def make(folder: Path) -> None:
        (folder / f"{name}.cpp").write_text("".join(f'#include "{source}"\n' for source in sources))
        _must(found, [*flags, "-c", f"{name}.cpp", "-o", f"{name}.o"], folder)

    with SHARED_PARTS.passing():
        return BoundedFolder(cache / "objects", _OBJECTS_BYTES, _COMPILING_S).made(key, make) / f"{name}.o"


def _must(found: Compiler, arguments: list[str], folder: Path) -> None:
    done = call(found, arguments, folder)
    if not done.ok:
        first = next((line for line in done.log.splitlines() if "error" in line), done.log[:200])
        raise MachineError(f"{found.command} cannot build porter's own executor: {first}", "run `porter doctor`")

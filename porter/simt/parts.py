"""The parts of an executable that are built once and shared: the precompiled header and the executor's objects.

Keys are digests of everything a part depends on, so a part is never out of date. A part is made under a lock, beside
its place, and moved there whole: processes that build at the same time wait for each other or see it finished.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from porter.errors import MachineError
from porter.simt.compiler import INCLUDE, RUNTIME, Compiler, call, executor_flags

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


def place_once(place: Path, make: Callable[[Path], None]) -> Path:
    """`place`, a folder; `make` fills it in a temporary one when it is not there yet."""
    if place.exists():
        return place
    place.parent.mkdir(parents=True, exist_ok=True)
    with _locked(place.with_suffix(".lock")):
        if not place.exists():
            with tempfile.TemporaryDirectory(dir=place.parent, prefix=".making-") as name:
                folder = Path(name) / "part"
                folder.mkdir()
                make(folder)
                move_into(folder, place)
    return place


def move_into(folder: Path, place: Path) -> None:
    """Renames `folder` to `place`; where another process was first, its work stands."""
    try:
        folder.rename(place)
    except OSError:
        if not place.exists():
            raise
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def precompiled_header(found: Compiler, flags: list[str], cache: Path) -> Path:
    """The header to `-include` with exactly these flags; compiled once, a few seconds."""
    key = digest(found.version, *flags, tree_digest(INCLUDE))

    def make(folder: Path) -> None:
        (folder / "porter.h").write_text(_HEADER)
        _must(found, [*flags, "-x", "c++-header", "porter.h", "-o", "porter.h.gch"], folder)

    return place_once(cache / "headers" / key, make) / "porter.h"


def executor_objects(found: Compiler, torch: bool, double_precision: bool, cache: Path) -> list[Path]:
    """The objects to link: the executor, and the tensor library for sources that use PyTorch."""
    core = _object(found, "executor", sorted(RUNTIME.glob("*.cpp")), double_precision=False, cache=cache)
    if not torch:
        return [core]
    sources = sorted((RUNTIME / "torch").glob("*.cpp"))
    return [core, _object(found, "tensors", sources, double_precision=double_precision, cache=cache)]


def _object(found: Compiler, name: str, sources: Iterable[Path], *, double_precision: bool, cache: Path) -> Path:
    flags = executor_flags(double_precision)
    key = digest(name, found.version, *flags, tree_digest(INCLUDE), tree_digest(RUNTIME))

    def make(folder: Path) -> None:
        (folder / f"{name}.cpp").write_text("".join(f'#include "{source}"\n' for source in sources))
        _must(found, [*flags, "-c", f"{name}.cpp", "-o", f"{name}.o"], folder)

    return place_once(cache / "objects" / key, make) / f"{name}.o"


def _must(found: Compiler, arguments: list[str], folder: Path) -> None:
    done = call(found, arguments, folder)
    if not done.ok:
        first = next((line for line in done.log.splitlines() if "error" in line), done.log[:200])
        raise MachineError(f"{found.command} cannot build porter's own executor: {first}", "run `porter doctor`")

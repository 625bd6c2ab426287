"""Local headers: found beside the file that includes them, in the folders the user named, above the file, or at the one
place of its repository that has them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from os.path import normpath
from pathlib import Path
from typing import Protocol

from porter.source.directives import directives, includes
from porter.source.encoding import read_text
from porter.source_text import Source

_TOOLKIT = (
    "ATen/", "c10/", "caffe2/", "torch/", "pybind11/", "cub/", "thrust/", "cuda/", "nv/", "cutlass/", "cute/", "cudnn",
    "cublas", "curand", "cusolver", "cusparse", "cufft", "cooperative_groups", "crt/", "nccl", "nvToolsExt", "nvtx3/",
)  # fmt: skip
# Libraries have `cuda_utils.h` and its like of their own, so these are told by their whole names.
_OF_CUDA = re.compile(
    r"(?:cuda|cuda(?:GL|EGL|VDPAU)\w*|cudaProfiler\w*|cudaTypedefs|mma|driver_(?:types|functions)|math_(?:constants|functions)"
    r"|cuda_(?:runtime|runtime_api|device_runtime_api|bf16|fp\d+|occupancy|profiler_api|stdint)"
    r"|cuda_(?:awbarrier|pipeline)\w*|cuda_\w+_(?:interop|types)|device_(?:launch_parameters|types|functions)"
    r"|device_\w+_functions|sm_\d+_\w+|(?:surface|texture|vector)_\w*(?:types|functions))\.(?:h|hpp)"
)


# Of C; those of C++ have no suffix.
_STANDARD = frozenset((
    "assert.h", "complex.h", "ctype.h", "errno.h", "fenv.h", "float.h", "inttypes.h", "limits.h", "locale.h", "math.h",
    "setjmp.h", "signal.h", "stdarg.h", "stdatomic.h", "stdbool.h", "stddef.h", "stdint.h", "stdio.h", "stdlib.h",
    "string.h", "tgmath.h", "time.h", "uchar.h", "wchar.h", "wctype.h",
))  # fmt: skip


_HEADER_SUFFIXES = (".h", ".hh", ".hpp", ".cuh", ".inl", ".inc", ".cu")
_SOURCE_SUFFIXES = (".c", ".cc", ".cpp", ".cxx", ".cu")
_MOST_LEVELS = 8  # folders between a source and the root of its project


class HeaderFinder(Protocol):
    """Answers what `#include` means."""

    def __call__(self, name: str, includer: Source, /) -> Source | None:
        """The header that `includer` means by `name`; None when it is not at hand."""
        ...


@dataclass(frozen=True)
class DiskHeaders:
    """Headers on disk: beside the includer first, then in `include_dirs` in order, then above the includer.

    A build names the folders of its headers, and most are above the sources, or an `include` beside or above them: the
    nearest such folder that has the header is taken for one. Others are anywhere in the repository: a header that is
    there once cannot be another. Where they are to lie `within` a folder, those outside are not there.
    """

    include_dirs: tuple[Path, ...] = ()
    within: Path | None = None

    def __call__(self, name: str, includer: Source, /) -> Source | None:
        """The header that `includer` means by `name`; None when no folder has it."""
        for folder in (includer.path.parent, *self.include_dirs, *_above(includer.path, name)):
            path = Path(normpath(folder / name))  # `a/../a/x.h` is `a/x.h`: a header that includes itself so must end
            if self._is_there(path):
                return Source(path, read_text(path))
        elsewhere = in_repository(name, includer.path) if self.within is None else ()
        return Source(elsewhere[0], read_text(elsewhere[0])) if len(elsewhere) == 1 else None

    def _is_there(self, path: Path) -> bool:
        return path.is_file() and (self.within is None or path.resolve().is_relative_to(self.within.resolve()))


def _above(path: Path, name: str) -> Iterator[Path]:
    """The folders at and above that of the file `path` where a project may keep `name`, up to its repository's."""
    folder = path.parent
    for _ in range(0 if _is_foreign(name) else _MOST_LEVELS):
        yield folder / "include"
        if (folder / ".git").exists():
            return
        folder = folder / ".."
        yield folder


def _is_foreign(name: str) -> bool:
    return name.startswith(".") or (is_installed(name) and not name.startswith("cuda/"))  # many have such a folder


def in_repository(name: str, path: Path) -> tuple[Path, ...]:
    """Returns the headers of the repository around the file `path` that `name` may mean; none outside of one."""
    root = _repository(path)
    if root is None or _is_foreign(name):
        return ()
    wanted = Path(normpath(name)).parts
    return tuple(
        p for p in _files_below(root, _HEADER_SUFFIXES).get(wanted[-1], ()) if p.parts[-len(wanted) :] == wanted
    )


def sources_beside(path: Path) -> tuple[Path, ...]:
    """Returns the sources that may define what the file `path` declares: those of its folder, and those of its
    repository that are called like it.
    """
    beside = (p for p in sorted(path.parent.iterdir()) if p.suffix in _SOURCE_SUFFIXES and p.is_file())
    root = _repository(path)
    called = _files_below(root, _SOURCE_SUFFIXES) if root is not None else {}
    alike = (p for suffix in _SOURCE_SUFFIXES for p in called.get(path.stem + suffix, ()))
    return tuple({normpath(p.absolute()): p for p in (*alike, *beside)}.values())


def _repository(path: Path) -> Path | None:
    around = list(path.absolute().parents)[: _MOST_LEVELS + 1]
    return next((folder for folder in around if (folder / ".git").exists()), None)


@cache
def _files_below(root: Path, suffixes: tuple[str, ...]) -> Mapping[str, Sequence[Path]]:
    """The files of a repository that end in one of `suffixes`, by their names; hidden folders are left out."""
    found: dict[str, list[Path]] = {}
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in names:
            if name.endswith(suffixes):
                found.setdefault(name, []).append(Path(folder, name))
    return found


def folders_of(headers: Iterable[tuple[str, Source]]) -> tuple[Path, ...]:
    """The folders in which a compiler finds `headers` by the names they are included by."""
    parts = [(Path(normpath(name)).parts, header.path) for name, header in headers]
    named = [path.parents[len(name) - 1] for name, path in parts if path.parts[-len(name) :] == name]
    return tuple(dict.fromkeys(named))


def local_headers(source: Source, include_dirs: Iterable[Path] = ()) -> tuple[tuple[str, Source], ...]:
    """The headers `source` names, and those they name, that exist on disk, whatever `#if` they stand under.

    The name used and the header, in the order they are first named; a header with two names is listed under both.
    """
    finder = DiskHeaders(tuple(include_dirs))
    found: dict[tuple[str, Path], Source] = {}
    _collect(source, finder, found)
    return tuple((name, header) for (name, _), header in found.items())


def _collect(source: Source, finder: HeaderFinder, found: dict[tuple[str, Path], Source]) -> None:
    for include in includes(source, directives(source.text)):
        header = finder(include.path, source)
        if header is not None and (include.path, header.path) not in found:
            found[include.path, header.path] = header
            _collect(header, finder, found)


def is_installed(name: str) -> bool:
    """Returns whether a header comes with a compiler or a toolkit; some write those in quotes."""
    return name.startswith(_TOOLKIT) or _OF_CUDA.fullmatch(name) is not None or name in _STANDARD or "." not in name

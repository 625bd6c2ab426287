"""What all migrations share, built before the first: precompiled headers and the executor, for every kind of build."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from porter.contract.contract import Entry, EntryKind
from porter.evaluate.migration import Progress
from porter.evaluate.prove import CUDA_WARP_SIZE
from porter.simt.build import prepare
from porter.simt.job import BuildRequest, Dialect
from porter.source.text import Source

_WIDEST = 64
_SOURCES = {"plain CUDA": "", "PyTorch extensions": "#include <torch/extension.h>\n"}


def warm(cache: Path, progress: Progress) -> None:
    """Fill `cache` so that a migration compiles nothing but its own source: a minute of one core, once.

    Raises `MachineError` when the machine has no C++ compiler.
    """
    for kind, text in _SOURCES.items():
        progress(f"preparing for {kind}")
        for request in _requests(Source(Path("warm.cu"), text)):
            prepare(request, cache)


def _requests(source: Source) -> Iterator[BuildRequest]:
    """The four builds a migration makes: the original, its double-precision twin, and the port at both widths."""
    entry = Entry(EntryKind.POINTER, "warm")
    yield BuildRequest(source, (), Dialect.CUDA, entry, (), CUDA_WARP_SIZE)
    yield BuildRequest(source, (), Dialect.CUDA, entry, (), CUDA_WARP_SIZE, double_precision=True)
    for width in (_WIDEST, CUDA_WARP_SIZE):
        yield BuildRequest(source, (), Dialect.MACA, entry, (), width)

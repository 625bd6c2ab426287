"""Builds what all migrations share before the first: precompiled headers and the executor, for every kind of build."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from porter.dialect import CUDA
from porter.evaluate.model.migration import Progress
from porter.evaluate.problem.bench import CUDA_WARP_SIZE
from porter.execution.job import BuildRequest
from porter.registry import loadable_backends
from porter.simt.build import prepare_executor, prepare_header
from porter.source_text import Source

_WIDEST = 64
_BUILDERS = 2
_SOURCES = ("", "#include <torch/extension.h>\n")  # plain CUDA, PyTorch extensions


def warm(cache: Path, progress: Progress) -> None:
    """Fills `cache` so that a migration compiles nothing but its own source: takes two cores half a minute, once.

    Raises `MachineError` when the machine has no C++ compiler.
    """
    progress("building headers and the executor")
    kinds = [tuple(_requests(Source(Path("warm.cu"), text))) for text in _SOURCES]
    with ThreadPoolExecutor(_BUILDERS) as pool:
        # The executor's objects take as long as several headers: a core would wait for those that begin last.
        objects = [pool.submit(prepare_executor, requests[0], cache) for requests in kinds]
        headers = [pool.submit(prepare_header, request, cache) for requests in kinds for request in requests]
        for made in (*objects, *headers):
            made.result()


def _requests(source: Source) -> Iterator[BuildRequest]:
    """Yields the builds every migration makes: the original, and the ports that the executor runs, at each width."""
    yield BuildRequest(source, (), CUDA, (), CUDA_WARP_SIZE)
    dialects = dict.fromkeys(backend.dialect for backend in loadable_backends() if backend.dialect is not None)
    for dialect in dialects:
        for width in (_WIDEST, CUDA_WARP_SIZE):
            if (dialect, width) != (CUDA, CUDA_WARP_SIZE):
                yield BuildRequest(source, (), dialect, (), width)

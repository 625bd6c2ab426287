"""Measures how long lowering takes: ten files of corpus.toml of about 300 lines, then all others.

    python benchmarks/coverage/lowering_speed.py CHECKOUTS

CHECKOUTS is that of run.py. The times are seconds of processor time from source text to module text, nothing executed,
with what is imported and what is read from tables already there; they are the least of five for the ten, and one run
for each of the others. Writes lowering_speed.json beside this script.
"""

from __future__ import annotations

import json
import platform
import statistics
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from run import HERE, Item, checkout, folder, own_commit, read_corpus

from porter.backend import Backend, Target
from porter.errors import InputError
from porter.registry import find_backend, find_target
from porter.source.headers import DiskHeaders
from porter.source.load import load
from porter.source.parse import parse
from porter.source_text import Source
from porter.translation_unit import original_unit

ABOUT_LINES = 300
FILES = 10
REPEATS = 5
WARM = "__global__ void k(float* x) { x[threadIdx.x] += 1; }\nvoid f(float* x) { k<<<1, 64>>>(x); }\n"


@dataclass(frozen=True)
class Timed:
    """`lines` of the file itself, without its headers; `kernels` in the module, instances of templates apart."""

    repository: str
    path: str
    lines: int
    kernels: int
    seconds: float


def lowered(source: Source, include_dirs: tuple[Path, ...], backend: Backend, target: Target) -> tuple[float, int]:
    """The seconds, and the number of kernels that came of it."""
    start = time.process_time()
    program = parse(source, headers=DiskHeaders(include_dirs))
    original = original_unit(program, include_dirs, ())
    port = backend.port(program, tuple(header for _, header in original.headers), target)
    seconds = time.process_time() - start
    return seconds, sum(file.text.count("@triton.jit\ndef ") for file in port.files)


def sources(items: list[Item], root: Path, scratch: Path) -> dict[Item, Source]:
    """The files that can be read at all."""
    found = {}
    for item in items:
        try:
            found[item] = load(checkout(item, root, scratch)).sources[0]
        except InputError:
            continue
    return found


def timed(item: Item, source: Source, root: Path, repeats: int) -> Timed:
    backend = find_backend("triton")
    include_dirs = tuple(folder(item, root) / name for name in item.include_dirs)
    runs = [lowered(source, include_dirs, backend, find_target(backend, "")) for _ in range(repeats)]
    seconds, kernels = min(runs)
    return Timed(item.repository, item.path, source.text.count("\n"), kernels, round(seconds, 3))


def main() -> None:
    root = Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as scratch:
        found = sources(read_corpus(""), root, Path(scratch))
        backend = find_backend("triton")
        lowered(Source(Path("warm.cu"), WARM), (), backend, find_target(backend, ""))
        order = sorted(found, key=lambda item: abs(found[item].text.count("\n") - ABOUT_LINES))
        ten = [timed(item, found[item], root, REPEATS) for item in order[:FILES]]
        others = [timed(item, found[item], root, 1) for item in order[FILES:]]
    result = {
        "commit": own_commit(),
        "machine": platform.machine(),
        "python": platform.python_version(),
        "ten": [asdict(t) for t in ten],
        "slowest_of_ten_s": max(t.seconds for t in ten),
        "others": len(others),
        "median_of_others_s": statistics.median(t.seconds for t in others),
        "others_above_1_s": [asdict(t) for t in sorted(others, key=lambda t: -t.seconds) if t.seconds > 1],
    }
    (HERE / "lowering_speed.json").write_text(json.dumps(result, indent=1) + "\n")
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()

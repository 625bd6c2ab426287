"""Measures how much real CUDA porter can read: how many kernels of folders or git directories it parses cleanly.

    python benchmarks/parse_corpus.py FOLDER_OR_GIT_DIR... [--out RESULT.json] [--show]

Every .cu and .cuh is parsed. A kernel is clean when no error of the grammar lies within its definition; it is lost when
porter does not list it although the preprocessor leaves it in the file. Quoted and angled includes are looked up in the
same repository.
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath

from porter.source.parse import Read, read
from porter.source_text import Source

KERNEL_FILES = (".cu", ".cuh")
HEADER_FILES = (".cu", ".cuh", ".h", ".hpp", ".inl", ".hxx")


@dataclass
class Score:
    repository: str
    files: int = 0
    files_with_kernels: int = 0
    lines: int = 0
    kernels: int = 0
    clean: int = 0
    lost: int = 0
    not_compiled: int = 0
    seconds: float = 0.0
    slowest_ms_per_1000_lines: float = 0.0

    @property
    def clean_share(self) -> float:
        return self.clean / max(1, self.kernels + self.lost)


class Repository:
    """The text files of a folder or of a git directory's HEAD, by path."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.git = (root / "HEAD").is_file()
        self.name = root.parent.name if self.git else root.name
        self.paths = [p for p in self._list() if p.endswith(HEADER_FILES)]
        self.by_name: dict[str, list[str]] = {}
        for path in self.paths:
            self.by_name.setdefault(PurePosixPath(path).name, []).append(path)
        self.texts = self._load()
        self._answers: dict[tuple[str, str], Source | None] = {}

    def _list(self) -> list[str]:
        if not self.git:
            return [str(p.relative_to(self.root)) for p in sorted(self.root.rglob("*")) if p.is_file()]
        command = ["git", f"--git-dir={self.root}", "ls-tree", "-r", "HEAD", "--name-only", "-z"]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\0")

    def _load(self) -> dict[str, str]:
        """All texts at once, so that reading them does not count as parsing."""
        if not self.git:
            return {p: (self.root / p).read_bytes().decode("utf-8", errors="replace") for p in self.paths}
        request = "".join(f"HEAD:{p}\n" for p in self.paths).encode()
        command = ["git", f"--git-dir={self.root}", "cat-file", "--batch"]
        answer = subprocess.run(command, input=request, capture_output=True, check=True).stdout
        texts: dict[str, str] = {}
        at = 0
        for path in self.paths:
            head, at = answer[at : answer.index(b"\n", at)], answer.index(b"\n", at) + 1
            if head.endswith(b" missing"):
                texts[path] = ""
                continue
            size = int(head.split()[-1])
            texts[path] = answer[at : at + size].decode("utf-8", errors="replace")
            at += size + 1
        return texts

    def __call__(self, name: str, includer: Source, /) -> Source | None:
        """The header `name` for a file in the includer's folder."""
        asked = name, str(includer.path.parent)
        if asked not in self._answers:
            self._answers[asked] = self._find(name, includer)
        return self._answers[asked]

    def _find(self, name: str, includer: Source) -> Source | None:
        """The header `name`: beside the includer, else the path in the repository that ends so and is nearest."""
        wanted = "/" + name.lstrip("./")
        beside = str(PurePosixPath(includer.path.as_posix()).parent / name)
        endings = [p for p in self.by_name.get(PurePosixPath(name).name, []) if ("/" + p).endswith(wanted)]
        if not endings:
            return None
        here = includer.path.as_posix()
        best = beside if beside in endings else max(endings, key=lambda p: _shared(p, here))
        return Source(Path(best), self.texts[best])


def _shared(left: str, right: str) -> int:
    return next((i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right)))


def measure(repository: Repository, *, show: bool) -> Score:
    score = Score(repository.name)
    for path in repository.paths:
        if not path.endswith(KERNEL_FILES):
            continue
        source = Source(Path(path), repository.texts[path])
        begin = time.process_time()
        result = read(source, headers=repository)
        seconds = time.process_time() - begin
        _count(score, result, seconds)
        if show:
            for line in _complaints(result):
                print(f"  {repository.name}:{line}")
    return score


def _count(score: Score, result: Read, seconds: float) -> None:
    lines = result.program.source.text.count("\n") + 1
    score.files += 1
    score.lines += lines
    score.seconds += seconds
    kernels = [d for d in result.defined if d.function.space == "global"]
    score.files_with_kernels += bool(kernels)
    score.kernels += len(kernels)
    score.clean += sum(result.is_clean(d) for d in kernels)
    score.lost += result.lost_kernels()
    score.not_compiled += result.kernels_not_compiled()
    if lines >= 200:
        score.slowest_ms_per_1000_lines = max(score.slowest_ms_per_1000_lines, seconds / lines * 1e6)


def _complaints(result: Read) -> Iterator[str]:
    for defined in result.defined:
        if defined.function.space == "global" and not result.is_clean(defined):
            errors = [e for e in result.errors if e[0] < defined.end and e[1] > defined.start]
            first = errors[0] if errors else (defined.start, defined.body, "not whole")
            line = result.reading.span(first[0], first[1]).line
            name = defined.function.name
            yield f"{result.program.source.path}:{defined.function.span.line}: {name}: line {line}: {first[2]}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("roots", nargs="+", type=Path)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--show", action="store_true", help="list every kernel that is not clean")
    options = parser.parse_args()
    scores = []
    for root in options.roots:
        scores.append(measure(Repository(root), show=options.show))
        s = scores[-1]
        print(
            f"{s.repository:45} files {s.files:5} kernels {s.kernels:5} clean {s.clean:5} ({s.clean_share:6.1%}) "
            f"lost {s.lost:3} not compiled {s.not_compiled:4} {s.seconds / max(1, s.lines) * 1e6:6.1f} ms/1000 lines "
            f"(worst file {s.slowest_ms_per_1000_lines:.0f})",
            flush=True,
        )
    total = sum(s.kernels + s.lost for s in scores)
    clean = sum(s.clean for s in scores)
    print(f"all: {clean} of {total} kernels clean ({clean / max(1, total):.2%})")
    if options.out:
        report = {
            "python": sys.version.split()[0],
            "machine": f"{platform.machine()}, {platform.processor() or 'unnamed processor'}",
            "repositories": [{**asdict(s), "clean_share": round(s.clean_share, 4)} for s in scores],
        }
        options.out.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()

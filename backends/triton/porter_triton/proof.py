"""The port as it is compared with its original: run by Triton's interpreter, its kernels compiled as launched."""

from __future__ import annotations

import ast
import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from porter.backend import Port, Target
from porter.contract.contract import Contract, Entry, EntryKind
from porter.contract.dtype import DType
from porter.contract.elements import element_type
from porter.evaluate.judge import Candidate
from porter.evaluate.outcome import NotBuilt
from porter.evaluate.ported import Candidates
from porter.evaluate.side import Side
from porter.simt.job import Job, Limits, Run
from porter.source.program import Program
from porter_triton.compile import refused
from porter_triton.frames import Task
from porter_triton.naming import function_of
from porter_triton.run import Worker
from porter_triton.targets import targets

_NOT_COMPILED = "PORT1810"
_LINES = re.compile(r"\s*# (lines? \d+(?:-\d+)?)$")


@contextmanager
def interpreted(port: Port, original: Side, target: Target, cache: Path, limits: Limits) -> Iterator[InterpretedPort]:
    """`port` ready to run within `limits`; `cache` keeps compiled kernels, all else is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="porter-triton-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        for part in ("run", "compile"):
            (folder / part).mkdir()
        module = folder / port.files[0].name
        module.write_text(port.files[0].text, "utf-8")
        worker = Worker(module, folder / "run", limits)
        try:
            yield InterpretedPort(
                original.program, module, worker, _devices(target), folder / "compile", cache / "triton"
            )
        finally:
            worker.close()


@dataclass(frozen=True)
class InterpretedPort:
    """A module that a worker runs. What it launches compiles for `devices`, or it is no port."""

    original: Program
    module: Path
    worker: Worker
    devices: tuple[Target, ...]
    workdir: Path
    cache: Path

    @property
    def warp_sizes(self) -> tuple[int, ...]:
        """None: the interpreter executes a program as a whole."""
        return ()

    @property
    def runs_programs(self) -> bool:
        """A `main` reads and prints: there is nothing of it in the module."""
        return False

    def candidates(self, contracts: Sequence[Contract]) -> tuple[Candidates, ...]:
        """One way to run each entry."""
        defined = _functions(self.module)
        return tuple(self._candidates(contract.entry, defined) for contract in contracts)

    def _candidates(self, entry: Entry, defined: frozenset[str]) -> Candidates:
        function = function_of(entry)
        if function not in defined:
            missing = f"{self.module.name} defines no '{function}'"
            return NotBuilt(missing, missing)
        launched: dict[str, None] = {}
        launch = entry.kind is EntryKind.KERNEL
        returns = _number(self.original, entry)

        def execute(job: Job) -> Run:
            run, signatures = self.worker.run(Task(function, job, launch, returns))
            launched.update(dict.fromkeys(signatures))
            return run

        return (Candidate(None, execute, lambda: self._compiled(launched)),)

    def _compiled(self, launched: Iterable[str]) -> tuple[str, ...] | NotBuilt:
        found = refused(self.module, launched, self.devices, self.workdir, self.cache)
        if found is None:
            return tuple(device.arch for device in self.devices)
        place = f"{self.module.name}:{found.line}{self._origin(found.line)}: " if found.line else ""
        because = f"{_NOT_COMPILED}: {place}{found.kernel} does not compile for {found.arch}: {found.message}"
        return NotBuilt(because, because)

    def _origin(self, line: int) -> str:
        """Which lines of the source a line of the module came from, as the comment above it says."""
        for text in reversed(self.module.read_text("utf-8").splitlines()[:line]):
            if found := _LINES.match(text):
                return f" ({found[1]} of {self.original.source.path.name})"
            if text.startswith("def "):
                break
        return ""


def _number(program: Program, entry: Entry) -> DType | None:
    """The type of the number that the CUDA function returns, if it is one."""
    named = [f for f in program.host_functions if entry.name in (f.qualified, f.name)]
    return element_type(named[0].returns.base) if named and not named[0].returns.pointers else None


def _functions(module: Path) -> frozenset[str]:
    """The functions at the top of the module; none where it is no Python."""
    try:
        tree = ast.parse(module.read_text("utf-8"))
    except SyntaxError:
        return frozenset()
    return frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef))


def _devices(target: Target) -> tuple[Target, ...]:
    """The target, and one of each warp size: what compiles for both widths leans on neither."""
    widths = {t.warp_size: t for t in reversed(targets())}
    return tuple(dict.fromkeys((target, *widths.values())))

"""The port as it is compared with its original: run by Triton's interpreter, its kernels compiled as launched."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from porter.backend import Port, PortedFile, Target
from porter.contract.infer.number_lists import places
from porter.contract.model.contract import Contract, Entry, EntryKind
from porter.contract.model.dtype import DType
from porter.evaluate.judge.judge import Candidate
from porter.evaluate.judge.ported import Candidates, Signature
from porter.evaluate.judge.telling_sizes import Named
from porter.evaluate.model.outcome import Fidelity, NotBuilt, NotVerified
from porter.execution.job import Job, Limits, Run
from porter.source.program import Program
from porter.source_text import Source
from porter.translation_unit import TranslationUnit
from porter_triton.callables import functions_of
from porter_triton.calls import Calls
from porter_triton.compile import refused
from porter_triton.naming import function_of
from porter_triton.planned_calls import Function
from porter_triton.port import Lowered, lowered, lowered_once
from porter_triton.processes import PlanningProcess, ReplayProcess, fork_servers_starting
from porter_triton.targets import targets
from porter_triton.whole_numbers import whole_numbers

_NOT_COMPILED = "PORT1810"
_LINES = re.compile(r"\s*# (lines? \d+(?:-\d+)?)$")


@contextmanager
def interpreted(
    ported: Port, original: TranslationUnit, target: Target, cache: Path, limits: Limits
) -> Iterator[InterpretedPort]:
    """Makes `ported` ready to run within `limits`; `cache` keeps compiled kernels, all else is temporary."""
    with (
        tempfile.TemporaryDirectory(prefix="porter-triton-", ignore_cleanup_errors=True) as name,
        ExitStack() as workers,
    ):
        yield InterpretedPort(ported.files, original, devices_of(target), Path(name), cache / "triton", limits, workers)


@contextmanager
def calls_of(module: Path, work: Path, limits: Limits) -> Iterator[Calls]:
    """Makes the calls of `module`, whose plans Triton's interpreter carries out; `work` is an empty folder."""
    folders = [work / name for name in ("planning", "replay", "kernels")]
    for folder in folders:
        folder.mkdir()
    planning = PlanningProcess(module, folders[0], limits)
    replaying = ReplayProcess(folders[2], folders[1], limits)
    try:
        yield Calls(module.name, planning, replaying)
    finally:
        planning.close()
        replaying.close()


@dataclass(frozen=True)
class Module:
    """A module in `folder`, and its calls."""

    path: Path
    folder: Path
    calls: Calls

    @cached_property
    def functions(self) -> Mapping[str, Signature]:
        """The functions at the module's top; none where it is not Python."""
        return functions_of(self.path)

    def named(self, function: str) -> Named:
        """Returns the numbers of the module's text and of what `function` launched so far."""
        launched = self.calls.named(function)
        return replace(launched, numbers=launched.numbers | whole_numbers(self.path.read_text("utf-8")))


@dataclass(frozen=True)
class InterpretedPort:
    """A module that Triton's interpreter runs. Its launches have to compile for `devices`."""

    files: tuple[PortedFile, ...]
    original: TranslationUnit
    devices: tuple[Target, ...]
    folder: Path
    cache: Path
    limits: Limits
    workers: ExitStack

    @property
    def fidelity(self) -> Fidelity:
        """The fidelity: executed, but not by the device it is for."""
        return Fidelity.EMULATED

    @property
    def warp_sizes(self) -> tuple[int, ...]:
        """None: the interpreter executes a program as a whole."""
        return ()

    @property
    def runs_programs(self) -> bool:
        """A `main` reads and prints: there is nothing of it in the module."""
        return False

    @property
    def file(self) -> PortedFile:
        """The module; the other files are what it imports."""
        return self.files[0]

    def named(self, entry: Entry) -> str:
        """Returns the launcher with the entry's name; a module of porter's has one for every kernel."""
        plain = self._plain(entry, self._own)
        numbered = next(iter(self._lowered.functions(entry)), "") if plain is None else plain
        return numbered or (function_of(entry) if self._is_untouched else "")

    def signatures(self, function: str) -> tuple[Signature, ...]:
        """Returns the signatures of the module's function."""
        return (self._own.functions[function],) if function in self._own.functions else ()

    def candidates(self, contracts: Sequence[Contract]) -> tuple[Candidates, ...]:
        """Returns one way to run each entry.

        A kernel that the module launches itself has no launcher there; to be called by itself it gets one.
        """
        with fork_servers_starting():
            return self._all_candidates(contracts)

    def _all_candidates(self, contracts: Sequence[Contract]) -> tuple[Candidates, ...]:
        module, made = self._own, None
        bare = (c for c in contracts if c.entry.kind is EntryKind.KERNEL)
        hidden = tuple(c for c in bare if not self._function(c, module))
        if hidden and self._is_untouched:
            made = lowered(*self._source, hidden)
            module = self._running(made.port.files[0].text)
        return tuple(self._candidates(c, self._function(c, module, made), module) for c in contracts)

    def _function(self, contract: Contract, module: Module, made: Lowered | None = None) -> str:
        """Returns the function of `module`, made by `made`, that answers for an entry; empty where there is none.

        Only lowering knows the names of instances, kernels and overloads. In a hand-written module one function may
        answer for all instances.
        """
        plain = self._plain(contract.entry, module)
        if plain is not None:
            return plain
        numbered = (made or self._lowered).function(contract)
        if numbered in module.functions or self._is_untouched:
            return numbered
        return function_of(contract.entry) if function_of(contract.entry) in module.functions else ""

    def _plain(self, entry: Entry, module: Module) -> str | None:
        """Returns the function that has the entry's name, if any; None where only lowering knows which one is meant."""
        has_instances = entry.template or entry.kind is EntryKind.KERNEL or len(self.original.named(entry)) > 1
        if module.functions and has_instances:
            return None
        return function_of(entry) if function_of(entry) in module.functions else ""

    @cached_property
    def _lowered(self) -> Lowered:
        """Returns what porter makes of the original: a module that a user edited has the same names."""
        return lowered_once(*self._source)

    @cached_property
    def _is_untouched(self) -> bool:
        """Returns whether the module is as porter wrote it: a user's module only has the launchers in its text."""
        return self._lowered.port.files[0].text == self.file.text

    @cached_property
    def _own(self) -> Module:
        return self._running(self.file.text)

    @property
    def _source(self) -> tuple[Program, tuple[Source, ...]]:
        return self.original.program, tuple(header for _, header in self.original.headers)

    def _running(self, text: str) -> Module:
        folder = Path(tempfile.mkdtemp(dir=self.folder))
        path = folder / self.file.name
        for file in self.files:
            (folder / file.name).parent.mkdir(parents=True, exist_ok=True)
            (folder / file.name).write_text(text if file is self.file else file.text, "utf-8")
        work = Path(tempfile.mkdtemp(dir=self.folder))
        return Module(path, folder, self.workers.enter_context(calls_of(path, work, self.limits)))

    def _candidates(self, contract: Contract, function: str, module: Module) -> Candidates:
        entry = contract.entry
        if not function:
            missing = f"{self.file.name} defines no '{function_of(entry)}'"
            return NotVerified(missing) if entry.kind is EntryKind.KERNEL else NotBuilt(missing, missing)
        return (self.candidate(contract, function, module),)

    def candidate(self, contract: Contract, function: str, module: Module) -> Candidate:
        """Returns the `function` of `module` as what answers for `contract`."""
        called = self.called(contract, function)

        def execute(job: Job) -> Run:
            return module.calls.run(called, job)

        def rehearse(job: Job) -> Run:
            return module.calls.rehearse(called, job)

        return Candidate(
            None,
            execute,
            lambda: self._compiled(module, module.calls.signatures(function)),
            rehearse=rehearse,
            conclude=lambda: module.calls.concluded(called),
            named=lambda: module.named(function),
            operations=lambda job: module.calls.operations(called, job),
        )

    def called(self, contract: Contract, function: str) -> Function:
        """Returns how `function` answers for the entry of `contract`."""
        entry = contract.entry
        launch, together = entry.kind is EntryKind.KERNEL, places(contract.arguments)
        return Function(function, launch, self.number(entry), self.original.own.operators, together)

    def number(self, entry: Entry) -> DType | None:
        """Returns the type of the number that the CUDA function returns, if it is one."""
        return self.original.own.numbers.get(entry.name)

    def _compiled(self, module: Module, launched: Iterable[str]) -> tuple[str, ...] | NotBuilt:
        """Returns the devices that it compiles for. What somebody wrote for the target need not be for another, too."""
        work = Path(tempfile.mkdtemp(dir=self.folder))
        found = refused(module.calls.kernels, launched, self.devices, work, self.cache)
        compiled = [device.arch for device in self.devices]
        able = compiled[: compiled.index(found.arch)] if found else compiled
        if found is None or (able and not self._is_untouched):
            return tuple(able)
        place = f"{self.file.name}:{found.line}{self._origin(module, found.line)}: " if found.line else ""
        because = f"{_NOT_COMPILED}: {place}{found.kernel} does not compile for {found.arch}: {found.message}"
        return NotBuilt(because, because)

    def _origin(self, module: Module, line: int) -> str:
        """Returns which lines of the source a line of the module came from, as the comment above it says."""
        for text in reversed(module.path.read_text("utf-8").splitlines()[:line]):
            if found := _LINES.match(text):
                return f" ({found[1]} of {self.original.source.path.name})"
            if text.startswith("def "):
                break
        return ""


def devices_of(target: Target) -> tuple[Target, ...]:
    """Returns the target, and one device of each warp size: what compiles for both widths depends on neither."""
    widths = {t.warp_size: t for t in reversed(targets())}
    return tuple(dict.fromkeys((target, *widths.values())))

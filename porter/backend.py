"""The page a vendor reads: what a backend is. Nothing here is inherited; a class with these members is a backend."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from porter.diagnostics.findings import CatalogueEntry, Finding
from porter.source.program import Program
from porter.source_text import Source

if TYPE_CHECKING:
    from porter.contract.model.contract import Contract, Workload
    from porter.dialect import Dialect
    from porter.evaluate.judge.ported import Ported
    from porter.evaluate.problem.bench import Bench
    from porter.evolve.axis import Axis
    from porter.evolve.candidate import Value
    from porter.evolve.proposing.rewrite import Rewritten
    from porter.evolve.scoring.cost import Cost
    from porter.evolve.space import Knob
    from porter.execution.job import Construction
    from porter.ir.tile.program import Operator
    from porter.native.place import Place
    from porter.rules.original import OwnCode
    from porter.translation_unit import TranslationUnit
    from porter.worker.kinds import WorkerKind


@dataclass(frozen=True, slots=True)
class Chip:
    """A whole device: the numbers that decide how fast a kernel can be.

    A multiprocessor is what runs blocks: NVIDIA's SM, AMD's CU, MetaX's AP. `registers`, `shared_bytes`, `threads` and
    `blocks` are what one of them holds at once. `copy_bytes_per_us` is what a copy within device memory reaches, reads
    and writes together; `cache_bytes` is the cache that all multiprocessors share. `name` says which product these are
    the numbers of, where the target's description names several.
    """

    name: str
    multiprocessors: int
    clock_mhz: int
    copy_bytes_per_us: float
    cache_bytes: int
    registers: int
    shared_bytes: int
    threads: int
    blocks: int


class Follow(StrEnum):
    """Names what a port is written from: the formula that its source computes, or the kernels that compute it there."""

    FORMULA = "formula"
    KERNELS = "kernels"


@dataclass(frozen=True, slots=True)
class Target:
    """Everything a rule may ask of hardware. Sizes are per block unless the name says otherwise.

    Where `programs_wait` a block that has begun runs until it ends, whatever others do, and what it stores before an
    atomic release is seen behind an acquire: so blocks of one launch may wait for each other. Where `compiles_on_call`
    kernels are compiled for the sizes of a call: a block holds a row of any length that occurs in its registers, and
    tiles are as wide as what they are of. Ports `follow` what was
    measured to be faster there, or where nothing was measured the kernels, whose lines a reader of the source knows.
    `chip` is None where no public source gives the numbers of the whole device.
    """

    backend: str
    arch: str
    description: str
    warp_size: int
    shared_bytes: int
    max_threads: int
    registers: int
    bf16_atomics: bool
    textures: bool
    tensor_cores: bool
    async_copy: bool
    programs_wait: bool = False
    compiles_on_call: bool = True
    follow: Follow = Follow.KERNELS
    chip: Chip | None = None


@dataclass(frozen=True, slots=True)
class Availability:
    """Says whether a machine can compile and run for a backend; `because` is the reason wherever one is False."""

    compile: bool
    run: bool
    because: str


@dataclass(frozen=True, slots=True)
class PortedFile:
    """One file of a port: `name` relative to the output folder, `source` the file it came from."""

    name: str
    text: str
    source: Source


@dataclass(frozen=True, slots=True)
class Port:
    """A port of one program. `findings` say what was dangerous and what was done; an ERROR means it is not whole.

    One that `is_empty` holds nothing of the source: its files are not written.
    """

    files: tuple[PortedFile, ...]
    findings: tuple[Finding, ...]
    is_empty: bool = False


class Backend(Protocol):
    """A platform kernels are brought up on; files in its language end in one of `suffixes`, such as `.acme.cpp`."""

    name: str
    suffixes: tuple[str, ...]
    dialect: Dialect | None
    """The spelling of CUDA in which it writes ports; None where something else than porter's executor runs them."""

    def targets(self) -> tuple[Target, ...]:
        """The hardware known, the default first."""
        ...

    def probe(self) -> Availability:
        """Returns what this machine can do. Never raises, imports no SDK."""
        ...

    def workers(self, cache: Path) -> tuple[WorkerKind, ...]:
        """The Python workers that its ports need, which `porter doctor` starts; `cache` is the folder of builds."""
        ...

    def catalogue(self) -> tuple[CatalogueEntry, ...]:
        """The findings this backend can report."""
        ...

    def brief(self, target: Target) -> str:
        """Returns what a programmer of `target` must know, in Markdown: its hardware, idioms, what is refused and
        forbidden.
        """
        ...

    def port(self, program: Program, headers: tuple[Source, ...], target: Target) -> Port:
        """The program, and the local headers it includes, in the target's language."""
        ...

    def written(self, operators: Sequence[tuple[Operator, Contract]], source: Source) -> PortedFile | None:
        """Returns a file with operators that have a schedule, each called as its contract says.

        None where the backend writes none. Raises `NotSchedulableError` where it has no word for what one computes.
        """
        ...

    def lint(self, files: tuple[PortedFile, ...], original: OwnCode) -> tuple[Finding, ...]:
        """The rules that the files of a candidate break, read from their text: whoever wrote it, it is not run.

        `original` is what its original has, by whose functions it is called. Each finding's `source` is the file as it
        was given. Text that is not of the target's language breaks no rule.
        """
        ...

    def knobs(self, files: tuple[PortedFile, ...], target: Target) -> tuple[Knob, ...]:
        """Returns what can be turned in the text of a candidate, whoever wrote it: warps, stages, hints to the cache.

        Each knob's default leaves the text as it is. None where the text is not of the target's language.
        """
        ...

    def tuned(
        self, files: tuple[PortedFile, ...], point: Mapping[str, Value], target: Target
    ) -> tuple[PortedFile, ...] | None:
        """`files` with their knobs as `point` says: the same computation, otherwise scheduled.

        What `point` does not name, or names with its default, stays as it is. None where a value does not go with the
        text: a knob it does not have, more warps than its tile has work for.
        """
        ...

    def rewrites(self, files: tuple[PortedFile, ...]) -> tuple[Rewritten, ...]:
        """Returns what each of the backend's rules makes of a candidate: its result, but for rounding, computed
        otherwise.
        """
        ...

    def axes(self) -> tuple[Axis, ...]:
        """Returns what candidates are told apart by; `porter.evolve.features.AXES` suits any kernel."""
        ...

    def features(self, files: tuple[PortedFile, ...]) -> tuple[int, ...]:
        """Returns where a candidate lies on each of the axes, read from its text alone."""
        ...

    def cost(  # noqa: PLR0917 - a candidate, what is asked of it, and where
        self,
        port: Port,
        original: TranslationUnit,
        contract: Contract,
        workload: Workload,
        target: Target,
        bench: Bench,
        *,
        construction: Construction | None = None,
    ) -> Cost | str:
        """Returns what `port` would cost at `workload`, by a model of the target: it ranks, and is no time.

        In words why there is none where the model does not reach. Deterministic; no device is asked. A class is made
        callable as `construction` says.
        """
        ...

    def ready(
        self, port: Port, original: TranslationUnit, target: Target, bench: Bench, *, is_trusted: bool = True
    ) -> AbstractContextManager[Ported]:
        """The port as it is executed beside its `original`: for C++ this is `porter.evaluate.judge.ported.emulated`.

        One that porter itself has just written is trusted to do no more than it says.
        """
        ...

    def on_device(
        self, port: Port, original: TranslationUnit, target: Target, place: Place
    ) -> AbstractContextManager[Ported]:
        """The port as an NVIDIA device runs it: natively, or as a proxy of the target's own hardware."""
        ...

    def compile(self, port: Port, target: Target, workdir: Path) -> Finding | None:
        """Compile with the vendor's toolchain in `workdir`; None when it builds or when `probe().compile` is False."""
        ...

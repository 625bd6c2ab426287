"""Defines the options of a migration, and its result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from porter.backend import Follow, PortedFile, Target
from porter.branch_coverage import NO_BRANCHES, Branches
from porter.contract.model.contract import Contract
from porter.contract.model.dtype import DType
from porter.diagnostics.findings import Finding
from porter.evaluate.model.outcome import Fidelity, Outcome
from porter.evaluate.model.speed import Speed
from porter.execution.known_runs import KnownRuns
from porter.measure.deadline import Deadline
from porter.measure.stages import Stages
from porter.source.program import Program
from porter.source_text import Source


@dataclass(frozen=True, slots=True)
class MigrateOptions:
    """The user's options. `sizes` answers open questions of the contract; `contract` replaces the drafted one.

    `time_limit_s` bounds the processor time of one run; `cache` holds builds, keyed by content. A candidate that anyone
    may have written is called by `entry`, where that is not empty, and judged on workloads drawn from `seed`. With
    `timed` a port is timed beside the CUDA original, and a Python `reference` where there is one. `stages` counts where
    the time goes. An entry not proven by the `deadline` is not verified. With `edges` a stated contract may be tried at
    sizes of one or none as well. `dtypes` are the element types that a candidate is for, of those that its original
    dispatches over; all where it is empty. Ports `follow` the formula or the kernels of their source; what the target
    says where it is None. What the original did is kept among the `known` runs, for whatever is judged by it next.
    """

    target: str
    cache: Path
    arch: str = ""
    kernels: tuple[str, ...] = ()
    contract: Path | None = None
    sizes: Mapping[str, int] = field(default_factory=dict)
    include_dirs: tuple[Path, ...] = ()
    defines: tuple[str, ...] = ()
    time_limit_s: float = 20.0
    entry: str = ""
    seed: int | None = None
    fidelity: Fidelity = Fidelity.EMULATED
    timed: bool = False
    reference: Path | None = None
    timed_sizes: Mapping[str, int] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    stages: Stages = field(default_factory=Stages)
    edges: bool = False
    deadline: Deadline = field(default_factory=Deadline)
    dtypes: frozenset[DType] = frozenset()
    follow: Follow | None = None
    known: KnownRuns = field(default_factory=KnownRuns, compare=False)

    @property
    def draws_edges(self) -> bool:
        """Returns whether a judgement draws sizes of one or none: who states a contract knows which sizes there are."""
        return self.edges or self.contract is None


@dataclass(frozen=True, slots=True)
class EntryOutcome:
    """The outcome of one entry of a source: a host launcher, a bare kernel or the whole program.

    `kernels` are the names of the kernels it leads to, `launched` those of them that a workload launched. An outcome of
    one choice alone names that: `kernel_num = 4`. `speeds` are its times on a device, where there is one, `branches`
    those that its workloads took. For a launcher that was not ported `kernels_stand` says whether all its kernels were
    compared by themselves and found equal.
    """

    contract: Contract
    outcome: Outcome
    kernels: tuple[str, ...] = ()
    launched: tuple[str, ...] = ()
    choice: str = ""
    speeds: tuple[Speed, ...] = ()
    branches: Branches = NO_BRANCHES
    kernels_stand: bool = False

    @property
    def name(self) -> str:
        """Returns what was called, and at which choice where others have an outcome of their own."""
        name = self.contract.entry.name
        return f"{name} at {self.choice}" if self.choice else name


@dataclass(frozen=True, slots=True)
class Followed:
    """The source of a port, and `because`, why it was not the other one; empty where it was asked for."""

    what: Follow
    because: str = ""


@dataclass(frozen=True)
class Migration:
    """One source brought to one target.

    `outcome` is the worst of `entries`, or the reason why there are none. Where a launcher was not ported its kernels
    count instead, if all of them were proven by themselves. `stages` are the seconds that each stage took, where that
    was counted. The port is `written_by` the language model of that name; by porter where it is empty, and then it has
    `followed` the formula or the kernels of the source. A migration `of_module` was made from a PyTorch module and
    compared with it; its `program` is empty.
    """

    source: Source
    program: Program
    target: Target
    outcome: Outcome
    entries: tuple[EntryOutcome, ...]
    files: tuple[PortedFile, ...]
    findings: tuple[Finding, ...]
    warp_sizes: tuple[int, ...]
    seconds: float
    fidelity: Fidelity = Fidelity.EMULATED
    stages: Mapping[str, float] = field(default_factory=dict)
    written_by: str = ""
    of_module: bool = False
    followed: Followed | None = None

    @property
    def contracts(self) -> tuple[Contract, ...]:
        """The contracts by which the port was compared."""
        return tuple(entry.contract for entry in self.entries)


class Progress(Protocol):
    """Receives short phrases about what is going on: "building softmax at 64 lanes"."""

    def __call__(self, step: str) -> None:
        """Begins a step."""
        ...

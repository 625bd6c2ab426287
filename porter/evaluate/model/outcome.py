"""The outcome of a port: a closed union, in which only a correct run carries more than a reason."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

from porter.branch_coverage import NOT_MEASURED, BranchCoverage
from porter.diagnostics.findings import Finding
from porter.execution.job import Fault


class Fidelity(StrEnum):
    """The way in which a result was obtained; results of different fidelity are never compared."""

    NATIVE = "native"
    PROXY = "proxy"
    EMULATED = "emulated"
    COMPILED = "compiled"


@dataclass(frozen=True, slots=True)
class Checked:
    """One workload compared: the largest error over all outputs, and the first place that broke the tolerance.

    `warp_size` is None where what executed the port knows no warps. It `is_extreme` where only elements are outside for
    which the original has no number, or nearly none.
    """

    name: str
    warp_size: int | None
    max_abs_error: float
    max_rel_error: float
    passed: bool
    worst: str = ""
    is_extreme: bool = False


@dataclass(frozen=True, slots=True)
class Verified:
    """Executed and equal to the original within tolerance on every workload, at every warp size.

    `caveat` says what was not compared; empty when all was. `compiled_for` are the devices for which what was executed
    was compiled, too. `coverage` is the port's, over all workloads. `unreached` are the parts of the caveat about what
    is asked for only at sizes for a device.
    """

    checked: tuple[Checked, ...]
    caveat: str = ""
    compiled_for: tuple[str, ...] = ()
    coverage: BranchCoverage = NOT_MEASURED
    unreached: tuple[str, ...] = ()
    label = "verified"

    def joined(self, other: Verified) -> Verified:
        """Returns the verdict over the workloads of both."""
        caveat = _listed((*self.caveat.split("; "), *other.caveat.split("; ")))
        checked, coverage = (*self.checked, *other.checked), self.coverage | other.coverage
        unreached = tuple(dict.fromkeys((*self.unreached, *other.unreached)))
        return replace(self, checked=checked, caveat=caveat, coverage=coverage, unreached=unreached)

    def reaching(self, unreached: tuple[str, ...]) -> Verified:
        """Returns the verdict where only `unreached` is asked for at sizes for a device alone."""
        others = (part for part in self.caveat.split("; ") if part not in self.unreached)
        return replace(self, caveat=_listed((*others, *unreached)), unreached=unreached)


def _listed(parts: Iterable[str]) -> str:
    """Returns the parts of a caveat, each once."""
    return "; ".join(dict.fromkeys(filter(None, parts)))


@dataclass(frozen=True, slots=True)
class KernelsVerified:
    """Kernels executed and equal by themselves, where the host code that launches them could not be compared.

    Nothing is said about that code: about the sizes, blocks and types that it launches them with, or what else it does.
    The fields are those of `Verified`.
    """

    checked: tuple[Checked, ...]
    caveat: str = ""
    compiled_for: tuple[str, ...] = ()
    label = "kernels_verified"


@dataclass(frozen=True, slots=True)
class NotVerified:
    """Ported, but there is nothing firm to compare with: `because` names what is missing or unsound.

    Smaller sizes may give an answer where original or port is `too_slow` for those that were tried.
    """

    because: str
    too_slow: bool = False
    label = "not_verified"


@dataclass(frozen=True, slots=True)
class Refused:
    """Not ported: the source holds something the target has no answer to. Or it broke rules: it is not its own work.

    `broken` are those that it was seen to break.
    """

    because: str
    broken: tuple[Finding, ...] = ()
    label = "refused"


@dataclass(frozen=True, slots=True)
class NotBuilt:
    """The port does not compile; `log` starts with the first error and its place."""

    because: str
    log: str
    label = "not_built"


@dataclass(frozen=True, slots=True)
class Crashed:
    """The port died, hung or broke a rule of the machine while running; `faults` say how, and where."""

    because: str
    checked: tuple[Checked, ...]
    faults: tuple[Fault, ...] = ()
    label = "crashed"


@dataclass(frozen=True, slots=True)
class Wrong:
    """The port ran and its answer differs."""

    because: str
    checked: tuple[Checked, ...]
    label = "wrong"


# What was executed and found equal, in whole or in parts.
Equal = Verified | KernelsVerified
Outcome = Equal | NotVerified | Refused | NotBuilt | Crashed | Wrong


def outcome_words(label: str) -> str:
    """Returns a label as people read it: `not_built` as `not built`."""
    return label.replace("_", " ")

"""Reports what was observed of the original, as findings at its lines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from porter.contract.model.contract import Workload
from porter.diagnostics.catalogue import core_catalogue
from porter.diagnostics.findings import Finding
from porter.execution.job import Fault, FaultKind
from porter.source_text import Source, Span

_CODES: Mapping[FaultKind, str] = {
    FaultKind.LANE_OUTSIDE_MASK: "PORT4001",
    FaultKind.LANE_ABSENT: "PORT4002",
    FaultKind.DEADLOCK: "PORT4003",
    FaultKind.OUT_OF_BOUNDS: "PORT4004",
    FaultKind.RACE: "PORT4005",
    FaultKind.UNINITIALISED: "PORT4006",
    FaultKind.LAUNCH: "PORT4007",
    FaultKind.HOST_CHECK: "PORT4008",
    FaultKind.DEVICE_ASSERT: "PORT4009",
    FaultKind.MISALIGNED: "PORT4010",
    FaultKind.CRASH: "PORT4011",
    FaultKind.TIMEOUT: "PORT4012",
    FaultKind.RESOURCE: "PORT4013",
    FaultKind.UNDEFINED: "PORT4014",
    FaultKind.UNKNOWN: "PORT4015",
    FaultKind.UNPUBLISHED: "PORT4016",
    FaultKind.UNACQUIRED: "PORT4017",
    FaultKind.UNFIT: "PORT4018",
    FaultKind.SHIFTED: "PORT4019",
    FaultKind.LIBRARY: "PORT6001",
    FaultKind.DECOY: "PORT6002",
    FaultKind.RESULT: "PORT6003",
    FaultKind.KEPT: "PORT6004",
    FaultKind.REPLACED: "PORT6005",
    FaultKind.REACHED: "PORT6006",
    FaultKind.HOST_WORK: "PORT6007",
    FaultKind.FORGED: "PORT6008",
}
# What makes the original wrong wherever it runs.
_DAMNING = frozenset(
    (FaultKind.DEADLOCK, FaultKind.OUT_OF_BOUNDS, FaultKind.RACE, FaultKind.UNINITIALISED, FaultKind.LAUNCH,
     FaultKind.DEVICE_ASSERT, FaultKind.MISALIGNED)
)  # fmt: skip
# What sizes that nobody stated may be the reason for: a launch, an assertion or a vector load that wants others.
OF_SIZES = (FaultKind.LAUNCH, FaultKind.DEVICE_ASSERT, FaultKind.MISALIGNED)
DIVIDED = "an integer division by zero"  # as the executor says it; a device has no signal for it
OF_NUMBERS = (FaultKind.UNFIT, FaultKind.SHIFTED)  # what inputs other than the usual ones may be the reason for
_OF_ARRAY = "of an array of type"  # as the executor says it; the source states how large such an array is
RACED = _CODES[FaultKind.RACE]
LEFT_BOUNDS = _CODES[FaultKind.OUT_OF_BOUNDS]
_SCHEDULE_DEPENDENT = "PORT4020"
UNWRITTEN = "PORT4021"
_ROUNDING = "PORT4022"


@dataclass(frozen=True, slots=True)
class Observed:
    """One observation. `unsound`: the outputs cannot be believed; three more flags say what a finding is about.

    `drafted` says that porter chose the sizes at which it was made.
    """

    kind: FaultKind
    text: str
    line: int
    unsound: bool
    schedule_dependent: bool = False
    unwritten: bool = False
    rounding: bool = False
    in_kernel: bool = False
    drafted: bool = False

    @property
    def shows_fault(self) -> bool:
        """Returns whether the original is wrong, rather than merely not brought to run here."""
        if self.drafted and is_of_sizes(self.text):
            return False
        return self.unsound and (self.kind in _DAMNING or (self.kind is FaultKind.CRASH and self.in_kernel))

    @property
    def code(self) -> str:
        """The finding's code."""
        if self.schedule_dependent:
            return _SCHEDULE_DEPENDENT
        if self.unwritten:
            return UNWRITTEN
        return _ROUNDING if self.rounding else _CODES[self.kind]


def is_of_sizes(text: str) -> bool:
    """Returns whether sizes that nobody stated may be the reason for what `text` says was observed."""
    divided = text.startswith(FaultKind.CRASH) and DIVIDED in text
    return text.startswith(OF_SIZES) or divided or (text.startswith(FaultKind.OUT_OF_BOUNDS) and _OF_ARRAY in text)


def outgrows_array(fault: Fault) -> bool:
    """Returns whether an index is beyond an array of the original's own, as large as the source says."""
    return fault.kind is FaultKind.OUT_OF_BOUNDS and _OF_ARRAY in fault.message


def code_of(kind: FaultKind) -> str:
    """The code under which faults of this kind are reported."""
    return _CODES[kind]


def named(workload: Workload) -> str:
    """The workload with its sizes: `workload 'tiny' (n = 5, m = 3)`."""
    sizes = ", ".join(f"{name} = {size}" for name, size in workload.sizes.items())
    return f"workload '{workload.name}'" + (f" ({sizes})" if sizes else "")


def observation(fault: Fault, workload: Workload, *, unsound: bool, drafted: bool = False) -> Observed:
    """A fault of the executor in one workload, whose sizes are `drafted` where porter chose them."""
    place = (f" in {fault.kernel}" if fault.kernel else "") + (f" at line {fault.line}" if fault.line else "")
    times = f" ({fault.count} times)" if fault.count > 1 else ""
    text = f"{fault.kind.value}{place}: {fault.message}{times}, {named(workload)}"
    return Observed(fault.kind, text, fault.line, unsound, in_kernel=bool(fault.kernel), drafted=drafted)


def findings_of(observed: Iterable[Observed], source: Source) -> tuple[Finding, ...]:
    """One finding for each code and line, the first observation speaking for the rest."""
    catalogue = core_catalogue()
    first: dict[tuple[str, int], Observed] = {}
    for seen in observed:
        first.setdefault((seen.code, seen.line), seen)
    return tuple(
        catalogue[o.code].at(span_of_line(source, o.line), o.text) for o in first.values() if o.code in catalogue
    )


def span_of_line(source: Source, line: int) -> Span | None:
    """The code on `line` of the source; None where no line is known."""
    text = source.line(line)
    if line <= 0 or not text:
        return None
    start = source.line_starts[line - source.first_line] + len(text) - len(text.lstrip())
    return source.span(start, start + len(text.strip()))

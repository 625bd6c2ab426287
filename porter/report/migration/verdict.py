"""Says the verdict in one sentence, and how it was obtained in another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from porter.backend import Follow
from porter.evaluate.model.migration import Followed, Migration
from porter.evaluate.model.outcome import (
    Checked,
    Crashed,
    Equal,
    Fidelity,
    KernelsVerified,
    NotBuilt,
    NotVerified,
    Outcome,
    Refused,
    Verified,
    Wrong,
    outcome_words,
)
from porter.evaluate.model.speed import Measured
from porter.evaluate.model.verdict import Verdict

_TIMED = {True: "timed on a device", False: "no speed was measured"}

OUTCOME_STYLES = {
    "verified": "bold green",
    "kernels_verified": "bold yellow",
    "not_verified": "bold yellow",
    "refused": "bold yellow",
    "not_built": "bold red",
    "crashed": "bold red",
    "wrong": "bold red",
}


def checks(outcome: Outcome) -> tuple[Checked, ...]:
    """Returns the comparisons behind an outcome; none where no run finished."""
    match outcome:
        case Verified() | KernelsVerified() | Crashed() | Wrong():
            return outcome.checked
        case NotVerified() | Refused() | NotBuilt():
            return ()
    assert_never(outcome)


def reason(outcome: Outcome) -> str:
    """Returns why the outcome is what it is."""
    match outcome:
        case Verified():
            return _of_equal("ran and gave the original's results within tolerance on every workload", outcome)
        case KernelsVerified():
            return _of_equal("only the kernels ran, and they gave the original's results within tolerance", outcome)
        case NotVerified() | Refused() | NotBuilt() | Crashed() | Wrong():
            return outcome.because
    assert_never(outcome)


def _of_equal(equal: str, outcome: Equal) -> str:
    compiled = f"compiled for {', '.join(outcome.compiled_for)}" if outcome.compiled_for else ""
    return "; ".join(filter(None, (equal, compiled, outcome.caveat)))


def describe(outcome: Outcome) -> str:
    """Returns the outcome as words: `not built`."""
    return outcome_words(outcome.label)


def how_obtained(migration: Migration | Verdict) -> str:
    """Returns what the numbers mean: fidelity, lanes and device."""
    if not any(checks(entry.outcome) for entry in migration.entries):
        return "nothing was compared"
    lanes = counted_lanes(migration.warp_sizes)
    match migration.fidelity:
        case Fidelity.EMULATED:
            timed = any(isinstance(s, Measured) for e in migration.entries for s in e.speeds)
            return f"emulated, {lanes} on the CPU; {_TIMED[timed]}"
        case Fidelity.COMPILED:
            return "compiled for the target, not executed"
        case Fidelity.PROXY:
            return f"the port on another vendor's device, {lanes}"
        case Fidelity.NATIVE:
            return f"on the target's own device, {lanes}"
    assert_never(migration.fidelity)


def counted_lanes(warp_sizes: Sequence[int]) -> str:
    """Returns `64 and 32 lanes`; without a number names the interpreter that executed the port."""
    if not warp_sizes:
        return "by the interpreter of its language"
    return f"{' and '.join(str(size) for size in sorted(warp_sizes, reverse=True))} lanes"


def lanes_of(check: Checked) -> str:
    """Returns the warp size of a comparison, where there is one."""
    return "-" if check.warp_size is None else str(check.warp_size)


def verdict(migration: Migration) -> str:
    """Returns the sentence that ends every report."""
    target = f"{migration.target.backend} {migration.target.arch}"
    return (
        f"{describe(migration.outcome)}: {migration.source.path.name} for {target}: "
        f"{reason(migration.outcome)}{_written_from(migration.followed)} ({how_obtained(migration)})"
    )


def _written_from(followed: Followed | None) -> str:
    """Returns what the port was written from, where there was a choice."""
    if followed is None or not followed.because:
        return ""
    match followed.what:
        case Follow.FORMULA:
            return f"; it is written from the formula of the source, and {followed.because}"
        case Follow.KERNELS:
            return f"; it follows the kernels of the source, since {followed.because}"
    assert_never(followed.what)

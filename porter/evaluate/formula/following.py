"""Decides which of two ports of a source is delivered: the one from its formula, or the one following its kernels."""

from __future__ import annotations

from porter.contract.model.contract import EntryKind
from porter.evaluate.model.migration import EntryOutcome, Migration
from porter.evaluate.model.outcome import Equal, NotVerified, Verified, outcome_words

# The share of a limit that a formula's port may take beside a verified one. Of 42 public files seven went on to the
# limit of 60 s with such an attempt, in vain; with 15 s, 7 of 46 operators of kernelbench, 20 at once on 16 cores,
# lost a port from their formula that is up to twice as fast.
_BESIDE_VERIFIED = 0.5


def without_formula(followed: Migration) -> str:
    """Returns why no port can be written from a formula; empty where that is worth a try.

    `followed` is the port that follows the kernels, already judged.
    """
    if not followed.entries:
        return "the source has no launcher whose formula could be found"
    for entry in followed.entries:
        kind = entry.contract.entry.kind
        if kind is EntryKind.KERNEL:
            return f"{entry.name} is a kernel by itself, whose caller chooses the grid"
        if kind is EntryKind.PROGRAM:
            return f"{entry.name} is a whole program, which cannot be called like a formula"
        if isinstance(entry.outcome, NotVerified):
            return f"{entry.name} has no answers that such a port could be compared with"
        if entry.choice:
            return f"{entry.name} has an outcome of its own for a single choice, which a formula cannot have"
        if others := _other_types(entry):
            return f"{entry.name} takes {', '.join(others)}, too, for which its formula is not written"
    return ""


def seconds_beside(followed: Migration, left_s: float, limit_s: float) -> float:
    """Returns how much of `left_s` the port from a formula may take beside the one that `followed` the kernels.

    Where that is verified, waiting changes no verdict: then it is half of the limit, or as long as that took.
    """
    if not isinstance(followed.outcome, Verified):
        return left_s
    return min(left_s, max(_BESIDE_VERIFIED * limit_s, followed.seconds))


def _other_types(entry: EntryOutcome) -> list[str]:
    """Returns the types of whole numbers that the port was found equal in besides those of its contract."""
    if not isinstance(entry.outcome, Equal):
        return []
    compared = {check.name for check in entry.outcome.checked}
    found = {dtype for w in entry.contract.workloads if w.name in compared for dtype in w.dtypes.values()}
    own = {tensor.dtype for tensor in entry.contract.tensors}
    return sorted(str(dtype) for dtype in found - own if not dtype.is_float)


def lesser(anew: Migration, followed: Migration) -> str:
    """Returns in what the port `anew`, from a formula, falls short of the one that `followed` the kernels."""
    if not isinstance(anew.outcome, Verified):
        because = getattr(anew.outcome, "because", "")
        return f"the port from its formula is {outcome_words(anew.outcome.label)}: {because}"
    if not isinstance(followed.outcome, Equal):
        return ""
    if missing := sorted(_compared(followed) - _compared(anew)):
        (entry, workload), others = missing[0], len(missing) - 1
        more = f" and {others} more" if others else ""
        return f"the port from its formula was not compared where the other one is equal: {entry} at '{workload}'{more}"
    return ""


def _compared(migration: Migration) -> frozenset[tuple[str, str]]:
    """Returns the workloads at which a port was found equal, each with the name of its entry."""
    return frozenset(
        (entry.name, check.name)
        for entry in migration.entries
        if isinstance(entry.outcome, Equal)
        for check in entry.outcome.checked
    )


def instead_of(followed: Migration) -> str:
    """Returns what is said of the port that `followed` the kernels where the one from the formula is delivered."""
    if isinstance(followed.outcome, Verified):
        return "the port that follows its kernels is verified, too"
    because = getattr(followed.outcome, "because", "")
    words = f"the port that follows its kernels is {outcome_words(followed.outcome.label)}"
    return f"{words}: {because}" if because else words

"""Decides which of two ports of a source is delivered: the one from its formula, or the one following its kernels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from porter.contract.model.contract import Contract, EntryKind
from porter.evaluate.model.migration import EntryOutcome, Migration
from porter.evaluate.model.outcome import Equal, KernelsVerified, Verified, outcome_words

NOT_LIFTED = "it was not lifted: "
NOT_NEEDED = "a port that follows its kernels was not needed"

# Names of entries, each with the name of a workload.
Compared = frozenset[tuple[str, str]]


def without_formula(contracts: Sequence[Contract]) -> str:
    """Returns why no port of entries with these contracts can be written from a formula; empty where one may be."""
    if not contracts:
        return "the source has no launcher whose formula could be found"
    for contract in contracts:
        if contract.entry.kind is EntryKind.KERNEL:
            return f"{contract.name} is a kernel by itself, whose caller chooses the grid"
        if contract.entry.kind is EntryKind.PROGRAM:
            return f"{contract.name} is a whole program, which cannot be called like a formula"
    return ""


def lesser(anew: Migration, followed: Migration) -> str:
    """Returns in what the port `anew`, from a formula, falls short of the one that `followed` the kernels."""
    at = compared(followed.entries) if isinstance(followed.outcome, Verified) else frozenset[tuple[str, str]]()
    return short_of(anew, at)


def short_of(anew: Migration, at: Compared) -> str:
    """Returns why the port `anew`, from a formula, is not verified `at` all these workloads; empty where it is."""
    if not isinstance(anew.outcome, Verified):
        because = getattr(anew.outcome, "because", "")
        return f"the port from its formula is {outcome_words(anew.outcome.label)}: {because}"
    if missing := sorted(at - compared(anew.entries)):
        (entry, workload), others = missing[0], len(missing) - 1
        more = f" and {others} more" if others else ""
        return f"the port from its formula was not compared where another one is equal: {entry} at '{workload}'{more}"
    return ""


def compared(entries: Iterable[EntryOutcome]) -> Compared:
    """Returns the workloads at which entries were found equal."""
    return frozenset(
        (entry.name, check.name)
        for entry in entries
        if isinstance(entry.outcome, Equal)
        for check in entry.outcome.checked
    )


def instead_of(followed: Migration) -> str:
    """Returns what is said of the port that `followed` the kernels where the one from the formula is delivered."""
    if isinstance(followed.outcome, Verified):
        return "the port that follows its kernels is verified, too"
    if isinstance(followed.outcome, KernelsVerified):
        return "of the port that follows its kernels only these are verified, not what launches them"
    because = getattr(followed.outcome, "because", "")
    words = f"the port that follows its kernels is {outcome_words(followed.outcome.label)}"
    return f"{words}: {because}" if because else words

"""Names in the verdict what no workload executed; where that is too much, there is no verdict.

It counts the sides of branches (`porter/branch_coverage.py`) of the original and of its port, except sides that end in
an error, those that the compiler finds unreachable, and those behind a side that is counted itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from porter.branch_coverage import ABOVE_ZERO, BranchCoverage, Branches, Side, united
from porter.evaluate.judge.prove import Proof, with_caveat
from porter.evaluate.model.migration import EntryOutcome
from porter.evaluate.model.outcome import Equal, NotVerified

# Of about twenty operators of the suites, for Triton, the lowest had 0.5 before workloads were added for what they left
# out, and 0.625 where every instance of a template is not counted by itself.
LEAST_SHARE = 0.5
_MOST_NAMED = 4
_NOT_RUN = "not executed by any workload: {}"
_TOO_LITTLE = "its workloads cover {:.0%} of the branch outcomes of the {}, and {:.0%} are required; {}"


def with_unexecuted(proofs: Sequence[Proof]) -> list[Proof]:
    """Returns the proofs of one source, each with what its workloads left out of original and port."""
    return [_told(_with_others(proof, [other.entry for other in proofs if other is not proof])) for proof in proofs]


def missing(entry: EntryOutcome) -> tuple[Side, ...]:
    """Returns the sides that no workload took: the original's first, then those of its port that look different."""
    original, port = entry.branches.original.missing, entry.branches.port.missing
    known = {(side.text, side.way) for side in original}
    return (*original, *(side for side in port if (side.text, side.way) not in known))


def _with_others(proof: Proof, others: Sequence[EntryOutcome]) -> Proof:
    """Returns the proof without the missing sides that `others` of the source execute in its place.

    These are instances of kernels, and all that a contract of the same function, say for another type, leads to.
    """
    entry = proof.entry
    alike = [other.branches for other in others if other.contract.entry.name == entry.contract.entry.name]
    apart = [other.branches for other in others if other.contract.entry.name != entry.contract.entry.name]
    own = Branches(
        _added(entry.branches.original, [b.original for b in alike], [b.original for b in apart]),
        _added(entry.branches.port, [b.port for b in alike], [b.port for b in apart]),
    )
    return replace(proof, entry=replace(entry, branches=own))


def _added(own: BranchCoverage, alike: Sequence[BranchCoverage], apart: Sequence[BranchCoverage]) -> BranchCoverage:
    instances = united(apart)
    launched = frozenset(side for side in instances.taken if side.is_instance)
    return united([own, *alike, BranchCoverage(own.present & launched, own.present & launched)])


def _told(proof: Proof) -> Proof:
    entry = proof.entry
    if not isinstance(entry.outcome, Equal) or not (left := missing(entry)):
        return proof
    said = _said(left)
    for whose, coverage in (("original", entry.branches.original), ("port", entry.branches.port)):
        if coverage.share < LEAST_SHARE:
            because = _TOO_LITTLE.format(coverage.share, whose, LEAST_SHARE, said)
            return replace(proof, entry=replace(entry, outcome=NotVerified(because)))
    return with_caveat(proof, said)


def _said(sides: Sequence[Side]) -> str:
    """Returns what is said of sides that no workload took: loops, and reads of an index, are listed by their lines."""
    others = [side for side in sides if not (side.is_repetition or side.is_of_blocks)]
    named = _NOT_RUN.format(_named(others)) if others else ""
    once = _once([side for side in sides if side.is_repetition])
    return "; ".join(filter(None, (*_alone([side for side in sides if side.is_of_blocks]), once, named)))


def _alone(reads: Sequence[Side]) -> Iterator[str]:
    """Yields for each axis of `blockIdx` where only the first block ever read it."""
    for axis in dict.fromkeys(side.text for side in reads):
        lines, _ = _lines([side for side in reads if side.text == axis])
        yield f"`{axis}` is never {ABOVE_ZERO} at {lines}"


def _once(loops: Sequence[Side]) -> str:
    """Returns which loops never ran twice."""
    lines, count = _lines(loops)
    return f"the loop{'s' if count > 1 else ''} at {lines} never ran twice" if lines else ""


def _lines(sides: Sequence[Side]) -> tuple[str, int]:
    """Returns the lines of the first of `sides`, and how many lines there are."""
    lines = dict.fromkeys(f"{side.file}:{side.line}" for side in sides)
    further = f" and {len(lines) - _MOST_NAMED} more" if len(lines) > _MOST_NAMED else ""
    return ", ".join(list(lines)[:_MOST_NAMED]) + further, len(lines)


def _named(sides: Sequence[Side]) -> str:
    further = f", and {len(sides) - _MOST_NAMED} more" if len(sides) > _MOST_NAMED else ""
    return ", ".join(side.described for side in sides[:_MOST_NAMED]) + further

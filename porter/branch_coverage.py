"""Branch coverage: which sides of its branches a run took, so that nothing is claimed of code that no run came to.

A `Side` is one way on from a place of the source: either outcome of a condition, the body of a loop, a second turn of
it, a case of a switch, what a `min` or `max` picks, an instance of a template, a block behind the first one. The sides
of one place are its siblings.
What lies behind a side that no run took was not executed, whatever the answers were.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

LAUNCHED = "launched"
CALLED = "called"
RUN_TWICE = "run twice"
ABOVE_ZERO = "above 0"
_OUTCOMES = ("true", "false")
_OF_BRANCHES = frozenset((*_OUTCOMES, "taken", "entered"))


@dataclass(frozen=True, slots=True, order=True)
class Side:
    """`text` is the condition, label or instance at `line` of `file`; `way` is what it never is if no run takes it.

    `column` tells places on one line apart. A side that `fails` ends in an error: no workload is meant to take it. One
    without a `way` says no more than that a run came to the place. An operand of `&&` or `||` is `part_of` a condition,
    which it names by its text.
    """

    file: str
    line: int
    column: int
    way: str
    text: str
    fails: bool = False
    part_of: str = ""

    @property
    def place(self) -> tuple[str, int, int]:
        """Returns what siblings have in common."""
        return self.file, self.line, self.column

    @property
    def is_instance(self) -> bool:
        """Returns whether it is an instance of a kernel, which is launched or not, or of a function, which is called
        or not.
        """
        return self.way in (LAUNCHED, CALLED)

    @property
    def is_repetition(self) -> bool:
        """Returns whether it is a second turn of a loop: all that is carried from one turn to the next."""
        return self.way == RUN_TWICE

    @property
    def is_of_blocks(self) -> bool:
        """Returns whether it is that a block behind the first one asks which it is."""
        return self.way == ABOVE_ZERO

    @property
    def is_branch(self) -> bool:
        """Returns whether other code runs on it than on its siblings."""
        return self.way in _OF_BRANCHES and not self.part_of

    @property
    def described(self) -> str:
        """Returns where it is and what never happened: `op.cu:7: n > 4096 is never true`."""
        if self.is_repetition:
            return f"{self.file}:{self.line}: the loop never ran twice"
        return f"{self.file}:{self.line}: `{self.text}` is never {self.way}"


@dataclass(frozen=True, slots=True)
class BranchCoverage:
    """The sides that are `present` in what was built or loaded, and those of them that runs have `taken`."""

    present: frozenset[Side] = frozenset()
    taken: frozenset[Side] = frozenset()

    def __or__(self, other: BranchCoverage) -> BranchCoverage:
        """The coverage of two sets of runs together."""
        return BranchCoverage(self.present | other.present, self.taken | other.taken)

    @property
    def missing(self) -> tuple[Side, ...]:
        """The sides that no run took, of the places that runs came to, in the order of the source.

        A place that no run came to lies behind a side that is missing itself. Sides that fail are not counted, nor are
        operands of a condition one of whose outcomes is missing, or an error.
        """
        reached = {side.place for side in self.taken}
        outcomes = {(side.file, side.text, side.way) for side in self.taken}
        return tuple(
            sorted(
                side
                for side in self.present - self.taken
                if side.place in reached
                and side.way
                and not side.fails
                and (not side.part_of or all((side.file, side.part_of, way) in outcomes for way in _OUTCOMES))
            )
        )

    @property
    def share(self) -> float:
        """The part of the sides of all places that runs came to that was taken; 1 where there are none.

        Only branches count: a dispatch over ten types has as many instances as there is code in one, and a second turn
        or a limit runs the code of the first.
        """
        taken = sum(side.is_branch for side in self.taken)
        missing = sum(side.is_branch for side in self.missing)
        return taken / (taken + missing) if taken + missing else 1.0


NOT_MEASURED = BranchCoverage()


@dataclass(frozen=True, slots=True)
class Branches:
    """The coverage of an original and of its port, by the same workloads."""

    original: BranchCoverage = NOT_MEASURED
    port: BranchCoverage = NOT_MEASURED


NO_BRANCHES = Branches()


def united(parts: Iterable[BranchCoverage]) -> BranchCoverage:
    """The coverage of all `parts` together."""
    whole = NOT_MEASURED
    for part in parts:
        whole |= part
    return whole

"""What threads do in a function and in those it calls: wait for each other, exchange values, ask for their number."""

from __future__ import annotations

from dataclasses import dataclass

from porter.syntax.nodes import Call, Name
from porter.syntax.unit import FunctionTree, Unit
from porter.syntax.walk import walk
from porter_triton.lift.trees import called

_OF_THREADS = frozenset({"threadIdx", "blockDim"})


@dataclass(frozen=True, slots=True)
class Reach:
    """`waits`: for all threads of the block. `exchanges`: lanes have values of each other. `numbered`: by threads."""

    waits: bool
    exchanges: bool
    numbered: bool

    @property
    def among_lanes(self) -> bool:
        """Returns whether lanes exchange values, and each warp does the same in any block."""
        return self.exchanges and not self.waits and not self.numbered


def reach(unit: Unit, function: FunctionTree, told: dict[object, object]) -> Reach:
    """Returns what threads do in the function; `told` keeps it."""
    key = ("reach", id(function.body))
    if key not in told:
        told[key] = function.body, _found(unit, function)
    return told[key][1]  # type: ignore[index,no-any-return]


def _found(unit: Unit, function: FunctionTree) -> Reach:
    names, calls = set[str](), set[str]()
    waiting = [function]
    while waiting:
        nodes = list(walk(waiting.pop().body))
        new = {called(n) for n in nodes if isinstance(n, Call)} - calls
        names |= {n.name for n in nodes if isinstance(n, Name)}
        calls |= new
        waiting += [callee for name in new - {""} for callee in unit.named(name)]
    exchanges = any(name.startswith("__shfl") for name in calls)
    return Reach("__syncthreads" in calls, exchanges, bool(names & _OF_THREADS))

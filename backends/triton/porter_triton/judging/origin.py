"""What is known of an allocation: who made what is in it, and of what."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from porter.simt.job import FaultKind

Step = tuple[int, str]  # a line of the module, and the operator that it called
NO_STEPS = frozenset[Step]()


@dataclass(frozen=True, slots=True)
class Origin:
    """What is in an allocation. `operators` computed it, of `integers` only if that is set; `launch` is the last job
    of which a launch wrote it, 0 for none; `given` says that it is an argument's as it came, `data` that it depends on
    one; `host` that the host may have computed it; `free` that an operator made it which the original uses, too; `raw`
    that one such computed it of what no launch had written; `compared` that it says how floats compare; `floats` that
    floats are in it, whatever type it is looked at with.
    """

    operators: frozenset[Step] = NO_STEPS
    integers: frozenset[Step] = NO_STEPS
    launch: int = 0
    given: bool = False
    data: bool = False
    host: bool = False
    free: bool = False
    raw: bool = False
    compared: bool = False
    floats: bool = False

    def with_others(self, others: Iterable[Origin]) -> Origin:
        """What several of these make together."""
        every = (self, *others)
        return Origin(
            operators=frozenset().union(*(o.operators for o in every)),
            integers=frozenset().union(*(o.integers for o in every)),
            launch=max(o.launch for o in every),
            data=any(o.data for o in every),
            host=any(o.host for o in every),
            free=any(o.free for o in every),
            raw=any(o.raw for o in every),
            compared=any(o.compared for o in every),
            floats=any(o.floats for o in every),
        )


FRESH = Origin()


@dataclass(frozen=True, slots=True)
class Trouble:
    """What is wrong with a result, at the `line` of the module that it goes back to; 0 where none is known."""

    kind: FaultKind
    message: str
    line: int = 0

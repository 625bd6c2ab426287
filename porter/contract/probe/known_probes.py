"""Remembers what probes of a draft touched: settling it again, or in brief, begins where it was broken off."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

from porter.execution.job import FaultKind, Run

# What hangs on the machine, or on the limit that a run had: the next one may go on.
_OF_THE_MACHINE = frozenset((FaultKind.RESOURCE, FaultKind.TIMEOUT))


@dataclass(frozen=True)
class KnownProbes:
    """Probes of one draft, by all that tells them apart; of use are those of at most `longest_s` of processor time."""

    longest_s: float = math.inf
    _runs: dict[tuple[object, ...], Run] = field(default_factory=dict)

    def get(self, key: tuple[object, ...], make: Callable[[], Run]) -> Run:
        """Returns the known probe, or what `make` makes."""
        known = self._runs.get(key)
        if known is not None and known.seconds <= self.longest_s:
            return known
        made = make()
        if not _OF_THE_MACHINE.intersection(fault.kind for fault in made.faults):
            self._runs[key] = made
        return made

    def within(self, longest_s: float) -> KnownProbes:
        """Returns the same probes for one whose runs are broken off after `longest_s`."""
        return KnownProbes(longest_s, self._runs)

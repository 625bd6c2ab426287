"""The standard that a candidate is checked against: contracts, and for each the right answers, whoever gives them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from porter.contract.model.contract import Contract, Workload
from porter.diagnostics.findings import Finding
from porter.execution.job import Construction
from porter.oracle.reference import Reference
from porter.rules.original import OwnCode
from porter.source_text import Source


class Standard(Protocol):
    """A source of right answers. Raises `InputError` where it cannot be used as it is."""

    @property
    def source(self) -> Source:
        """Its text, whose lines findings are about."""
        ...

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Returns what was noticed of it."""
        ...

    @property
    def recorded(self) -> int | None:
        """The seed of the only workloads it has answers to; None where it answers to any."""
        ...

    @property
    def left_out(self) -> str:
        """Returns what a verdict by its answers has to leave out; empty when there is nothing."""
        ...

    @property
    def own(self) -> OwnCode:
        """Returns what its original's own code has, which candidates may have, too."""
        ...

    def contracts(self) -> tuple[Contract, ...]:
        """Returns what it has answers to."""
        ...

    def written_sizes(self, contract: Contract) -> Mapping[str, int]:
        """The sizes it is written for, which are those to time it at; empty where it names none, or not all."""
        ...

    def sizes_near(self, contract: Contract, targets: Mapping[str, int]) -> Mapping[str, int] | None:
        """Returns the sizes nearest to `targets` at which it has an answer; None where it knows of none."""
        ...

    def other_axes(self, contract: Contract) -> tuple[Workload, ...]:
        """Returns workloads with other numbers of axes at which it has an answer, where nobody says how many it has."""
        ...

    def construction(self, sizes: Mapping[str, int]) -> Construction | None:
        """Returns how a class that answers as its own does is built at `sizes`; None where it has none."""
        ...

    def reference(self, contract: Contract) -> Reference:
        """The answers to the workloads of `contract`, which is one of its own, at any sizes and inputs."""
        ...

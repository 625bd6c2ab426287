"""Checks sizes that a user names: a name that is no size is reported before anything runs at unintended sizes."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from porter.contract.model.contract import Contract
from porter.errors import UsageError


def sizes_in(contracts: Iterable[Contract]) -> frozenset[str]:
    """Returns what can be asked for by name."""
    return frozenset(symbol for contract in contracts for symbol in contract.symbols)


def check_sizes(names: Iterable[str], contracts: Iterable[Contract], source: Path) -> None:
    """Raises `UsageError` for one of `names` that is not a size in the `contracts` of `source`."""
    known = sorted(sizes_in(contracts))
    for name in names:
        if name not in known:
            raise UsageError(f"{source.name} has no size {name!r}", f"its sizes are: {', '.join(known) or 'none'}")

"""Finds the kernels that one call launches together: a launcher that chooses between kernels launches only one of them.

A backend reads the statements of its language, and joins their ways here: in sequence, or as alternatives.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

Way = frozenset[str]  # the kernels that are launched on it
_MOST = 64  # with more ways through a launcher all its kernels count as launched together


@dataclass(frozen=True, slots=True)
class Ways:
    """The ways through statements: those that end there, by a return, and those that go on behind them."""

    ended: frozenset[Way] = frozenset()
    going: frozenset[Way] = frozenset({frozenset()})

    @property
    def every(self) -> frozenset[Way]:
        """All of them."""
        return _few(self.ended | self.going)

    def then(self, other: Ways) -> Ways:
        """Joins these statements and then others."""
        return Ways(_few(self.ended | _joined(self.going, other.ended)), _joined(self.going, other.going))

    def either(self, other: Ways) -> Ways:
        """Joins these statements and alternatives to them."""
        return Ways(_few(self.ended | other.ended), _few(self.going | other.going))

    def and_end(self) -> Ways:
        """Ends all ways here: nothing follows these statements."""
        return Ways(self.every, frozenset())

    def called(self) -> Ways:
        """Returns the ways through a call of a function with these statements."""
        return Ways(frozenset(), self.every)


def launching(kernels: Iterable[str]) -> Ways:
    """Returns a statement that launches all of these."""
    return Ways(frozenset(), frozenset({frozenset(kernels)}))


def in_sequence(statements: Iterable[Ways]) -> Ways:
    """Joins statements one after the other."""
    found = Ways()
    for statement in statements:
        found = found.then(statement)
    return found


def _joined(first: frozenset[Way], then: frozenset[Way]) -> frozenset[Way]:
    return _few(frozenset(one | other for one in first for other in then))


def _few(ways: frozenset[Way]) -> frozenset[Way]:
    return frozenset({frozenset().union(*ways)}) if len(ways) > _MOST else ways

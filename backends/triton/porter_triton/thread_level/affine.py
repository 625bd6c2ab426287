"""Writes indices as sums of digits of the thread's number, as needed to invert a store's index."""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd
from typing import TypeVar


@dataclass(frozen=True, slots=True, order=True)
class Digit:
    """`(tid // divisor) % modulus`; `top` when the remainder changes nothing, for there are no more threads."""

    divisor: int
    modulus: int
    top: bool = False


_Key = TypeVar("_Key", Digit, str)
UNBOUNDED = 1 << 31


@dataclass(frozen=True, slots=True)
class Affine:
    """The sum of `coefficient * digit` over `terms`, of `offset`, and of the uniform integers named in `rest`.

    The sum of the latter is a multiple of `multiple`, which is 0 if there are none.
    """

    terms: tuple[tuple[Digit, int], ...] = ()
    offset: int = 0
    rest: tuple[tuple[str, int], ...] = ()
    multiple: int = 0

    @property
    def digit(self) -> Digit | None:
        """The digit that this index is, if it is nothing else."""
        alone = len(self.terms) == 1 and self.offset == 0 and not self.rest and self.terms[0][1] == 1
        return self.terms[0][0] if alone else None

    def plus(self, other: Affine) -> Affine:
        """Returns the sum."""
        terms = _merged(self.terms, other.terms)
        rest = _merged(self.rest, other.rest)
        return Affine(_joined(terms), self.offset + other.offset, rest, gcd(self.multiple, other.multiple))

    def times(self, factor: int) -> Affine:
        """Returns the product with a number."""
        if factor == 0:
            return Affine()
        scaled = tuple((d, c * factor) for d, c in self.terms)
        rest = tuple((n, c * factor) for n, c in self.rest)
        return Affine(scaled, self.offset * factor, rest, abs(self.multiple * factor))

    @property
    def carries(self) -> bool:
        """Returns whether the digits may reach into the bits of the uniform part, so that threads wrap around."""
        free = self.multiple & -self.multiple or UNBOUNDED  # the sum of `rest` has no bits below this one
        span = sum(c * (d.modulus - 1) for d, c in self.terms)
        low = self.offset % free if self.multiple else self.offset
        return any(c < 0 for _, c in self.terms) or not 0 <= low <= low + span < free

    def quotient(self, by: int) -> Affine | None:
        """Returns `self // by` where self is one digit."""
        digit = self.digit
        if digit is None or (digit.modulus % by and by < digit.modulus and not digit.top):
            return None
        return thread_digit(digit.divisor * by, -(-digit.modulus // by), digit.top)

    def remainder(self, by: int) -> Affine | None:
        """Returns `self % by` where self is one digit."""
        digit = self.digit
        if digit is None or by >= digit.modulus:
            return None if digit is None else self
        if digit.modulus % by and not digit.top:
            return None
        return thread_digit(digit.divisor, by)


def thread_digit(divisor: int, modulus: int, top: bool = False) -> Affine:
    """Returns a coordinate of the thread; nothing when it is always 0."""
    return Affine(((Digit(divisor, modulus, top), 1),)) if modulus > 1 else Affine()


def _merged(left: tuple[tuple[_Key, int], ...], right: tuple[tuple[_Key, int], ...]) -> tuple[tuple[_Key, int], ...]:
    total: dict[_Key, int] = dict(left)
    for key, coefficient in right:
        total[key] = total.get(key, 0) + coefficient
    return tuple(sorted((k, c) for k, c in total.items() if c))


def _joined(terms: tuple[tuple[Digit, int], ...]) -> tuple[tuple[Digit, int], ...]:
    """Joins `tx + BX * ty` to one digit."""
    joined: list[tuple[Digit, int]] = []
    for digit, coefficient in terms:
        if joined:
            last, scale = joined[-1]
            if last.divisor * last.modulus == digit.divisor and scale * last.modulus == coefficient:
                joined[-1] = (Digit(last.divisor, last.modulus * digit.modulus, digit.top), scale)
                continue
        joined.append((digit, coefficient))
    return tuple(joined)

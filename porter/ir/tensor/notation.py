"""Numbers, quantities and affine functions as text, with as few parentheses as their meaning allows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from fractions import Fraction

from porter.ir.tensor.quantities import Affine, Floor, Quantity

_MOST_DIGITS = 8  # of a decimal
_LARGEST_DENOMINATOR = 9  # of what is written as a fraction although it may be a decimal, such as 1/2
_SMALLEST_DECIMAL = Fraction(1, 10000)


class Level(IntEnum):
    """The precedence of a text; a looser one within a tighter one needs parentheses."""

    OR = 1
    AND = 2
    NOT = 3
    COMPARISON = 4
    SUM = 5
    PRODUCT = 6
    SIGN = 7
    POWER = 8
    ATOM = 9


@dataclass(frozen=True, slots=True)
class Text:
    """A text and how tightly it holds together."""

    text: str
    level: Level = Level.ATOM

    def within(self, least: Level) -> str:
        """Returns the text as part of one that needs the level `least`."""
        return self.text if self.level >= least else f"({self.text})"


@dataclass(frozen=True, slots=True)
class Signed:
    """A text, to be added or, where `is_negative`, to be subtracted."""

    is_negative: bool
    text: Text

    def negative(self) -> Signed:
        """Returns the negative of this."""
        return Signed(not self.is_negative, self.text)


@dataclass(frozen=True, slots=True)
class Factors:
    """The parts of a product: a sign, and what stands above and below the line."""

    is_negative: bool = False
    above: tuple[Text, ...] = ()
    below: tuple[Text, ...] = ()

    def times(self, other: Factors) -> Factors:
        """Returns the factors of both products."""
        above = tuple(text for text in self.above + other.above if text.text != "1")
        return Factors(self.is_negative != other.is_negative, above, self.below + other.below)

    def over(self) -> Factors:
        """Returns the factors of one over the product."""
        return Factors(self.is_negative, self.below, self.above)

    def signed(self) -> Signed:
        """Returns the product."""
        first, *others = self.above or (Text("1"),)
        text = first
        if others:
            words = (first.within(Level.PRODUCT), *(item.within(Level.SIGN) for item in others))
            text = Text(" * ".join(words), Level.PRODUCT)
        if self.below:
            below = Factors(above=self.below).signed().text
            text = Text(f"{text.within(Level.PRODUCT)} / {below.within(Level.SIGN)}", Level.PRODUCT)
        return Signed(self.is_negative, text)


MINUS = Factors(is_negative=True)


def total(parts: Iterable[Signed]) -> Text:
    """Returns the sum, beginning with one that is added where there is one."""
    parts = list(parts)
    first = next((part for part in parts if not part.is_negative), parts[0] if parts else Signed(False, Text("0")))
    others = [part for part in parts if part is not first]
    if not others:
        return negated(first.text) if first.is_negative else first.text
    words = [negated(first.text).text if first.is_negative else first.text.within(Level.SUM)]
    for part in others:
        words.append(f"- {part.text.within(Level.PRODUCT)}" if part.is_negative else f"+ {part.text.within(Level.SUM)}")
    return Text(" ".join(words), Level.SUM)


def negated(text: Text) -> Text:
    """Returns the negative of a text."""
    return Text(f"-{text.within(Level.SIGN) if text.level is not Level.PRODUCT else text.text}", Level.SIGN)


def power(base: Text, exponent: Text) -> Text:
    """Returns one text to the power of another."""
    return Text(f"{base.within(Level.ATOM)} ** {exponent.within(Level.ATOM)}", Level.POWER)


def fraction(value: Fraction) -> Text:
    """Returns a number that is not negative, exactly."""
    above, below = value.numerator, value.denominator
    if below == 1:
        return Text(str(above))
    places = next((places for places in range(1, 20) if 10**places % below == 0), None)
    if places is None or below <= _LARGEST_DENOMINATOR:
        return Text(f"{above}/{below}", Level.PRODUCT)
    digits = str(above * 10**places // below)
    if len(digits) > _MOST_DIGITS:
        return Text(f"{above}/{below}", Level.PRODUCT)
    if value < _SMALLEST_DECIMAL:
        mantissa = digits[0] + (f".{digits[1:]}" if digits[1:] else "")
        return Text(f"{mantissa}e-{places - len(digits) + 1}")
    digits = digits.rjust(places + 1, "0")
    return Text(f"{digits[:-places]}.{digits[-places:]}")


def factors(quantity: Quantity) -> Factors:
    """Returns a quantity as a product; a sum is one factor of it."""
    if not quantity.powers:
        value = quantity.factor + quantity.offset
        product = Factors(value < 0, (fraction(abs(value)),))
    elif quantity.offset:
        offset = Signed(quantity.offset < 0, fraction(abs(quantity.offset)))
        product = Factors(above=(total([_powers(quantity).signed(), offset]),))
    else:
        product = _powers(quantity)
    return product.over() if quantity.inverse else product


def _powers(quantity: Quantity) -> Factors:
    """Returns a quantity without its offset."""
    number = fraction(abs(quantity.factor))
    scale = Factors(quantity.factor < 0, (number,))
    if number.level is Level.PRODUCT:
        above, below = abs(quantity.factor.numerator), quantity.factor.denominator
        scale = Factors(quantity.factor < 0, (Text(str(above)),), (Text(str(below)),))
    above_line = tuple(power_of(symbol, exponent) for symbol, exponent in quantity.powers if exponent > 0)
    below_line = tuple(power_of(symbol, -exponent) for symbol, exponent in quantity.powers if exponent < 0)
    return scale.times(Factors(above=above_line, below=below_line))


def power_of(symbol: str, exponent: int) -> Text:
    """Returns a symbol to a positive power."""
    return Text(symbol) if exponent == 1 else power(Text(symbol), Text(str(exponent)))


def quantity_text(quantity: Quantity) -> Text:
    """Returns a quantity as text."""
    return total([factors(quantity).signed()])


def affine_parts(affine: Affine, name: Callable[[str], str]) -> Sequence[Signed]:
    """Returns the terms of an affine function, and its constant last; `name` says what a coordinate is called."""
    parts = []
    for term, coefficient in affine.terms:
        parts.append(factors(coefficient).times(Factors(above=(_term(term, name),))).signed())
    constant = affine.constant
    if constant.constant == 0:
        return parts
    if constant.offset and constant.powers and not constant.inverse:
        offset = Signed(constant.offset < 0, fraction(abs(constant.offset)))
        return [*parts, _powers(constant).signed(), offset]
    return [*parts, factors(constant).signed()]


def affine_text(affine: Affine, name: Callable[[str], str]) -> Text:
    """Returns an affine function as text."""
    return total(affine_parts(affine, name))


def _term(term: str | Floor, name: Callable[[str], str]) -> Text:
    if isinstance(term, str):
        return Text(name(term))
    return Text(f"{name(term.coordinate)} // {quantity_text(term.divisor).within(Level.ATOM)}", Level.PRODUCT)
